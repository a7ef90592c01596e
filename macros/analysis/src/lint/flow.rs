//! The rules that need to know what a variable is, or what comes after a statement: one way through the function, with
//! the variables in scope, and what each rule found where.
//!
//! Absent on purpose: allowances. Findings carry the number of their statement, and the linter, which goes the same way
//! again, reports those that nothing allows.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Block, Expr, ItemFn, Macro, Pat, Stmt};

use crate::code::checkpoint::{Checkpoint, Kind};
use crate::code::walk::{Observer, Source, walk};
use crate::lint::hash_order::HashOrder;
use crate::lint::table::Rule;
use crate::lint::types::{Types, Variable};
use crate::lint::{
    captured_cell, checkpoint_in_body, discarded_result, endless_loop, float_branch, guard_across_checkpoint,
    hash_order, not_awaited, stored_usize,
};
use crate::names::Names;

/// A rule that is broken, and where.
pub(crate) struct Finding {
    /// Statements are counted as they are entered.
    pub statement: usize,
    pub rule: &'static Rule,
    pub place: TokenStream,
    pub written: String,
}

/// What the rules find in the function, in the order of its statements.
pub(crate) fn findings(function: &ItemFn, names: &Names) -> Vec<Finding> {
    let mut flow = Flow {
        scene: Scene {
            names,
            types: Types::of_parameters(&function.sig),
            entered: 0,
            around: Vec::new(),
            races: 0,
            findings: Vec::new(),
        },
        outlooks: Vec::new(),
        hash_order: HashOrder::default(),
    };
    walk(&function.block, names, &mut flow);
    let mut findings = flow.scene.findings;
    findings.sort_by_key(|finding| finding.statement);
    findings
}

/// Where the way through the function has come to.
pub(crate) struct Scene<'n> {
    pub names: &'n Names,
    pub types: Types,
    entered: usize,
    /// The numbers of the statements around, innermost last.
    around: Vec<usize>,
    /// How many `race!` are around, which end what is in them.
    pub races: usize,
    findings: Vec<Finding>,
}

impl Scene<'_> {
    pub(crate) fn report(&mut self, rule: &'static Rule, place: &impl ToTokens, written: &str) {
        self.findings.push(Finding {
            statement: self.around.last().copied().unwrap_or_default(),
            rule,
            place: place.to_token_stream(),
            written: written.to_owned(),
        });
    }
}

/// What the statements after one say about it.
#[derive(Default)]
struct Outlook {
    /// The list that it makes is sorted before anything else happens to it.
    sorted: bool,
    /// The guard that it binds is still there at a checkpoint.
    crossed: bool,
}

impl Outlook {
    fn of(statement: &Stmt, following: &[Stmt]) -> Self {
        Self {
            sorted: hash_order::is_sorted_next(statement, following),
            crossed: guard_across_checkpoint::is_crossed(statement, following),
        }
    }
}

struct Flow<'n> {
    scene: Scene<'n>,
    /// For the statements still to come in each block around.
    outlooks: Vec<std::vec::IntoIter<Outlook>>,
    hash_order: HashOrder,
}

impl Observer for Flow<'_> {
    fn enter_block(&mut self, block: &Block) {
        let statements = &block.stmts;
        let outlooks = (1..).zip(statements).map(|(next, statement)| {
            let following = statements.get(next..).unwrap_or_default();
            Outlook::of(statement, following)
        });
        self.outlooks.push(outlooks.collect::<Vec<_>>().into_iter());
    }

    fn leave_block(&mut self) {
        self.outlooks.pop();
    }

    fn enter_statement(&mut self, statement: &Stmt) {
        let scene = &mut self.scene;
        scene.around.push(scene.entered);
        scene.entered += 1;
        let outlook = self.outlooks.last_mut().and_then(Iterator::next).unwrap_or_default();
        self.hash_order.statement(statement, outlook.sorted, scene);
        not_awaited::statement(statement, scene);
        discarded_result::statement(statement, scene);
        stored_usize::statement(statement, scene);
        if outlook.crossed {
            guard_across_checkpoint::statement(statement, scene);
        }
    }

    fn leave_statement(&mut self, _: &Stmt) {
        self.scene.around.pop();
    }

    fn expression(&mut self, expression: &Expr) {
        self.hash_order.expression(expression, &mut self.scene);
        not_awaited::expression(expression, &mut self.scene);
        discarded_result::expression(expression, &mut self.scene);
        endless_loop::expression(expression, &mut self.scene);
        float_branch::expression(expression, &mut self.scene);
    }

    fn macro_call(&mut self, mac: &Macro) {
        hash_order::shown(mac, &mut self.scene);
    }

    fn checkpoint(&mut self, kind: Kind, _: &Macro, checkpoint: &syn::Result<Checkpoint>) {
        self.scene.races += usize::from(kind == Kind::Race);
        if let Ok(Checkpoint::Step { body, .. }) = checkpoint {
            captured_cell::body(body, &mut self.scene);
            checkpoint_in_body::body(body, &mut self.scene);
        }
    }

    fn leave_checkpoint(&mut self, kind: Kind) {
        self.scene.races -= usize::from(kind == Kind::Race);
    }

    fn enter_scope(&mut self) {
        self.scene.types.enter();
    }

    fn leave_scope(&mut self) {
        self.scene.types.leave();
    }

    fn binds(&mut self, pattern: &Pat, source: Source<'_>) {
        let types = &self.scene.types;
        let value = match source {
            Source::Unknown => None,
            Source::Value(value) | Source::Each(value) => Some(value),
        };
        let variable = Variable {
            kind: types.of_source(source),
            borrowed: value
                .and_then(|value| types.root(value))
                .is_some_and(|root| root.borrowed),
            inexact: value.is_some_and(|value| float_branch::culprit(value, types).is_some()),
        };
        self.scene.types.bind(pattern, &variable);
    }
}

#[cfg(test)]
mod tests;
