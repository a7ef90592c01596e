//! Branches, loops and exits.

use syn::visit::Visit;
use syn::{
    BinOp, Expr, ExprBinary, ExprBlock, ExprForLoop, ExprIf, ExprLet, ExprLoop, ExprMatch, ExprReturn, ExprTry,
    ExprWhile, Pat,
};

use crate::graph::extract::{Extract, label, line};
use crate::graph::label::text;
use crate::graph::model::{Arm, Branch, Exit, Loop, LoopKind, Node, Sequence};

impl Extract<'_> {
    pub(super) fn choice(&mut self, choice: &ExprIf) {
        let patch = self.patch(&choice.cond);
        let asked = patch.is_none() && self.asked(&choice.cond);
        let then = self.block(&choice.then_branch);
        let other = match &choice.else_branch {
            Some((_, other)) => self.apart(|inner| inner.visit_expr(other)),
            None => Sequence::new(),
        };
        let (question, yes, no) = match &*choice.cond {
            Expr::Let(condition) => (
                self.question(&condition.expr, asked),
                text(&condition.pat),
                "else".to_owned(),
            ),
            condition => (self.question(condition, asked), "yes".to_owned(), "no".to_owned()),
        };
        let (then, other) = match &patch {
            // `if !patched!("…") { old } else { new }`
            Some((_, true)) => (other, then),
            Some((_, false)) | None => (then, other),
        };
        let arms = match &patch {
            Some(_) => vec![arm("after", then), arm("before", other)],
            None => vec![arm(&yes, then), arm(&no, other)],
        };
        let patch = patch.map(|(name, _)| name);
        let question = patch.clone().unwrap_or(question);
        self.branch(question, arms, patch, line(&choice.if_token));
    }

    pub(super) fn match_of(&mut self, choice: &ExprMatch) {
        let asked = self.asked(&choice.expr);
        let question = self.question(&choice.expr, asked);
        let mut arms = Vec::new();
        for one in &choice.arms {
            let body = self.apart(|inner| {
                if let Some((_, guard)) = &one.guard {
                    inner.visit_expr(guard);
                }
                inner.visit_expr(&one.body);
            });
            let label = match &one.guard {
                Some((_, guard)) => format!("{} if {}", text(&one.pat), text(guard)),
                None => text(&one.pat),
            };
            arms.push(Arm { label, body });
        }
        self.branch(question, arms, None, line(&choice.match_token));
    }

    pub(super) fn let_else(&mut self, pattern: &Pat, value: &Expr, diverge: &Expr) {
        let question = self.question(value, true);
        let other = self.apart(|inner| inner.visit_expr(diverge));
        let arms = vec![arm(&text(pattern), Sequence::new()), arm("else", other)];
        self.branch(question, arms, None, line(value));
    }

    /// `a && b` runs `b` or does not.
    pub(super) fn binary(&mut self, binary: &ExprBinary) {
        self.visit_expr(&binary.left);
        let right = self.apart(|inner| inner.visit_expr(&binary.right));
        if right.is_empty() {
            return;
        }
        match binary.op {
            BinOp::And(_) | BinOp::Or(_) => {
                let (goes_on, stops) = if matches!(binary.op, BinOp::And(_)) {
                    ("yes", "no")
                } else {
                    ("no", "yes")
                };
                let question = self.question(&binary.left, false);
                let arms = vec![arm(goes_on, right), arm(stops, Sequence::new())];
                self.branch(question, arms, None, line(&binary.left));
            }
            _ => self.out.extend(right),
        }
    }

    pub(super) fn for_loop(&mut self, inner: &ExprForLoop) {
        self.visit_expr(&inner.expr);
        let body = self.block(&inner.body);
        let title = format!("for {} in {}", text(&inner.pat), text(&inner.expr));
        let name = label(inner.label.as_ref());
        self.repeat(title, LoopKind::For, name, body, line(&inner.for_token));
    }

    pub(super) fn while_loop(&mut self, inner: &ExprWhile) {
        let body = self.apart(|own| {
            own.visit_expr(&inner.cond);
            own.visit_block(&inner.body);
        });
        let asks = self.asks(&inner.cond);
        let title = if asks {
            "while".to_owned()
        } else {
            format!("while {}", text(&inner.cond))
        };
        let name = label(inner.label.as_ref());
        self.repeat(title, LoopKind::While, name, body, line(&inner.while_token));
    }

    pub(super) fn endless_loop(&mut self, inner: &ExprLoop) {
        let body = self.block(&inner.body);
        let name = label(inner.label.as_ref());
        self.repeat("loop".to_owned(), LoopKind::Loop, name, body, line(&inner.loop_token));
    }

    pub(super) fn plain_block(&mut self, block: &ExprBlock) {
        let Some(name) = label(block.label.as_ref()) else {
            return self.visit_block(&block.block);
        };
        let body = self.block(&block.block);
        let at = line(&block.block);
        self.repeat(format!("'{name}"), LoopKind::Once, Some(name), body, at);
    }

    pub(super) fn leave(&mut self, leave: &ExprReturn) {
        let mut failed = false;
        if let Some(value) = &leave.expr {
            self.visit_expr(value);
            failed = matches!(&**value, Expr::Call(call) if matches!(&*call.func, Expr::Path(path)
                if path.path.segments.last().is_some_and(|last| last.ident == "Err")));
        }
        self.out.push(Node::Exit(Exit::Return { failed }));
    }

    /// `…?`
    pub(super) fn attempt(&mut self, attempt: &ExprTry) {
        let before = self.out.len();
        self.gives = self.gives.take().map(|value| format!("{value}?"));
        self.visit_expr(&attempt.expr);
        self.gives = None;
        let waits = waits_at_the_end(&attempt.expr);
        if waits && self.out.len() > before {
            match self.out.last_mut() {
                Some(Node::Point(point)) => point.fallible = true,
                Some(Node::Region(region)) => region.fallible = true,
                Some(Node::Helper(helper)) => helper.fallible = true,
                _ => {}
            }
        }
    }

    fn branch(&mut self, question: String, arms: Vec<Arm>, patch: Option<String>, line: usize) {
        if patch.is_some() {
            self.out.push(Node::Branch(Branch {
                question,
                arms,
                patch,
                line,
            }));
            return;
        }
        let mut kept: Vec<Arm> = Vec::new();
        let mut idle: Vec<String> = Vec::new();
        let mut idle_at = None;
        for one in arms {
            if matches!(one.body.as_slice(), [Node::Exit(Exit::Never)]) {
                continue;
            }
            // All arms without checkpoints are one way.
            if one.body.is_empty() {
                idle_at.get_or_insert(kept.len());
                idle.push(one.label);
            } else {
                kept.push(one);
            }
        }
        if kept.is_empty() {
            return;
        }
        if let Some(place) = idle_at {
            kept.insert(place, arm(&idle.join(" | "), Sequence::new()));
        }
        let arms = kept;
        let question = question.trim().to_owned();
        self.out.push(Node::Branch(Branch {
            question,
            arms,
            patch,
            line,
        }));
    }

    fn repeat(&mut self, title: String, kind: LoopKind, name: Option<String>, body: Sequence, line: usize) {
        if kind == LoopKind::Once && !crate::graph::model::breaks(&body, name.as_deref()) {
            self.out.extend(body);
            return;
        }
        // A loop without checkpoints runs through within one turn, whatever it does.
        if body.iter().all(without_checkpoint) && (kind != LoopKind::Once || body.iter().all(is_local)) {
            return;
        }
        self.out.push(Node::Loop(Loop {
            title,
            kind,
            name,
            body,
            line,
        }));
    }

    /// Reads what a branch asks; true if it waits for that.
    fn asked(&mut self, question: &Expr) -> bool {
        let before = self.out.len();
        match question {
            Expr::Let(ExprLet { expr, .. }) => self.visit_expr(expr),
            other => self.visit_expr(other),
        }
        self.out.len() > before
    }

    fn asks(&mut self, question: &Expr) -> bool {
        !self.later(|inner| inner.visit_expr(question)).is_empty()
    }

    /// A question that waits is named by what it waited for: the code is in the picture already.
    fn question(&self, value: &Expr, waited: bool) -> String {
        let named = if waited {
            self.out.last().and_then(name_of)
        } else {
            None
        };
        named.unwrap_or_else(|| text(value))
    }
}

