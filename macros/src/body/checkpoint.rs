//! The checkpoint macros: how each is written, and the call it stands for.
//! Absent on purpose: any judgement on names (`check`), and all behaviour (the runtime crate).

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Block, Expr, ExprClosure, ReturnType, Token};

use crate::body::tail;
use crate::krate::{self, Krate};
use crate::names::{Meaning, Names};

/// One of the macros, told by the last segment of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Step,
    Sleep,
    Signal,
    Join,
    TryJoin,
    Race,
    Now,
    Random,
    Uuid,
}

impl Kind {
    pub(crate) const ALL: [Self; 9] = [
        Self::Step,
        Self::Sleep,
        Self::Signal,
        Self::Join,
        Self::TryJoin,
        Self::Race,
        Self::Now,
        Self::Random,
        Self::Uuid,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Sleep => "sleep",
            Self::Signal => "signal",
            Self::Join => "join",
            Self::TryJoin => "try_join",
            Self::Race => "race",
            Self::Now => "now",
            Self::Random => "random",
            Self::Uuid => "uuid",
        }
    }

    /// By the last segment, so that `steadfast::step!` and a renamed crate's `sf::step!` are found too. What comes from
    /// another well-known crate, by its path or by a `use` in sight, is not one of ours.
    pub(crate) fn of(path: &syn::Path, names: &Names) -> Option<Self> {
        let kind = Self::named(&path.segments.last()?.ident)?;
        match names.meaning(path) {
            Meaning::Foreign(path) | Meaning::Unknown(path) if path.len() > 1 => {
                let foreign = path.first().is_some_and(|first| FOREIGN.contains(&first.as_str()));
                (!foreign).then_some(kind)
            }
            Meaning::Foreign(_) | Meaning::Unknown(_) | Meaning::Own => Some(kind),
        }
    }

    /// By its bare name.
    pub(crate) fn named(name: &syn::Ident) -> Option<Self> {
        let name = name.unraw();
        Self::ALL.into_iter().find(|kind| name == kind.name())
    }

    /// How it is written, for messages.
    pub(crate) fn usage(self) -> &'static str {
        match self {
            Self::Step => "step!(\"name\", future)` or `step!(\"name\", { … })",
            Self::Sleep => "sleep!(\"name\", duration)",
            Self::Signal => "signal!(\"name\")",
            Self::Join => "join!(first, second)",
            Self::TryJoin => "try_join!(first, second)",
            Self::Race => "race!(first, second)",
            Self::Now => "now!()",
            Self::Random => "random!()` or `random!(low..high)",
            Self::Uuid => "uuid!()",
        }
    }
}

/// Crates with macros of the same names, which are told apart by their path.
const FOREIGN: [&str; 9] = [
    "tokio",
    "futures",
    "futures_util",
    "futures_lite",
    "futures_concurrency",
    "async_std",
    "smol",
    "monoio",
    "macro_rules_attribute",
];

/// Both are tuples, and the runtime has that many implementations.
pub(crate) const JOIN_MAX: usize = 12;
pub(crate) const RACE_BRANCHES: std::ops::RangeInclusive<usize> = 2..=8;

/// A checkpoint macro that was understood.
pub(crate) enum Checkpoint {
    Step { name: Expr, body: Body },
    Sleep { name: Expr, deadline: Expr },
    Signal { name: Expr },
    Group { kind: Kind, branches: Vec<Expr> },
    Recorded { kind: Kind, range: Option<Expr> },
}

/// What a step runs. It is not workflow code, and stays as the author wrote it.
pub(crate) enum Body {
    /// `{ … }` or `async { … }`
    Block(Block),
    /// `|attempt| …`
    Closure(ExprClosure),
    /// Any other expression: the future itself.
    Future(Expr),
}

