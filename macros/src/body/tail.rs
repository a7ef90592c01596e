//! Finds step bodies whose error type nothing fixes: they end in `Ok(…)`, and fail only where the error is converted, by
//! `?` or `.into()`.
//! Absent on purpose: types. It reads syntax, and when in doubt leaves the block to the compiler's inference.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprAsync, ExprCall, ExprClosure, ExprReturn, ExprTry, Item, Macro, Path, PathArguments, Stmt};

/// True when the value leaves its error type open on every path, and nothing else could fix it.
pub(crate) fn leaves_error_open(block: &Block) -> bool {
    let mut errors = Errors { named: false };
    errors.visit_block(block);
    block_is_open(block) && !errors.named
}

fn block_is_open(block: &Block) -> bool {
    match block.stmts.last() {
        Some(Stmt::Expr(tail, None)) => is_open(tail),
        Some(Stmt::Expr(tail, Some(_))) => leaves(tail),
        _ => false,
    }
}

fn is_open(tail: &Expr) -> bool {
    match tail {
        Expr::Call(call) => is_call_of(call, "Ok") || is_open_error(call),
        Expr::MethodCall(call) => call.method == "map_err" && call.args.iter().all(is_conversion),
        Expr::Block(block) => block_is_open(&block.block),
        Expr::Paren(inner) => is_open(&inner.expr),
        Expr::If(branch) => {
            block_is_open(&branch.then_branch) && branch.else_branch.as_ref().is_some_and(|(_, other)| is_open(other))
        }
        Expr::Match(choice) => !choice.arms.is_empty() && choice.arms.iter().all(|arm| is_open(&arm.body)),
        other => leaves(other),
    }
}

/// `return …`, judged where it is visited, and `Err(…)?`: no value comes from here.
fn leaves(tail: &Expr) -> bool {
    match tail {
        Expr::Return(_) => true,
        Expr::Try(attempt) => matches!(&*attempt.expr, Expr::Call(call) if is_call_of(call, "Err")),
        _ => false,
    }
}

/// `Err(….into())`
fn is_open_error(call: &ExprCall) -> bool {
    is_call_of(call, "Err") && call.args.iter().all(is_converted)
}

/// `….into()`
fn is_converted(value: &Expr) -> bool {
    match value {
        Expr::MethodCall(conversion) => conversion.method == "into",
        Expr::Call(conversion) => is_conversion(&conversion.func),
        _ => false,
    }
}

/// `Into::into`, `From::from` or `|error| error.into()`
fn is_conversion(function: &Expr) -> bool {
    match function {
        Expr::Closure(closure) => is_converted(&closure.body),
        Expr::Path(function) if function.qself.is_none() => {
            is_written(&function.path, &["Into", "into"]) || is_written(&function.path, &["From", "from"])
        }
        _ => false,
    }
}

/// True for a call of `Ok` or `Err` that is the standard library's for all one can see. `anyhow::Ok` and the variants of
/// an alias such as `io::Result` name their error.
fn is_call_of(call: &ExprCall, variant: &str) -> bool {
    called(call).is_some_and(|path| {
        is_written(path, &[variant])
            || is_written(path, &["Result", variant])
            || ["std", "core"]
                .iter()
                .any(|krate| is_written(path, &[krate, "result", "Result", variant]))
    })
}

/// True for a path of these names, without generic arguments.
fn is_written(path: &Path, names: &[&str]) -> bool {
    let plain = |segment: &syn::PathSegment| matches!(segment.arguments, PathArguments::None);
    path.segments.len() == names.len()
        && path
            .segments
            .iter()
            .zip(names)
            .all(|(segment, name)| segment.ident == name && plain(segment))
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

/// Looks for an `Err(…)` of a type, for a `return` of anything that is not open, and for macros that return an error.
struct Errors {
    named: bool,
}

impl<'ast> Visit<'ast> for Errors {
    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        self.named |= called(call).is_some_and(|path| ends_in(path, "Err")) && !is_open_error(call);
        visit::visit_expr_call(self, call);
    }

    // `Err(…)?` converts.
    fn visit_expr_try(&mut self, attempt: &'ast ExprTry) {
        match &*attempt.expr {
            Expr::Call(call) if is_call_of(call, "Err") => visit::visit_expr_call(self, call),
            other => self.visit_expr(other),
        }
    }

    fn visit_expr_return(&mut self, leave: &'ast ExprReturn) {
        self.named |= !leave.expr.as_deref().is_some_and(is_open);
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
        assert!(open("{ ::std::result::Result::Ok(1) }"));
    }

    #[test]
    fn an_error_that_is_converted_where_it_is_returned_names_no_type() {
        assert!(open("{ if bad { return Err(\"no\".into()) } Ok(1) }"));
        assert!(open("{ if bad { return Err(\"no\".into()); } else { Ok(1) } }"));
        assert!(open("{ if bad { Err(\"no\")?; } Ok(1) }"));
        assert!(open("{ if bad { Err(\"no\")? } else { Ok(1) } }"));
        assert!(open("{ if bad { Err(From::from(\"no\")) } else { Ok(1) } }"));
        assert!(open(
            "{ match f() { Ok(x) => Ok(x), Err(error) => Err(error.into()) } }"
        ));
        assert!(open("{ g()?; f().await.map_err(Into::into) }"));
        assert!(open("{ g()?; f().await.map_err(|error| error.into()) }"));
        assert!(open("{ match f() { Some(x) => Ok(x), None => return Ok(2) } }"));
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
        assert!(!open("{ anyhow::Ok(1) }"));
        assert!(!open("{ IoResult::Ok(1) }"));
        assert!(!open("{ io::Result::Ok(1) }"));
        assert!(!open("{ if a { return Err(x.into()); } Err(Mine) }"));
        assert!(!open("{ if a { return Err(x.into()); } f().await }"));
        assert!(!open("{ if a { return Err::<_, Mine>(x.into()); } Ok(1) }"));
        assert!(!open("{ f().await.map_err(Mine::from) }"));
        assert!(!open("{}"));
    }
}
