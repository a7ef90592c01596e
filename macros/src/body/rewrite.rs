//! Rewrites workflow code: awaits are guarded, async blocks become durable blocks, checkpoint macros become calls.
//! It cannot fail. What `check` refused is replaced by something that gives no second error.

use proc_macro2::Span;
use quote::{ToTokens, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, Expr, ExprMacro, Item, Macro, Stmt, StmtMacro, parse_quote_spanned};

use crate::body::checkpoint::{self, Checkpoint, Kind};
use crate::body::known::{self, Piece};
use crate::krate::{self, Krate};
use crate::lint::allowance;

/// Rewrites the body of a `#[workflow]` or `#[durable]` function in place.
pub(crate) fn rewrite(block: &mut Block, krate: &Krate) {
    Rewrite { krate }.visit_block_mut(block);
}

struct Rewrite<'k> {
    krate: &'k Krate,
}

impl Rewrite<'_> {
    fn call(&mut self, mac: &mut Macro) {
        if let Some(kind) = Kind::of(&mac.path) {
            if let Ok(mut checkpoint) = Checkpoint::parse(kind, mac.tokens.clone()) {
                checkpoint
                    .workflow_parts_mut()
                    .into_iter()
                    .for_each(|part| self.visit_expr_mut(part));
                mac.tokens = checkpoint::marked(&checkpoint.expand(self.krate, krate::start(&mac.path)));
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
            let awaited = &wait.base;
            let guard = self.krate.private("guard", krate::start(awaited));
            let guarded = quote_spanned!(krate::start(awaited)=> #guard(#awaited));
            *wait.base = Expr::Verbatim(guarded);
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
}

impl VisitMut for Rewrite<'_> {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        if is_refused(expression) {
            *expression = refused(krate::start(expression));
            return;
        }
        if let Expr::Macro(ExprMacro { mac, .. }) = expression {
            self.call(mac);
        } else {
            visit_mut::visit_expr_mut(self, expression);
        }
        self.guard(expression);
        self.durable_block(expression);
    }

    fn visit_stmt_mut(&mut self, statement: &mut Stmt) {
        if let Stmt::Macro(StmtMacro { mac, .. }) = statement {
            if is_refused_macro(mac) {
                *mac = parse_quote_spanned!(krate::start(mac)=> ::core::todo!());
            } else {
                self.call(mac);
            }
        } else {
            visit_mut::visit_stmt_mut(self, statement);
        }
    }

    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        attributes.retain(|attribute| !allowance::is_allowance(attribute));
    }

    fn visit_item_mut(&mut self, _: &mut Item) {}
}

/// True for a macro that `check` has reported and that would fail again, and for every method call, field, `?` and
/// `.await` on it: their type is unknown, so they would be reported as well.
fn is_refused(expression: &Expr) -> bool {
    match expression {
        Expr::Macro(call) => is_refused_macro(&call.mac),
        Expr::Await(wait) => is_refused(&wait.base),
        Expr::MethodCall(call) => is_refused(&call.receiver),
        Expr::Field(field) => is_refused(&field.base),
        Expr::Try(attempt) => is_refused(&attempt.expr),
        _ => false,
    }
}

fn is_refused_macro(mac: &Macro) -> bool {
    Kind::of(&mac.path).is_some_and(|kind| Checkpoint::parse(kind, mac.tokens.clone()).is_err())
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
        rewrite(&mut block, &Krate::new(Some(syn::parse_quote!(::steadfast))));
        quote!(#block).to_string()
    }
}
