//! Looking at workflow code: one way through it for every stage that reads and does not write.
//! Absent on purpose: what anybody is looking for.

use syn::visit::{self, Visit};
use syn::{Arm, Block, Expr, ExprMacro, Item, Macro, Stmt};

use crate::code::checkpoint::{Checkpoint, Kind};
use crate::code::known::{self, Piece};
use crate::names::Names;

/// What a stage wants to see. Everything here is workflow code; step bodies and nested items never show up.
pub trait Observer {
    /// Before a statement's parts.
    fn enter_statement(&mut self, _: &Stmt) {}
    /// After them.
    fn leave_statement(&mut self, _: &Stmt) {}
    /// Before an expression's parts.
    fn expression(&mut self, _: &Expr) {}
    /// An arm of a `match`, before its guard and what it leads to.
    fn arm(&mut self, _: &Arm) {}
    /// A macro that is none of ours, before its arguments.
    fn macro_call(&mut self, _: &Macro) {}
    /// One of ours, understood or not, before its arguments.
    fn checkpoint(&mut self, _: Kind, _: &Macro, _: &syn::Result<Checkpoint>) {}
}

/// Shows `block` to `observer`.
pub fn walk(block: &Block, names: &Names, observer: &mut impl Observer) {
    Walk { names, observer }.visit_block(block);
}

struct Walk<'o, O> {
    names: &'o Names,
    observer: &'o mut O,
}

impl<O: Observer> Walk<'_, O> {
    fn call(&mut self, mac: &Macro) {
        if let Some(kind) = Kind::of(&mac.path, self.names) {
            let checkpoint = Checkpoint::parse(kind, mac.tokens.clone());
            self.observer.checkpoint(kind, mac, &checkpoint);
            if let Ok(checkpoint) = checkpoint {
                checkpoint
                    .workflow_parts()
                    .into_iter()
                    .for_each(|part| self.visit_expr(part));
            }
            return;
        }
        self.observer.macro_call(mac);
        if known::is_known(mac) {
            for piece in known::pieces(mac) {
                if let Piece::Expression { expression, .. } = piece {
                    self.visit_expr(&expression);
                }
            }
        }
    }
}

impl<'ast, O: Observer> Visit<'ast> for Walk<'_, O> {
    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        self.observer.enter_statement(statement);
        match statement {
            Stmt::Macro(statement) => self.call(&statement.mac),
            other => visit::visit_stmt(self, other),
        }
        self.observer.leave_statement(statement);
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        self.observer.expression(expression);
        match expression {
            Expr::Macro(ExprMacro { mac, .. }) => self.call(mac),
            other => visit::visit_expr(self, other),
        }
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        self.observer.arm(arm);
        visit::visit_arm(self, arm);
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}
