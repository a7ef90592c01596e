//! `not_awaited`: a checkpoint that is made and thrown away. What a variable holds and nobody uses is the compiler's to
//! report, and so are other durable futures: they are `must_use`.

use syn::{Expr, ExprTry, Macro, Stmt};

use crate::code::checkpoint::Kind;
use crate::lint::flow::Scene;
use crate::lint::started::{awaitable, checkpoint, dropped, thrown_away};
use crate::lint::table::{Level, Rule};
use crate::message::Message;
use crate::names::Names;

pub(crate) const RULE: Rule = Rule {
    id: "not_awaited",
    level: Level::Error,
    refuses: "a checkpoint that is thrown away before it is awaited, or asked for its result: `step!(…);`, `let _ = sleep!(…);`, `step!(…)?`",
    instead: "`.await`",
    example: r#"let _ = sleep!("a while", delay);"#,
    paths: &[],
    macros: &[],
    message: Message {
        text: "this `{0}!` is never awaited",
        reason: "a checkpoint does nothing until it is awaited",
        remedy: "add `.await`, before the `?` if there is one; or remove the line",
    },
};

pub(crate) fn statement(statement: &Stmt, scene: &mut Scene<'_>) {
    let found = match statement {
        Stmt::Macro(call) if call.semi_token.is_some() => {
            awaitable(&call.mac, scene.names).map(|kind| (kind, &call.mac))
        }
        Stmt::Expr(value, Some(_)) if !matches!(value, Expr::Assign(_)) => checkpoint(value, scene.names),
        other => thrown_away(other).and_then(|value| checkpoint(value, scene.names)),
    };
    report(found, scene);
}

/// `drop(step!(…))` and `step!(…)?`
pub(crate) fn expression(expression: &Expr, scene: &mut Scene<'_>) {
    let found = match expression {
        Expr::Call(call) => dropped(call, scene.names).and_then(|value| checkpoint(value, scene.names)),
        Expr::Try(attempt) => checkpoint(&attempt.expr, scene.names),
        _ => None,
    };
    report(found, scene);
}

/// Whether `?` stands where `.await?` is meant.
pub(crate) fn lacks_await(attempt: &ExprTry, names: &Names) -> bool {
    checkpoint(&attempt.expr, names).is_some()
}

fn report(found: Option<(Kind, &Macro)>, scene: &mut Scene<'_>) {
    if let Some((kind, mac)) = found {
        scene.report(&RULE, &mac.path, kind.name());
    }
}
