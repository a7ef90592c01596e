//! Rewrites workflow code: awaits are guarded, async blocks become durable blocks, checkpoint macros become calls.
//! It cannot fail. What was refused is replaced by something that gives no second error.

use proc_macro2::Span;
use quote::{ToTokens, quote_spanned};
use steadfast_analysis::check::body::string_literal;
use steadfast_analysis::check::collections::Collections;
use steadfast_analysis::check::step_body;
use steadfast_analysis::code::checkpoint::{Checkpoint, Kind};
use steadfast_analysis::code::known::{self, Piece};
use steadfast_analysis::lint::table::Aftermath;
use steadfast_analysis::lint::{self, Lints};
use steadfast_analysis::names::Names;
use steadfast_analysis::start;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, Expr, ExprMacro, Item, Macro, Stmt, StmtMacro, parse_quote_spanned};

use crate::body::checkpoint;
use crate::krate::Krate;

/// Rewrites the body of a `#[workflow]` or `#[durable]` function in place.
pub(crate) fn rewrite(block: &mut Block, krate: &Krate, names: &Names) {
    Rewrite {
        krate,
        names,
        refused: None,
    }
    .visit_block_mut(block);
}

/// The same after something was reported, by the lints or otherwise.
pub(crate) fn rewrite_refused(block: &mut Block, krate: &Krate, names: &Names, refused: Refused<'_>) {
    Rewrite {
        krate,
        names,
        refused: Some(refused),
    }
    .visit_block_mut(block);
}

struct Rewrite<'r> {
    krate: &'r Krate,
    names: &'r Names,
    /// Tells what has been reported, if anything has.
    refused: Option<Refused<'r>>,
}

/// What knows the calls that were reported, and the collections that no body may change.
pub(crate) type Refused<'r> = (&'r Lints<'r>, &'r Collections);

