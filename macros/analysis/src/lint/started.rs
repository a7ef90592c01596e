//! Which checkpoint an expression begins with: `step!(…).retry(…)` begins with a step.

use syn::{Expr, ExprCall, Macro, Path, Stmt};

use crate::code::checkpoint::Kind;
use crate::names::{Meaning, Names};

/// A checkpoint to be awaited, with its options, and not awaited here. `now!()` and its like are values at once.
pub(crate) fn checkpoint<'e>(expression: &'e Expr, names: &Names) -> Option<(Kind, &'e Macro)> {
    match expression {
        Expr::Macro(call) => awaitable(&call.mac, names).map(|kind| (kind, &call.mac)),
        Expr::MethodCall(option) => checkpoint(&option.receiver, names),
        Expr::Paren(paren) => checkpoint(&paren.expr, names),
        Expr::Group(group) => checkpoint(&group.expr, names),
        _ => None,
    }
}

pub(crate) fn awaitable(mac: &Macro, names: &Names) -> Option<Kind> {
    let kind = Kind::of(&mac.path, names)?;
    let awaitable = matches!(
        kind,
        Kind::Step | Kind::Sleep | Kind::Signal | Kind::Join | Kind::TryJoin | Kind::Race
    );
    awaitable.then_some(kind)
}

/// The value that a statement throws away by binding it to `_`.
pub(crate) fn thrown_away(statement: &Stmt) -> Option<&Expr> {
    match statement {
        Stmt::Local(local) => {
            let init = local.init.as_ref()?;
            let pattern = match &local.pat {
                syn::Pat::Type(typed) => &*typed.pat,
                other => other,
            };
            (init.diverge.is_none() && matches!(pattern, syn::Pat::Wild(_))).then_some(&*init.expr)
        }
        Stmt::Expr(Expr::Assign(assign), _) if matches!(*assign.left, Expr::Infer(_)) => Some(&assign.right),
        _ => None,
    }
}

/// The value that is given to `drop`.
pub(crate) fn dropped<'e>(call: &'e ExprCall, names: &Names) -> Option<&'e Expr> {
    let Expr::Path(called) = &*call.func else { return None };
    is_drop(&called.path, names).then(|| call.args.first()).flatten()
}

fn is_drop(path: &Path, names: &Names) -> bool {
    match names.meaning(path) {
        Meaning::Own => false,
        Meaning::Foreign(path) | Meaning::Unknown(path) => {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            matches!(path.as_slice(), ["drop"] | ["std", "mem", "drop"])
        }
    }
}