/// What is waited for last in a node.
fn name_of(node: &Node) -> Option<String> {
    match node {
        Node::Point(point) => Some(point.name.clone()),
        Node::Region(region) => Some(region.kind.word().to_owned()),
        Node::Helper(helper) => Some(helper.name.clone()),
        Node::Branch(branch) => branch.arms.iter().find_map(|arm| arm.body.last().and_then(name_of)),
        Node::Loop(_) | Node::Block(_) | Node::Draw(_) | Node::Bound(_) | Node::Exit(_) | Node::Past(_) => None,
    }
}

fn arm(label: &str, body: Sequence) -> Arm {
    Arm {
        label: label.to_owned(),
        body,
    }
}

fn without_checkpoint(node: &Node) -> bool {
    match node {
        Node::Exit(_) => true,
        Node::Past(past) => past.kind == crate::graph::model::PastKind::Retired,
        Node::Branch(branch) => branch.arms.iter().all(|arm| arm.body.iter().all(without_checkpoint)),
        Node::Loop(inner) => inner.body.iter().all(without_checkpoint),
        Node::Point(_) | Node::Draw(_) | Node::Region(_) | Node::Helper(_) | Node::Block(_) | Node::Bound(_) => false,
    }
}

/// Nothing in it leaves the function.
fn is_local(node: &Node) -> bool {
    match node {
        Node::Exit(Exit::Break(_)) => true,
        Node::Branch(branch) => branch.arms.iter().all(|arm| arm.body.iter().all(is_local)),
        _ => false,
    }
}

/// `….await`, maybe with methods of its value after it.
fn waits_at_the_end(value: &Expr) -> bool {
    match value {
        Expr::Await(_) => true,
        Expr::MethodCall(call) => waits_at_the_end(&call.receiver),
        Expr::Paren(inner) => waits_at_the_end(&inner.expr),
        _ => false,
    }
}