impl Rewrite<'_> {
    fn call(&mut self, mac: &mut Macro) {
        if let Some(kind) = Kind::of(&mac.path, self.names) {
            if let Ok(mut checkpoint) = Checkpoint::parse(kind, mac.tokens.clone()) {
                if let Some((_, collections)) = self.refused {
                    refuse_parts(&mut checkpoint, collections);
                }
                checkpoint
                    .workflow_parts_mut()
                    .into_iter()
                    .for_each(|part| self.visit_expr_mut(part));
                mac.tokens = checkpoint::marked(&checkpoint::expand(&checkpoint, self.krate, start(&mac.path)));
            }
        } else if known::is_known(mac) {
            let mut pieces = known::pieces(mac);
            for piece in &mut pieces {
                if let Piece::Expression { expression, .. } = piece {
                    self.visit_expr_mut(expression);
                }
            }
            mac.tokens = pieces.iter().map(ToTokens::to_token_stream).collect();
        }
    }

    /// `X.await` → `guard(X).await`, with the guard at the user's `X`.
    fn guard(&mut self, expression: &mut Expr) {
        if let Expr::Await(wait) = expression {
            // What was reported already keeps its type, and is awaited as it is.
            if self.refused.is_some_and(|(lints, _)| is_awaitable(&wait.base, lints)) {
                return;
            }
            let awaited = &wait.base;
            let span = start(awaited);
            let guard = if checkpoint::is_step(awaited, self.names) {
                "guard_step"
            } else {
                "guard"
            };
            let guard = self.krate.private_over(guard, awaited);
            *wait.base = Expr::Verbatim(quote_spanned!(span=> #guard(#awaited)));
        }
    }

    /// `async { … }` → `block(async { … })`.
    fn durable_block(&mut self, expression: &mut Expr) {
        if let Expr::Async(plain) = expression {
            let span = plain.async_token.span;
            let attributes = std::mem::take(&mut plain.attrs);
            let block = self.krate.private("block", span);
            *expression = Expr::Verbatim(quote_spanned!(span=> #(#attributes)* #block(#plain)));
        }
    }

    /// Turns what was reported into what was probably meant, where that is plain: its type is then the right one.
    fn stand_in(&self, expression: &mut Expr, lints: &Lints<'_>) {
        match expression {
            // `tokio::join!(a, b)` → `join!(a, b).await`
            Expr::Macro(call) if lints.macro_must_go(&call.mac) => {
                let Some(last) = call.mac.path.segments.last().map(|last| last.ident.clone()) else {
                    return;
                };
                if matches!(Kind::named(&last), Some(Kind::Join | Kind::TryJoin)) {
                    let krate = self.krate.at(last.span());
                    call.mac.path = parse_quote_spanned!(last.span()=> #krate::#last);
                    call.mac.delimiter = syn::MacroDelimiter::Paren(syn::token::Paren::default());
                    *expression = parse_quote_spanned!(start(expression)=> #expression.await);
                }
            }
            // `async |x| …` → `|x| async move { … }`
            Expr::Closure(closure) if closure.asyncness.is_some() => {
                closure.asyncness = None;
                closure.output = syn::ReturnType::Default;
                let body = &closure.body;
                *closure.body = parse_quote_spanned!(start(body)=> async move { #body });
            }
            _ => {}
        }
    }

    /// True for what has been reported and would be reported again, and for every method call, field, `?` and `.await`
    /// on it, whose type is then unknown.
    fn is_refused(&self, expression: &Expr) -> bool {
        match expression {
            Expr::Macro(call) => self.is_refused_macro(&call.mac),
            Expr::Call(_) | Expr::Path(_) => self.must_go(expression),
            Expr::Assign(assign) => self.is_refused(&assign.left),
            // `1 + todo!()` has no type.
            Expr::Binary(binary) => self.is_refused(&binary.left) || self.is_refused(&binary.right),
            Expr::Unary(unary) => self.is_refused(&unary.expr),
            Expr::Index(index) => self.is_refused(&index.expr),
            Expr::Await(wait) => self.is_refused(&wait.base),
            Expr::MethodCall(call) => self.is_refused(&call.receiver) || self.must_go(expression),
            Expr::Field(field) => self.is_refused(&field.base),
            Expr::Try(attempt) => {
                self.is_refused(&attempt.expr) || self.refused.is_some_and(|(lints, _)| lints.lacks_await(attempt))
            }
            _ => false,
        }
    }

    fn must_go(&self, expression: &Expr) -> bool {
        self.refused
            .is_some_and(|(lints, _)| lints.aftermath(expression) == Aftermath::Replace)
    }

    fn is_refused_macro(&self, mac: &Macro) -> bool {
        match Kind::of(&mac.path, self.names) {
            Some(kind) => !Checkpoint::parse(kind, mac.tokens.clone()).is_ok_and(|checkpoint| {
                checkpoint.fits()
                    && !self
                        .refused
                        .is_some_and(|(lints, _)| lints.checkpoint_must_go(&checkpoint))
            }),
            None => self
                .refused
                .is_some_and(|(lints, _)| lints.macro_must_go(mac) || known::hides(mac).is_some()),
        }
    }
}

impl VisitMut for Rewrite<'_> {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        if let Some((lints, _)) = self.refused {
            self.stand_in(expression, lints);
        }
        if self.is_refused(expression) {
            *expression = refused(start(expression));
            return;
        }
        if let Expr::Macro(ExprMacro { attrs, mac, .. }) = expression {
            lint::strip(attrs);
            self.call(mac);
        } else {
            visit_mut::visit_expr_mut(self, expression);
        }
        self.guard(expression);
        self.durable_block(expression);
    }

    fn visit_stmt_mut(&mut self, statement: &mut Stmt) {
        if let Stmt::Macro(StmtMacro { attrs, mac, .. }) = statement {
            lint::strip(attrs);
            if self.is_refused_macro(mac) {
                *mac = parse_quote_spanned!(start(mac)=> ::core::todo! {});
            } else {
                self.call(mac);
            }
        } else {
            visit_mut::visit_stmt_mut(self, statement);
        }
    }

    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        lint::strip(attributes);
    }

    fn visit_item_mut(&mut self, item: &mut Item) {
        if let Item::Static(item) = item {
            lint::strip(&mut item.attrs);
        }
    }
}

/// Whether an awaited expression is, or is made from, what was reported.
fn is_awaitable(awaited: &Expr, lints: &Lints<'_>) -> bool {
    let inner = match awaited {
        Expr::MethodCall(call) => Some(&*call.receiver),
        Expr::Field(field) => Some(&*field.base),
        Expr::Await(wait) => Some(&*wait.base),
        Expr::Try(attempt) => Some(&*attempt.expr),
        Expr::Paren(paren) => Some(&*paren.expr),
        _ => None,
    };
    lints.aftermath(awaited) == Aftermath::Awaitable || inner.is_some_and(|inner| is_awaitable(inner, lints))
}

/// Takes reported mistakes out of a checkpoint that can stay.
fn refuse_parts(checkpoint: &mut Checkpoint, collections: &Collections) {
    if let Some(name) = checkpoint.name_mut()
        && string_literal(name).is_none()
    {
        *name = parse_quote_spanned!(start(name)=> "");
    }
    if let Checkpoint::Step { body, .. } = checkpoint {
        step_body::without_mistakes(body, collections);
    }
}

/// Fits everywhere, and says nothing of its own.
fn refused(span: Span) -> Expr {
    Expr::Verbatim(quote_spanned!(span=> (::core::todo!())))
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn rewritten(source: &str) -> String {
        let mut block: Block = syn::parse_str(&format!("{{ {source} }}")).expect("a block");
        rewrite(&mut block, &Krate::new(Some(syn::parse_quote!(s))), &Names::default());
        let written = quote!(#block)
            .to_string()
            .replace(' ', "")
            .replace("s::__private::", "");
        written.trim_start_matches('{').trim_end_matches('}').to_owned()
    }

    #[test]
    fn every_await_is_guarded_wherever_it_stands() {
        assert_eq!(rewritten("a.await;"), "guard(a).await;");
        assert_eq!(rewritten("a.await?.b.await"), "guard(guard(a).await?.b).await");
        assert_eq!(
            rewritten("match a.await { _ => b.await }"),
            "matchguard(a).await{_=>guard(b).await"
        );
        assert_eq!(rewritten("for x in a.await {}"), "forxinguard(a).await{");
        assert_eq!(rewritten("|x| x.f(a.await)"), "|x|x.f(guard(a).await)");
        assert_eq!(
            rewritten(r#"format!("{}", a.await);"#),
            r#"format!("{}",guard(a).await);"#
        );
        assert_eq!(rewritten("let v = vec![a.await; 2];"), "letv=vec![guard(a).await;2];");
        assert_eq!(
            rewritten("let true = matches!(a.await, 1) else { b.await };"),
            "lettrue=matches!(guard(a).await,1)else{guard(b).await};"
        );
    }

    #[test]
    fn async_blocks_become_durable() {
        assert_eq!(
            rewritten("let x = async move { a.await };"),
            "letx=block(asyncmove{guard(a).await});"
        );
        assert_eq!(rewritten("f(|x| async move { x })"), "f(|x|block(asyncmove{x}))");
    }

    #[test]
    fn step_bodies_and_nested_items_stay_as_they_are() {
        assert_eq!(
            rewritten(r#"step!("n", { a.await });"#),
            r#"step!(@__steadfast_durable{step("n",|_|body(async{a.await}))});"#
        );
        assert_eq!(rewritten("async fn f() { a.await }"), "asyncfnf(){a.await");
    }

    #[test]
    fn allowances_are_gone() {
        assert_eq!(
            rewritten(r#"#[allow_nondeterminism(clock, reason = "x")] let t = f();"#),
            "lett=f();"
        );
        assert_eq!(
            rewritten(r#"#[allow_nondeterminism(clock, reason = "x")] f();"#),
            "f();"
        );
        assert_eq!(
            rewritten(r#"#[allow_nondeterminism(clock, reason = "x")] println!("{}", f());"#),
            r#"println!("{}",f());"#
        );
    }
}