impl Checkpoint {
    /// Reads the tokens between the macro's parentheses.
    pub(crate) fn parse(kind: Kind, tokens: TokenStream) -> syn::Result<Self> {
        let parse = |input: ParseStream<'_>| match kind {
            Kind::Step => {
                let (name, body) = named_with(input)?;
                Ok(Self::Step {
                    name,
                    body: Body::new(body),
                })
            }
            Kind::Sleep => named_with(input).map(|(name, deadline)| Self::Sleep { name, deadline }),
            Kind::Signal => {
                let name = input.parse()?;
                input.parse::<Option<Token![,]>>()?;
                Ok(Self::Signal { name })
            }
            Kind::Join | Kind::TryJoin | Kind::Race => {
                let branches = Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
                Ok(Self::Group {
                    kind,
                    branches: branches.into_iter().collect(),
                })
            }
            Kind::Random if !input.is_empty() => Ok(Self::Recorded {
                kind,
                range: Some(input.parse()?),
            }),
            Kind::Now | Kind::Random | Kind::Uuid => Ok(Self::Recorded { kind, range: None }),
        };
        parse.parse2(tokens)
    }

    /// True if the call it stands for has a chance to compile: otherwise `check` has reported it.
    pub(crate) fn fits(&self) -> bool {
        match self {
            Self::Step {
                body: Body::Closure(closure),
                ..
            } => closure.inputs.len() == 1,
            Self::Group {
                kind: Kind::Race,
                branches,
            } => RACE_BRANCHES.contains(&branches.len()),
            Self::Group { branches, .. } => branches.len() <= JOIN_MAX,
            Self::Step { .. } | Self::Sleep { .. } | Self::Signal { .. } | Self::Recorded { .. } => true,
        }
    }

    /// The parts that are workflow code themselves. A step's body is not.
    pub(crate) fn workflow_parts(&self) -> Vec<&Expr> {
        match self {
            Self::Step { name, body: _ } | Self::Signal { name } => vec![name],
            Self::Sleep { name, deadline } => vec![name, deadline],
            Self::Group { branches, .. } => branches.iter().collect(),
            Self::Recorded { range, .. } => range.iter().collect(),
        }
    }

    pub(crate) fn name_mut(&mut self) -> Option<&mut Expr> {
        match self {
            Self::Step { name, .. } | Self::Sleep { name, .. } | Self::Signal { name } => Some(name),
            Self::Group { .. } | Self::Recorded { .. } => None,
        }
    }

    pub(crate) fn workflow_parts_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Self::Step { name, body: _ } | Self::Signal { name } => vec![name],
            Self::Sleep { name, deadline } => vec![name, deadline],
            Self::Group { branches, .. } => branches.iter_mut().collect(),
            Self::Recorded { range, .. } => range.iter_mut().collect(),
        }
    }

    /// The call it stands for. Its tokens sit at `span`, the user's own macro name, which is also the source line that
    /// a divergence reports.
    pub(crate) fn expand(&self, krate: &Krate, span: Span) -> TokenStream {
        let call = |name: &str| krate.private(name, span);
        match self {
            Self::Step { name, body } => {
                let (step, body) = (call("step"), body.expand(krate, span));
                quote_spanned!(span=> #step(#name, #body))
            }
            Self::Sleep { name, deadline } => {
                let sleep = call("sleep");
                quote_spanned!(span=> #sleep(#name, #deadline))
            }
            Self::Signal { name } => {
                let signal = call("signal");
                quote_spanned!(span=> #signal(#name))
            }
            Self::Group { kind, branches } => {
                let group = call(kind.name());
                let branches = branches.iter().map(|branch| {
                    let checked = krate.private_over("branch", branch);
                    quote_spanned!(krate::start(branch)=> #checked(#branch))
                });
                quote_spanned!(span=> #group((#(#branches,)*)))
            }
            Self::Recorded { kind, range: None } => {
                let recorded = call(kind.name());
                quote_spanned!(span=> #recorded())
            }
            Self::Recorded {
                kind: _,
                range: Some(range),
            } => {
                let random_in = call("random_in");
                quote_spanned!(span=> #random_in(#range))
            }
        }
    }
}

/// `name, value` with an optional comma after it.
fn named_with<T: Parse>(input: ParseStream<'_>) -> syn::Result<(Expr, T)> {
    let name = input.parse()?;
    if input.is_empty() {
        // So that the error says that it is about the end.
        return Err(input.error("expected a comma and a value"));
    }
    input.parse::<Token![,]>()?;
    let value = input.parse()?;
    input.parse::<Option<Token![,]>>()?;
    Ok((name, value))
}

impl Body {
    pub(crate) fn visit<'ast>(&'ast self, visitor: &mut impl Visit<'ast>) {
        match self {
            Self::Block(block) => visitor.visit_block(block),
            Self::Closure(closure) => visitor.visit_expr_closure(closure),
            Self::Future(future) => visitor.visit_expr(future),
        }
    }

    pub(crate) fn visit_mut(&mut self, visitor: &mut impl VisitMut) {
        match self {
            Self::Block(block) => visitor.visit_block_mut(block),
            Self::Closure(closure) => visitor.visit_expr_closure_mut(closure),
            Self::Future(future) => visitor.visit_expr_mut(future),
        }
    }

    fn new(body: Expr) -> Self {
        match body {
            Expr::Block(block) if block.label.is_none() && block.attrs.is_empty() => Self::Block(block.block),
            // Without `move`: a body borrows, since a later attempt needs the same values again.
            Expr::Async(block) if block.attrs.is_empty() => Self::Block(block.block),
            Expr::Closure(closure) => Self::Closure(closure),
            other => Self::Future(other),
        }
    }

    fn expand(&self, krate: &Krate, span: Span) -> TokenStream {
        match self {
            Self::Block(block) => {
                let body = async_block(block, krate);
                quote_spanned!(span=> |_| #body)
            }
            Self::Closure(closure) => expand_closure(closure, krate),
            Self::Future(future) => {
                let (start, future, temporaries) = (
                    krate::start(future),
                    checked(future, krate),
                    !has_no_temporaries(future),
                );
                // Awaited in here, so that temporaries among the arguments live as long as the future. Where there are
                // none, the compiler is spared one more async block.
                let body = if temporaries {
                    quote_spanned!(start=> async { #future.await })
                } else {
                    future
                };
                quote_spanned!(span=> |_| #body)
            }
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
    quote_spanned!(krate::start(future)=> #body(#future))
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
    let span = krate::start(&closure.or1_token);
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
            quote_spanned!(krate::start(&closure.body)=> { #future.await })
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
