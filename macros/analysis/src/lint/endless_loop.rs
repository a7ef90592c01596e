//! `endless_loop`: a loop that waits in every round and has no way out. A warning, because a workflow that serves its
//! signals until it is cancelled may be meant, and short lives of the data may make it harmless.

use syn::visit::{self, Visit};
use syn::{
    Expr, ExprAsync, ExprAwait, ExprBreak, ExprClosure, ExprContinue, ExprForLoop, ExprLoop, ExprReturn, ExprTry,
    ExprWhile, Item, Label, Lifetime, Lit, Macro,
};

use crate::code::checkpoint::{Checkpoint, Kind};
use crate::code::known::{self, Piece};
use crate::lint::flow::Scene;
use crate::lint::table::{Level, Rule};
use crate::message::Message;
use crate::names::Names;

pub(crate) const RULE: Rule = Rule {
    id: "endless_loop",
    level: Level::Warning,
    refuses: "`loop` and `while true` with checkpoints and without `break`, `return` or `?`",
    instead: "a `break`, or a bounded loop",
    example: r#"loop { sleep!("a while", delay).await; }"#,
    paths: &[],
    macros: &[],
    message: Message {
        text: "this `{0}` with checkpoints has no way out",
        reason: "every round adds to the instance's history, which is kept and replayed as a whole",
        remedy: "stop after some rounds, by `break` or a bounded `for`, and let whoever started this instance, or a last step, start the next one",
    },
};

pub(crate) fn expression(expression: &Expr, scene: &mut Scene<'_>) {
    // Another branch may win.
    if scene.races > 0 {
        return;
    }
    match expression {
        Expr::Loop(rounds) => {
            let mut way = Way::through(rounds.label.as_ref(), scene.names);
            way.visit_block(&rounds.body);
            if way.is_endless() {
                scene.report(&RULE, &rounds.loop_token, "loop");
            }
        }
        Expr::While(rounds) if is_true(&rounds.cond) => {
            let mut way = Way::through(rounds.label.as_ref(), scene.names);
            way.visit_block(&rounds.body);
            if way.is_endless() {
                scene.report(&RULE, &rounds.while_token, "while true");
            }
        }
        _ => {}
    }
}

fn is_true(condition: &Expr) -> bool {
    matches!(condition, Expr::Lit(literal) if matches!(&literal.lit, Lit::Bool(value) if value.value))
}

/// What a round of the loop comes across.
struct Way<'s> {
    names: &'s Names,
    label: Option<&'s Lifetime>,
    /// Loops inside this one that are around the current place, by their labels.
    inner: Vec<Option<&'s Lifetime>>,
    waits: bool,
    leaves: bool,
}

impl<'s> Way<'s> {
    fn through(label: Option<&'s Label>, names: &'s Names) -> Self {
        Self {
            names,
            label: label.map(|label| &label.name),
            inner: Vec::new(),
            waits: false,
            leaves: false,
        }
    }

    fn is_endless(&self) -> bool {
        self.waits && !self.leaves
    }

    fn inside(&mut self, label: Option<&'s Label>, visit: impl FnOnce(&mut Self)) {
        self.inner.push(label.map(|label| &label.name));
        visit(self);
        self.inner.pop();
    }
}

impl<'ast: 's, 's> Visit<'ast> for Way<'s> {
    fn visit_expr_await(&mut self, wait: &'ast ExprAwait) {
        self.waits = true;
        visit::visit_expr_await(self, wait);
    }

    fn visit_expr_break(&mut self, exit: &'ast ExprBreak) {
        self.leaves |= match &exit.label {
            None => self.inner.is_empty(),
            Some(label) => Some(label) == self.label || !self.inner.contains(&Some(label)),
        };
        visit::visit_expr_break(self, exit);
    }

    /// The next round of a loop around this one.
    fn visit_expr_continue(&mut self, next: &'ast ExprContinue) {
        self.leaves |= next
            .label
            .as_ref()
            .is_some_and(|label| Some(label) != self.label && !self.inner.contains(&Some(label)));
    }

    fn visit_expr_return(&mut self, _: &'ast ExprReturn) {
        self.leaves = true;
    }

    fn visit_expr_try(&mut self, _: &'ast ExprTry) {
        self.leaves = true;
    }

    fn visit_expr_loop(&mut self, rounds: &'ast ExprLoop) {
        self.inside(rounds.label.as_ref(), |way| visit::visit_expr_loop(way, rounds));
    }

    fn visit_expr_while(&mut self, rounds: &'ast ExprWhile) {
        self.inside(rounds.label.as_ref(), |way| visit::visit_expr_while(way, rounds));
    }

    fn visit_expr_for_loop(&mut self, rounds: &'ast ExprForLoop) {
        self.inside(rounds.label.as_ref(), |way| visit::visit_expr_for_loop(way, rounds));
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        if let Some(kind) = Kind::of(&mac.path, self.names) {
            if let Ok(checkpoint) = Checkpoint::parse(kind, mac.tokens.clone()) {
                self.leaves |= checkpoint.workflow_parts().into_iter().any(gives_up);
            }
        } else if !known::is_known(mac) || diverges(mac) {
            // Of other people's macros nobody knows.
            self.leaves = true;
        } else {
            for piece in known::pieces(mac) {
                if let Piece::Expression { expression, .. } = piece {
                    self.waits |= contains(&expression, |found| matches!(found, Expr::Await(_)));
                    self.leaves |= gives_up(&expression);
                }
            }
        }
    }

    // What is in there runs by itself, or later.
    fn visit_expr_async(&mut self, _: &'ast ExprAsync) {}
    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}
    fn visit_item(&mut self, _: &'ast Item) {}
}

fn diverges(mac: &Macro) -> bool {
    const DIVERGE: [&str; 6] = ["bail", "ensure", "panic", "todo", "unimplemented", "unreachable"];
    mac.path
        .segments
        .last()
        .is_some_and(|last| DIVERGE.iter().any(|name| last.ident == name))
}

fn gives_up(expression: &Expr) -> bool {
    contains(expression, |found| {
        matches!(found, Expr::Try(_) | Expr::Return(_) | Expr::Break(_))
    })
}

fn contains(expression: &Expr, wanted: fn(&Expr) -> bool) -> bool {
    struct Search {
        wanted: fn(&Expr) -> bool,
        found: bool,
    }
    impl<'ast> Visit<'ast> for Search {
        fn visit_expr(&mut self, expression: &'ast Expr) {
            self.found |= (self.wanted)(expression);
            if !matches!(expression, Expr::Async(_) | Expr::Closure(_)) {
                visit::visit_expr(self, expression);
            }
        }
        fn visit_item(&mut self, _: &'ast Item) {}
    }
    let mut search = Search { wanted, found: false };
    search.visit_expr(expression);
    search.found
}
