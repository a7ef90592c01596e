//! `discarded_result`: a step's outcome that nobody looks at. A warning, because "try it, and go on either way" is
//! sometimes meant. `step!(…).await;` alone is the compiler's to report: a `Result` is `must_use`.

use syn::{Expr, Macro, Stmt};

use crate::code::checkpoint::Kind;
use crate::lint::flow::Scene;
use crate::lint::started::{checkpoint, dropped, thrown_away};
use crate::lint::table::{Level, Rule};
use crate::message::Message;

pub(crate) const RULE: Rule = Rule {
    id: "discarded_result",
    level: Level::Warning,
    refuses: "the outcome of a step thrown away: `let _ = step!(…).await;`, `step!(…).await.ok();`",
    instead: "`?`, a `match`, or a name: `let _told = step!(…).await;`",
    example: r#"let _ = step!("tell", mail(address)).await;"#,
    paths: &[],
    macros: &[],
    message: Message {
        text: "the outcome of this `{0}!` is thrown away",
        reason: "when its retries are used up, the workflow goes on as if it had succeeded",
        remedy: "use `?` or `match` on it; if either outcome is fine, name it: `let _told = …`",
    },
};

pub(crate) fn statement(statement: &Stmt, scene: &mut Scene<'_>) {
    let found = match statement {
        Stmt::Expr(Expr::MethodCall(call), Some(_)) if call.method == "ok" && call.args.is_empty() => {
            outcome(&call.receiver, scene)
        }
        other => thrown_away(other).and_then(|value| outcome(value, scene)),
    };
    report(found, scene);
}

/// `drop(step!(…).await)`
pub(crate) fn expression(expression: &Expr, scene: &mut Scene<'_>) {
    if let Expr::Call(call) = expression {
        let found = dropped(call, scene.names).and_then(|value| outcome(value, scene));
        report(found, scene);
    }
}

/// The step, or several, that this is the whole outcome of.
fn outcome<'e>(value: &'e Expr, scene: &Scene<'_>) -> Option<(Kind, &'e Macro)> {
    match value {
        Expr::Await(wait) => {
            checkpoint(&wait.base, scene.names).filter(|(kind, _)| matches!(kind, Kind::Step | Kind::TryJoin))
        }
        Expr::MethodCall(call) if call.method == "ok" && call.args.is_empty() => outcome(&call.receiver, scene),
        Expr::Paren(paren) => outcome(&paren.expr, scene),
        _ => None,
    }
}

fn report(found: Option<(Kind, &Macro)>, scene: &mut Scene<'_>) {
    if let Some((kind, mac)) = found {
        scene.report(&RULE, &mac.path, kind.name());
    }
}
