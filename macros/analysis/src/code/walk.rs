//! Looking at workflow code: one way through it for every stage that reads and does not write.
//! Absent on purpose: what anybody is looking for.

use syn::visit::{self, Visit};
use syn::{
    Arm, Block, Expr, ExprClosure, ExprForLoop, ExprIf, ExprLet, ExprMacro, ExprMatch, ExprWhile, Item, Local, Macro,
    Pat, Stmt,
};

use crate::code::checkpoint::{Checkpoint, Kind};
use crate::code::known::{self, Piece};
use crate::names::Names;

/// What a pattern is matched against.
#[derive(Clone, Copy)]
pub enum Source<'e> {
    /// Nothing in sight: a closure's argument, a `let` without a value.
    Unknown,
    /// This value.
    Value(&'e Expr),
    /// One after the other, what this value gives: `for`.
    Each(&'e Expr),
}

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
    /// After them.
    fn leave_checkpoint(&mut self, _: Kind) {}
    /// Names that are bound from here on end with it. Blocks, closures, arms and loops are scopes.
    fn enter_scope(&mut self) {}
    fn leave_scope(&mut self) {}
    /// Before a block's statements, inside its scope.
    fn enter_block(&mut self, _: &Block) {}
    fn leave_block(&mut self) {}
    /// The names in the pattern mean this from here on.
    fn binds(&mut self, _: &Pat, _: Source<'_>) {}
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
            self.observer.leave_checkpoint(kind);
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

    fn visit_block(&mut self, block: &'ast Block) {
        self.observer.enter_scope();
        self.observer.enter_block(block);
        visit::visit_block(self, block);
        self.observer.leave_block();
        self.observer.leave_scope();
    }

    fn visit_local(&mut self, local: &'ast Local) {
        visit::visit_local(self, local);
        let value = local.init.as_ref().map(|init| Source::Value(&init.expr));
        self.observer.binds(&local.pat, value.unwrap_or(Source::Unknown));
    }

    fn visit_expr_let(&mut self, condition: &'ast ExprLet) {
        self.visit_expr(&condition.expr);
        self.observer.binds(&condition.pat, Source::Value(&condition.expr));
    }

    fn visit_expr_if(&mut self, condition: &'ast ExprIf) {
        self.observer.enter_scope();
        self.visit_expr(&condition.cond);
        self.visit_block(&condition.then_branch);
        self.observer.leave_scope();
        if let Some((_, otherwise)) = &condition.else_branch {
            self.visit_expr(otherwise);
        }
    }

    fn visit_expr_while(&mut self, rounds: &'ast ExprWhile) {
        self.observer.enter_scope();
        visit::visit_expr_while(self, rounds);
        self.observer.leave_scope();
    }

    fn visit_expr_for_loop(&mut self, rounds: &'ast ExprForLoop) {
        self.visit_expr(&rounds.expr);
        self.observer.enter_scope();
        self.observer.binds(&rounds.pat, Source::Each(&rounds.expr));
        self.visit_block(&rounds.body);
        self.observer.leave_scope();
    }

    fn visit_expr_match(&mut self, choice: &'ast ExprMatch) {
        self.visit_expr(&choice.expr);
        for arm in &choice.arms {
            self.observer.arm(arm);
            self.observer.enter_scope();
            self.observer.binds(&arm.pat, Source::Value(&choice.expr));
            if let Some((_, guard)) = &arm.guard {
                self.visit_expr(guard);
            }
            self.visit_expr(&arm.body);
            self.observer.leave_scope();
        }
    }

    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        self.observer.enter_scope();
        for parameter in &closure.inputs {
            self.observer.binds(parameter, Source::Unknown);
        }
        self.visit_expr(&closure.body);
        self.observer.leave_scope();
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}
