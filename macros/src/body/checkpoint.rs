//! The call that a checkpoint macro stands for.
//! Absent on purpose: how it is written (the analysis), and all behaviour (the runtime crate).

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use steadfast_analysis::code::checkpoint::{Body, Checkpoint, Kind};
use steadfast_analysis::names::Names;
use steadfast_analysis::start;
use syn::parse::{ParseStream, Parser};
use syn::{Block, Expr, ExprClosure, ReturnType, Token};

use crate::body::tail;
use crate::krate::Krate;

/// The call it stands for. Its tokens sit at `span`, the user's own macro name, which is also the source line that
/// a divergence reports.
pub(crate) fn expand(checkpoint: &Checkpoint, krate: &Krate, span: Span) -> TokenStream {
    let call = |name: &str| krate.private(name, span);
    match checkpoint {
        Checkpoint::Step { name, body } => {
            let (step, body) = (call("step"), expand_body(body, krate, span));
            quote_spanned!(span=> #step(#name, #body))
        }
        Checkpoint::Sleep { name, deadline } => {
            let sleep = call("sleep");
            quote_spanned!(span=> #sleep(#name, #deadline))
        }
        Checkpoint::Signal { name } => {
            let signal = call("signal");
            quote_spanned!(span=> #signal(#name))
        }
        Checkpoint::Group { kind, branches } => {
            let group = call(kind.name());
            let branches = branches.iter().map(|branch| {
                let checked = krate.private_over("branch", branch);
                quote_spanned!(start(branch)=> #checked(#branch))
            });
            quote_spanned!(span=> #group((#(#branches,)*)))
        }
        Checkpoint::Recorded { kind, range: None } => {
            let recorded = call(kind.name());
            quote_spanned!(span=> #recorded())
        }
        Checkpoint::Recorded {
            kind: _,
            range: Some(range),
        } => {
            let random_in = call("random_in");
            quote_spanned!(span=> #random_in(#range))
        }
        Checkpoint::Change { kind, id } => {
            let change = call(kind.name());
            quote_spanned!(span=> #change(#id))
        }
        Checkpoint::Removed { of, name } => {
            let removed = call(&format!("removed_{}", of.name()));
            quote_spanned!(span=> #removed(#name))
        }
    }
}

fn expand_body(body: &Body, krate: &Krate, span: Span) -> TokenStream {
    match body {
        Body::Block(block) => {
            let body = async_block(block, krate);
            quote_spanned!(span=> |_| #body)
        }
        Body::Closure(closure) => expand_closure(closure, krate),
        Body::Future(future) => {
            let (begin, future, temporaries) = (start(future), checked(future, krate), !has_no_temporaries(future));
            // Awaited in here, so that temporaries among the arguments live as long as the future. Where there are
            // none, the compiler is spared one more async block.
            let body = if temporaries {
                quote_spanned!(begin=> async { #future.await })
            } else {
                future
            };
            quote_spanned!(span=> |_| #body)
        }
    }
}

/// `async { … }`, with the error type fixed where nothing in the block would fix it, so that `?` works unannotated.
fn async_block(block: &Block, krate: &Krate) -> TokenStream {
    let span = block.brace_token.span.open();
    let body = quote_spanned!(span=> async #block);
    if tail::leaves_error_open(block) {
        let boxed = krate.private("boxed", span);
        quote_spanned!(span=> #boxed(#body))
    } else {
        let checked = krate.private("body", span);
        quote_spanned!(span=> #checked(#body))
    }
}

/// The body's future, behind a call that reports at the user's expression if it is none.
fn checked(future: &Expr, krate: &Krate) -> TokenStream {
    let body = krate.private_over("body", future);
    quote_spanned!(start(future)=> #body(#future))
}

/// True for a call of which every part is a place, a reference to one or a literal: it leaves nothing behind that its future
/// could borrow from.
fn has_no_temporaries(future: &Expr) -> bool {
    match future {
        Expr::Call(call) => matches!(&*call.func, Expr::Path(_)) && call.args.iter().all(is_lasting),
        Expr::MethodCall(call) => is_place(&call.receiver) && call.args.iter().all(is_lasting),
        _ => false,
    }
}

fn is_lasting(argument: &Expr) -> bool {
    match argument {
        Expr::Lit(_) => true,
        Expr::Reference(reference) => reference.mutability.is_none() && is_place(&reference.expr),
        Expr::Group(group) => is_lasting(&group.expr),
        other => is_place(other),
    }
}

/// `variable`, `variable.field.field`
fn is_place(expression: &Expr) -> bool {
    match expression {
        Expr::Path(_) => true,
        Expr::Field(field) => is_place(&field.base),
        Expr::Group(group) => is_place(&group.expr),
        _ => false,
    }
}

/// An async closure owns its parameter while its future runs and borrows everything else, which `|attempt| async …`
/// cannot say. Whoever writes `move`, a return type or their own async closure gets it as it is.
fn expand_closure(closure: &ExprClosure, krate: &Krate) -> TokenStream {
    let as_it_is = closure.capture.is_some()
        || closure.asyncness.is_some()
        || closure.inputs.len() != 1
        || !matches!(closure.output, ReturnType::Default);
    if as_it_is {
        return closure.to_token_stream();
    }
    let (attributes, inputs) = (&closure.attrs, &closure.inputs);
    let span = start(&closure.or1_token);
    let body = match &*closure.body {
        Expr::Block(block) if block.label.is_none() => Some(&block.block),
        Expr::Async(block) => Some(&block.block),
        _ => None,
    };
    let body = match body {
        Some(block) if tail::leaves_error_open(block) => {
            let body = async_block(block, krate);
            quote_spanned!(block.brace_token.span.join()=> { #body.await })
        }
        Some(block) => block.to_token_stream(),
        None => {
            let future = checked(&closure.body, krate);
            quote_spanned!(start(&closure.body)=> { #future.await })
        }
    };
    quote_spanned!(span=> #(#attributes)* async |#inputs| #body)
}

/// What `step!` gives has these methods, each of which gives it back.
const STEP_OPTIONS: [&str; 5] = ["at_most_once", "key", "retry", "retry_if", "timeout"];

/// True for `step!(…)` with nothing but options after it.
pub(crate) fn is_step(expression: &Expr, names: &Names) -> bool {
    match expression {
        Expr::Macro(call) => Kind::of(&call.mac.path, names) == Some(Kind::Step),
        Expr::MethodCall(call) => {
            STEP_OPTIONS.iter().any(|option| call.method == option) && is_step(&call.receiver, names)
        }
        _ => false,
    }
}

/// Marks a checkpoint macro whose contents are already the finished call.
const MARK: &str = "__steadfast_durable";

/// The contents of a macro that stays in place (imports stay used, editors still know it) and unwraps to `call`.
pub(crate) fn marked(call: &TokenStream) -> TokenStream {
    let mark = proc_macro2::Ident::new(MARK, Span::mixed_site());
    quote!(@#mark { #call })
}

/// The finished call, if workflow code prepared this macro; `None` when it stands somewhere else.
pub(crate) fn unmarked(tokens: TokenStream) -> Option<TokenStream> {
    let parse = |input: ParseStream<'_>| {
        input.parse::<Token![@]>()?;
        let mark: syn::Ident = input.parse()?;
        if mark != MARK {
            return Err(input.error("not prepared"));
        }
        let call;
        syn::braced!(call in input);
        call.parse::<TokenStream>()
    };
    parse.parse2(tokens).ok()
}
