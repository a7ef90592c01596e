//! Checks step bodies for what only their surroundings make a mistake. Everything else is allowed in them.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, ExprAsync, ExprAwait, ExprClosure, Ident, Item, PatIdent, parse_quote_spanned};

use crate::check::collections::Collections;
use crate::code::checkpoint::Body;
use crate::diagnostics::Diagnostics;
use crate::message;

pub fn check(body: &Body, collections: &Collections, diagnostics: &mut Diagnostics) {
    match body {
        Body::Closure(closure) if closure.inputs.len() != 1 => {
            diagnostics.at(&closure.or1_token, &message::STEP_CLOSURE, &[]);
        }
        Body::Future(future) => BareAwaits { diagnostics }.visit_expr(future),
        Body::Closure(_) | Body::Block(_) => {}
    }
    let bound = Bound::by(body, collections);
    body.visit(&mut Changed { bound, diagnostics });
}

/// An `.await` in `step!("name", f(x.await))`, which only the compiler would see otherwise, in its own words.
struct BareAwaits<'d> {
    diagnostics: &'d mut Diagnostics,
}

impl<'ast> Visit<'ast> for BareAwaits<'_> {
    fn visit_expr_await(&mut self, wait: &'ast ExprAwait) {
        self.diagnostics
            .at(&wait.await_token, &message::BARE_AWAIT_IN_BODY, &[]);
        visit::visit_expr_await(self, wait);
    }

    fn visit_expr_async(&mut self, _: &'ast ExprAsync) {}
    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}
    fn visit_item(&mut self, _: &'ast Item) {}
}

/// The names that the body binds anywhere: more than are in scope, so that no assignment to its own is reported.
struct Bound<'c> {
    names: BTreeSet<Ident>,
    collections: &'c Collections,
}

impl<'ast> Visit<'ast> for Bound<'_> {
    fn visit_pat_ident(&mut self, name: &'ast PatIdent) {
        self.names.insert(name.ident.clone());
        visit::visit_pat_ident(self, name);
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}

impl<'c> Bound<'c> {
    fn by(body: &Body, collections: &'c Collections) -> Self {
        let mut bound = Self {
            names: BTreeSet::new(),
            collections,
        };
        body.visit(&mut bound);
        bound
    }

    /// The variable of the workflow that this expression assigns to.
    fn assigned<'e>(&self, expression: &'e Expr) -> Option<&'e Ident> {
        let target = match expression {
            Expr::Assign(assign) => &*assign.left,
            Expr::Binary(binary) if is_assignment(&binary.op) => &*binary.left,
            _ => return None,
        };
        root(target).filter(|name| !self.names.contains(name))
    }

    /// The variable of the workflow that this expression borrows mutably: `&mut variable`, `variable.push(…)`.
    fn borrowed<'e>(&self, expression: &'e Expr) -> Option<&'e Ident> {
        let borrowed = match expression {
            Expr::Reference(reference) if reference.mutability.is_some() => root(&reference.expr),
            Expr::MethodCall(call) => self.collections.changed(call),
            _ => None,
        };
        borrowed.filter(|name| !self.names.contains(name))
    }
}

/// The variable in `variable`, `variable.field`, `variable[index]`, `*variable`.
fn root(target: &Expr) -> Option<&Ident> {
    match target {
        // `_ = …` and `CONSTANT.field = …` are no variables.
        Expr::Path(path) => path
            .path
            .get_ident()
            .filter(|name| name.to_string().starts_with(|first: char| first.is_lowercase())),
        Expr::Field(field) => root(&field.base),
        Expr::Index(index) => root(&index.expr),
        Expr::Paren(paren) => root(&paren.expr),
        Expr::Unary(unary) => root(&unary.expr),
        _ => None,
    }
}

fn is_assignment(operator: &BinOp) -> bool {
    matches!(
        operator,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

/// Reports assignments to variables that the body does not bind itself, and mutable borrows of them.
struct Changed<'d> {
    bound: Bound<'d>,
    diagnostics: &'d mut Diagnostics,
}

impl<'ast> Visit<'ast> for Changed<'_> {
    fn visit_expr(&mut self, expression: &'ast Expr) {
        if let Some(name) = self.bound.assigned(expression) {
            self.diagnostics.at(name, &message::BODY_ASSIGNS, &[&name.to_string()]);
        } else if let Some(name) = self.bound.borrowed(expression) {
            self.diagnostics.at(name, &message::BODY_CHANGES, &[&name.to_string()]);
        }
        visit::visit_expr(self, expression);
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}

/// What a chain of method calls, which may well keep a `Result` one, starts from.
fn outermost(value: &Expr) -> &Expr {
    match value {
        Expr::MethodCall(call) if !matches!(&*call.receiver, Expr::Path(_)) => outermost(&call.receiver),
        Expr::Paren(paren) => outermost(&paren.expr),
        other => other,
    }
}

/// Takes out of a body what was reported and what the compiler would report as well.
pub fn without_mistakes(body: &mut Body, collections: &Collections) {
    if let Body::Future(future) = body {
        let mut ignored = Diagnostics::default();
        BareAwaits {
            diagnostics: &mut ignored,
        }
        .visit_expr(future);
        if !ignored.is_empty() {
            let span = crate::start(future);
            *body = Body::Block(match outermost(future) {
                Expr::Await(_) => parse_quote_spanned!(span=> { #future }),
                Expr::Try(_) => parse_quote_spanned!(span=> { ::core::result::Result::Ok(#future) }),
                _ => parse_quote_spanned!(span=> { #future.await }),
            });
        }
    }
    let bound = Bound::by(body, collections);
    body.visit_mut(&mut WithoutChanges { bound });
}

/// A shared borrow of `place` that has the type of a mutable one, so that the compiler finds nothing more to say.
fn shared(place: &Expr) -> Expr {
    Expr::Verbatim(quote!({
        fn refused<T: ?::core::marker::Sized>(_: &T) -> &mut T {
            ::core::todo!()
        }
        refused(&#place)
    }))
}

struct WithoutChanges<'c> {
    bound: Bound<'c>,
}

impl VisitMut for WithoutChanges<'_> {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        if self.bound.assigned(expression).is_some() {
            let value: TokenStream = match expression {
                Expr::Assign(assign) => assign.right.to_token_stream(),
                Expr::Binary(binary) => binary.right.to_token_stream(),
                _ => TokenStream::new(),
            };
            *expression = Expr::Verbatim(quote!({ let _ = #value; }));
            return;
        }
        if self.bound.borrowed(expression).is_some() {
            match expression {
                Expr::Reference(reference) => *expression = shared(&reference.expr),
                Expr::MethodCall(call) => *call.receiver = shared(&call.receiver),
                _ => {}
            }
        }
        visit_mut::visit_expr_mut(self, expression);
    }

    fn visit_item_mut(&mut self, _: &mut Item) {}
}
