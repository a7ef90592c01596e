//! `checkpoint_in_body`: a durable call inside a step body, where it would be an ordinary one.

use syn::visit::{self, Visit};
use syn::{Expr, Item, Macro, Path};

use crate::code::checkpoint::{Body, Checkpoint, Kind};
use crate::lint::flow::Scene;
use crate::lint::table::{Level, Rule};
use crate::lint::written;
use crate::message::Message;
use crate::names::{Meaning, Names};

pub(crate) const RULE: Rule = Rule {
    id: "checkpoint_in_body",
    level: Level::Error,
    refuses: "checkpoints and `map_concurrent` inside a step body",
    instead: "one step after the other; ordinary sleeps, clocks and futures inside the body",
    example: r#"step!("outer", { sleep!("inner", delay).await; Ok(()) }).await?;"#,
    paths: &[],
    macros: &[],
    message: Message {
        text: "a step body cannot hold a checkpoint: `{0}`",
        reason: "a body runs as a whole and only its result is recorded, so nothing inside it has a place in the history",
        remedy: "put it before or after the step; or use what is ordinary: any future, clock or chance is allowed in a body",
    },
};

pub(crate) fn body(body: &Body, scene: &mut Scene<'_>) {
    for (path, code) in search(body, scene.names) {
        scene.report(&RULE, &path, &code);
    }
}

pub(crate) fn is_in(body: &Body, names: &Names) -> bool {
    !search(body, names).is_empty()
}

/// What was found and how it is written.
fn search(body: &Body, names: &Names) -> Vec<(Path, String)> {
    let mut search = Search {
        names,
        found: Vec::new(),
    };
    body.visit(&mut search);
    search.found
}

struct Search<'n> {
    names: &'n Names,
    found: Vec<(Path, String)>,
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_macro(&mut self, mac: &'ast Macro) {
        if is_checkpoint(mac, self.names) {
            self.found.push((mac.path.clone(), format!("{}!", written(&mac.path))));
        }
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        if let Expr::Call(call) = expression
            && let Expr::Path(called) = &*call.func
            && is_durable(&called.path, self.names)
        {
            self.found.push((called.path.clone(), written(&called.path)));
        }
        visit::visit_expr(self, expression);
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}

/// One of ours for sure: other crates have a `join!`, a `select!` and a `uuid!` too, which are fine in a body. Where this
/// is not sure, the macro itself says that it works in workflow code only.
fn is_checkpoint(mac: &Macro, names: &Names) -> bool {
    let Some(kind) = Kind::of(&mac.path, names) else {
        return false;
    };
    let sure = match names.meaning(&mac.path) {
        Meaning::Own => false,
        Meaning::Foreign(path) | Meaning::Unknown(path) => {
            path.first().is_some_and(|first| first == "steadfast") || (path.len() == 1 && only_ours(kind))
        }
    };
    sure && Checkpoint::parse(kind, mac.tokens.clone()).is_ok()
}

fn only_ours(kind: Kind) -> bool {
    !matches!(kind, Kind::Join | Kind::TryJoin | Kind::Race)
}

/// The same for functions.
fn is_durable(path: &Path, names: &Names) -> bool {
    let (Meaning::Foreign(path) | Meaning::Unknown(path)) = names.meaning(path) else {
        return false;
    };
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["map_concurrent" | "map_concurrent_all"] => true,
        ["steadfast", .., name] => {
            matches!(
                *name,
                "map_concurrent" | "map_concurrent_all" | "join_all" | "try_join_all"
            )
        }
        _ => false,
    }
}
