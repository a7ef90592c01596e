//! Finds step bodies whose error type nothing fixes: they end in `Ok(…)` and only ever fail through `?`.
//! Absent on purpose: types. It reads syntax, and when in doubt leaves the block to the compiler's inference.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprAsync, ExprCall, ExprClosure, ExprReturn, Item, Macro, Path, PathArguments, Stmt};

/// True when the value is a plain `Ok(…)` on every path, and nothing could give its error another type.
pub(crate) fn leaves_error_open(block: &Block) -> bool {
    let mut errors = Errors { named: false };
    errors.visit_block(block);
    block_is_ok(block) && !errors.named
}

fn block_is_ok(block: &Block) -> bool {
    match block.stmts.last() {
        Some(Stmt::Expr(tail, None)) => is_ok(tail),
        _ => false,
    }
}

fn is_ok(tail: &Expr) -> bool {
    match tail {
        Expr::Call(call) => called(call).is_some_and(|path| ends_in(path, "Ok") && is_plain(path)),
        Expr::Block(block) => block_is_ok(&block.block),
        Expr::Paren(inner) => is_ok(&inner.expr),
        Expr::If(branch) => {
            block_is_ok(&branch.then_branch) && branch.else_branch.as_ref().is_some_and(|(_, other)| is_ok(other))
        }
        Expr::Match(choice) => !choice.arms.is_empty() && choice.arms.iter().all(|arm| is_ok(&arm.body)),
        _ => false,
    }
}

fn called(call: &ExprCall) -> Option<&Path> {
    match &*call.func {
        Expr::Path(function) => Some(&function.path),
        _ => None,
    }
}

fn ends_in(path: &Path, name: &str) -> bool {
    path.segments.last().is_some_and(|last| last.ident == name)
}

fn is_plain(path: &Path) -> bool {
    path.segments
        .iter()
        .all(|segment| matches!(segment.arguments, PathArguments::None))
}

/// Looks for `Err(…)`, for a `return` of anything but a plain `Ok(…)`, and for macros that return an error.
struct Errors {
    named: bool,
}

impl<'ast> Visit<'ast> for Errors {
    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        self.named |= called(call).is_some_and(|path| ends_in(path, "Err"));
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_return(&mut self, leave: &'ast ExprReturn) {
        self.named |= !leave.expr.as_deref().is_some_and(is_ok);
        visit::visit_expr_return(self, leave);
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.named |= ends_in(&mac.path, "bail") || ends_in(&mac.path, "ensure") || calls_err(mac.tokens.clone());
    }

    // What these return is not what the body returns.
    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}
    fn visit_expr_async(&mut self, _: &'ast ExprAsync) {}
    fn visit_item(&mut self, _: &'ast Item) {}
}

fn calls_err(tokens: TokenStream) -> bool {
    let mut after_err = false;
    tokens.into_iter().any(|tree| {
        let called = match &tree {
            TokenTree::Group(group) => {
                (after_err && group.delimiter() == Delimiter::Parenthesis) || calls_err(group.stream())
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        };
        after_err = matches!(&tree, TokenTree::Ident(ident) if ident == "Err");
        called
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(source: &str) -> bool {
        leaves_error_open(&syn::parse_str(source).expect("a block"))
    }

    #[test]
    fn a_body_that_only_fails_through_the_question_mark_leaves_its_error_open() {
        assert!(open("{ f().await?; Ok(1) }"));
        assert!(open(
            "{ if a { Ok(1) } else { match b { 1 => Ok(2), _ => { g()?; Ok(3) } } } }"
        ));
        assert!(open("{ if done { return Ok(0); } Ok(1) }"));
        assert!(open(
            "{ match f() { Ok(x) => x, Err(error) => panic!(\"{error}\") }; Ok(1) }"
        ));
        assert!(open("{ let f = || Err::<(), u8>(1); Ok(f().is_err()) }"));
        assert!(open("{ Result::Ok(1) }"));
    }

    #[test]
    fn whatever_names_an_error_or_may_is_left_to_inference() {
        assert!(!open("{ Ok::<_, Mine>(1) }"));
        assert!(!open("{ if a { return Err(Mine); } Ok(1) }"));
        assert!(!open("{ if a { return f(); } Ok(1) }"));
        assert!(!open("{ bail!(\"no\"); Ok(1) }"));
        assert!(!open("{ mine!(return Err(1)); Ok(1) }"));
        assert!(!open("{ if a { Ok(1) } else { f().await } }"));
        assert!(!open("{ f().await }"));
        assert!(!open("{ Ok(1); }"));
        assert!(!open("{}"));
    }
}
