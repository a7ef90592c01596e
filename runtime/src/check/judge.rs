//! What one function does wrong, and whom it calls. Absent on purpose: who calls it, which is `follow`'s.

use std::rc::Rc;
use std::sync::Arc;

use steadfast_analysis::diagnostics::Diagnostics;
use steadfast_analysis::lint::Lints;
use steadfast_analysis::lint::table::Level;
use steadfast_analysis::message;
use steadfast_analysis::names::{Crate, Meaning, Names};
use syn::visit_mut::{self, VisitMut};
use syn::{ExprAsync, ItemFn};

use super::calls::calls;
use super::index::Index;
use super::outline::{Definition, Id};

/// One function, judged.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub(super) calls: Vec<Id>,
    pub(super) mistakes: Vec<Mistake>,
}

#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) rule: String,
    pub(super) is_warning: bool,
    pub(super) message: String,
    pub(super) line: usize,
    pub(super) column: usize,
}

/// `is_plain`: no macro of ours has looked at it. What the macros warn about is not said again.
pub(super) fn judge(index: &Arc<Index>, id: Id, function: &ItemFn, is_plain: bool) -> Judged {
    let Some(described) = index.function(id) else {
        return Judged::default();
    };
    let mut function = function.clone();
    if is_plain {
        // A plain function that makes a future does not run it, and nobody can await it but a step.
        WithoutFutures.visit_item_fn_mut(&mut function);
    }
    let seen = Seen {
        index: Arc::clone(index),
        scope: described.module,
        own: index.own(id),
    };
    let names = Names::within(&function, Rc::new(seen));
    let mut diagnostics = Diagnostics::default();
    let allowances = Lints::new(&names).check(&function, &mut diagnostics);
    let broken = diagnostics
        .broken()
        .iter()
        .filter(|broken| is_plain || broken.level == Level::Error);
    let mut mistakes: Vec<Mistake> = broken
        .map(|broken| Mistake {
            rule: broken.rule.to_owned(),
            is_warning: broken.level == Level::Warning,
            message: broken.error.to_string(),
            line: broken.error.span().start().line,
            column: broken.error.span().start().column + 1,
        })
        .collect();
    for rule in allowances.iter().filter_map(|allowance| allowance.unused()) {
        let start = rule.span().start();
        mistakes.push(Mistake {
            rule: rule.to_string(),
            is_warning: false,
            message: message::ALLOW_UNUSED.render(&[&rule.to_string()]),
            line: start.line,
            column: start.column + 1,
        });
    }
    Judged {
        calls: calls(index, id, &function, &names),
        mistakes,
    }
}

/// The crate, as a function sees it.
struct Seen {
    index: Arc<Index>,
    scope: Id,
    own: Option<Id>,
}

impl Crate for Seen {
    fn meaning(&self, written: &[String]) -> Option<Meaning> {
        let found = self.index.resolve(self.scope, written, self.own);
        let foreign = found.iter().find_map(|definition| match definition {
            Definition::Foreign(path) => Some(path.clone()),
            _ => None,
        });
        if let Some(path) = foreign {
            return Some(Meaning::Foreign(path));
        }
        // `ours::something`, where a macro of ours made `something`.
        let first = written.get(..1)?;
        let is_ours = !found.is_empty() || !self.index.resolve(self.scope, first, self.own).is_empty();
        is_ours.then_some(Meaning::Own)
    }
}

struct WithoutFutures;

impl VisitMut for WithoutFutures {
    fn visit_expr_async_mut(&mut self, future: &mut ExprAsync) {
        future.block.stmts.clear();
        visit_mut::visit_expr_async_mut(self, future);
    }
}
