//! Checks how checkpoints are written in the body, and what they are named.
//! Absent on purpose: whether their contents are deterministic, which is `lint`'s.

use std::collections::BTreeSet;

use syn::{Block, Expr, ExprClosure, Lit, LitStr, Macro, Stmt};

use crate::check::collections::Collections;
use crate::check::step_body;
use crate::code::checkpoint::{Checkpoint, JOIN_MAX, Kind, RACE_BRANCHES};
use crate::code::walk::{Observer, walk};
use crate::diagnostics::Diagnostics;
use crate::lint::allowance::attributes;
use crate::message::{self, Message};
use crate::names::Names;

/// Names are stored with every event.
const NAME_MAX: usize = 256;

pub fn check(block: &Block, names: &Names, collections: &Collections, diagnostics: &mut Diagnostics) {
    let mut checks = Checks {
        diagnostics,
        collections,
        names: BTreeSet::new(),
        conditional: 0,
    };
    walk(block, names, &mut checks);
}

struct Checks<'d> {
    diagnostics: &'d mut Diagnostics,
    collections: &'d Collections,
    /// Names of steps and sleeps so far. Signals may repeat: waiting again for the same signal takes the next one.
    names: BTreeSet<(Kind, String)>,
    /// How many statements around the current place depend on `#[cfg]`: of two of one name only one may be there.
    conditional: usize,
}

impl Observer for Checks<'_> {
    fn enter_statement(&mut self, statement: &Stmt) {
        self.conditional += usize::from(is_conditional(statement));
    }

    fn leave_statement(&mut self, statement: &Stmt) {
        self.conditional -= usize::from(is_conditional(statement));
    }

    fn expression(&mut self, expression: &Expr) {
        if let Expr::Closure(ExprClosure {
            asyncness: Some(asyncness),
            ..
        }) = expression
        {
            self.diagnostics.at(asyncness, &message::ASYNC_CLOSURE, &[]);
        }
    }

    fn checkpoint(&mut self, kind: Kind, mac: &Macro, checkpoint: &syn::Result<Checkpoint>) {
        match checkpoint {
            Err(error) => self.malformed(kind, mac, error),
            Ok(Checkpoint::Step { name, body }) => {
                self.unique_name(kind, name);
                step_body::check(body, self.collections, self.diagnostics);
            }
            Ok(Checkpoint::Sleep { name, deadline: _ }) => self.unique_name(kind, name),
            Ok(Checkpoint::Signal { name }) => {
                self.name(kind, name);
            }
            Ok(Checkpoint::Group { kind, branches }) => self.width(*kind, mac, branches.len()),
            Ok(Checkpoint::Recorded { .. }) => {}
            // One change may show in several places.
            Ok(Checkpoint::Change { kind: _, id }) => self.change_id(id),
            Ok(Checkpoint::Removed { of: Kind::Signal, name }) => {
                self.name(Kind::Signal, name);
            }
            Ok(Checkpoint::Removed { of, name }) => self.unique_name(*of, name),
        }
    }
}

impl Checks<'_> {
    fn malformed(&mut self, kind: Kind, mac: &Macro, error: &syn::Error) {
        let (reason, remedy) = match kind {
            Kind::Step => (
                "a name and a body make a step",
                "give both, separated by a comma; options follow as `.retry(…)`, `.timeout(…)`",
            ),
            Kind::Sleep => (
                "a name and a time make a sleep",
                "give both, separated by a comma; the time is a duration or an instant",
            ),
            Kind::Signal => (
                "a name makes a wait for a signal",
                "give only the name; options follow as `.timeout(…)`, `.key(…)`",
            ),
            Kind::Join | Kind::TryJoin | Kind::Race => ("its branches are durable futures", "separate them by commas"),
            Kind::Now | Kind::Uuid => ("it takes nothing", "remove what is between the parentheses"),
            Kind::Random => (
                "it takes nothing or a range",
                "write `random!(1..=6)` for a number in a range",
            ),
            Kind::Patched | Kind::Retired => (
                "a change has a name of its own, by which the journal remembers it",
                "give only that name",
            ),
            Kind::Removed => (
                "it stands for one checkpoint, told by what it was and by its name",
                "give only the name for a step; write `sleep` or `signal` before it for the others",
            ),
        };
        // Where syn stopped; at the macro's name if it wanted more than there is.
        let values = [kind.name(), kind.usage(), reason, remedy];
        if error.to_string().starts_with("unexpected end of input") {
            self.diagnostics.at(&mac.path, &message::USAGE, &values);
        } else {
            self.diagnostics.at_span(error.span(), &message::USAGE, &values);
        }
    }

    fn unique_name(&mut self, kind: Kind, name: &Expr) {
        let Some(literal) = self.name(kind, name) else { return };
        if self.conditional == 0 && !self.names.insert((kind, literal.value())) {
            let in_a_loop = if kind == Kind::Step {
                ", and told apart by `.key(…)`"
            } else {
                ""
            };
            let values = [kind.name(), &literal.token().to_string(), in_a_loop];
            self.diagnostics.at(&literal, &message::NAME_REPEATED, &values);
        }
    }

    fn change_id(&mut self, id: &Expr) {
        let Some(literal) = string_literal(id) else {
            let values = ["change", "write it out here"];
            self.diagnostics.at(id, &message::NAME_NOT_LITERAL, &values);
            return;
        };
        check_name(&literal, "change", self.diagnostics);
    }

    /// The name if it is a good one.
    fn name(&mut self, kind: Kind, name: &Expr) -> Option<LitStr> {
        let Some(literal) = string_literal(name) else {
            let remedy = match kind {
                Kind::Step => "write the fixed part here and put the rest into `.key(…)`",
                _ => "write it out here",
            };
            self.diagnostics
                .at(name, &message::NAME_NOT_LITERAL, &[kind.name(), remedy]);
            return None;
        };
        check_name(&literal, kind.name(), self.diagnostics).then_some(literal)
    }

    fn width(&mut self, kind: Kind, mac: &Macro, branches: usize) {
        if kind == Kind::Race {
            if !RACE_BRANCHES.contains(&branches) {
                self.diagnostics.at(&mac.path, &message::RACE_OF_ONE, &[]);
            }
        } else if branches > JOIN_MAX {
            self.diagnostics.at(&mac.path, &message::JOIN_TOO_WIDE, &[kind.name()]);
        }
    }
}

/// The rules for every stored name: of steps, sleeps, signals and workflows.
pub fn check_name(name: &LitStr, what: &str, diagnostics: &mut Diagnostics) -> bool {
    let value = name.value();
    let mistake: Option<&Message> = if value.is_empty() {
        Some(&message::NAME_EMPTY)
    } else if value.len() > NAME_MAX {
        Some(&message::NAME_TOO_LONG)
    } else if value.chars().any(char::is_control) {
        Some(&message::NAME_CONTROL)
    } else {
        None
    };
    if let Some(mistake) = mistake {
        diagnostics.at(name, mistake, &[what]);
    }
    mistake.is_none()
}

/// A string literal, also from inside a `macro_rules!` metavariable.
pub fn string_literal(name: &Expr) -> Option<LitStr> {
    match name {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.clone()),
            _ => None,
        },
        Expr::Group(group) => string_literal(&group.expr),
        _ => None,
    }
}

fn is_conditional(statement: &Stmt) -> bool {
    attributes(statement)
        .iter()
        .any(|attribute| attribute.path().is_ident("cfg"))
}
