//! Reads the structure out of a function's body. It reads the code as it was written, in the order in which it runs.
//! Absent on purpose: judgement. What it does not understand has been reported by others, or holds no checkpoint.

mod checkpoint;
mod flow;
mod polled;

use std::collections::BTreeMap;

use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, Expr, Item, Label, Lifetime, Local, Macro, Pat, PatIdent, Stmt};

use crate::graph::model::{Block as BlockNode, Exit, Node, Sequence};
use steadfast_analysis::names::Names;

/// What `block` does, with everything left out that has no checkpoint in it.
pub(crate) fn extract(block: &Block, names: &Names) -> Sequence {
    let mut extract = Extract {
        names,
        out: Vec::new(),
        bound: BTreeMap::new(),
        bodies: Vec::new(),
        waited: false,
        gives: None,
    };
    extract.visit_block(block);
    let Extract { mut out, bodies, .. } = extract;
    settle(&mut out, &bodies);
    out
}

/// What a variable holds that has not run yet.
#[derive(Clone)]
enum Bound {
    /// The number of its body.
    Body(usize),
    /// A call, which counts if it is awaited.
    Call(Expr),
    /// The answer of `patched!("…")`.
    Patch(String),
}

struct Body {
    nodes: Sequence,
    used: bool,
}

struct Extract<'n> {
    names: &'n Names,
    /// Where nodes go.
    out: Sequence,
    bound: BTreeMap<String, Bound>,
    bodies: Vec<Body>,
    /// Whether something was awaited, outside of closures and blocks.
    waited: bool,
    /// The type of the value that the expression under way gives, if it was declared.
    gives: Option<String>,
}

impl Extract<'_> {
    /// What `read` finds, apart from what was found before.
    fn apart(&mut self, read: impl FnOnce(&mut Self)) -> Sequence {
        let before = std::mem::take(&mut self.out);
        read(self);
        std::mem::replace(&mut self.out, before)
    }

    /// The same for code that does not run here and now.
    fn later(&mut self, read: impl FnOnce(&mut Self)) -> Sequence {
        let waited = self.waited;
        let nodes = self.apart(read);
        self.waited = waited;
        nodes
    }

    fn block(&mut self, block: &Block) -> Sequence {
        self.apart(|inner| inner.visit_block(block))
    }

    /// `async { … }`
    fn durable_block(&mut self, block: &Block) {
        let body = self.later(|inner| inner.visit_block(block));
        self.out.push(Node::Block(BlockNode { bound: None, body }));
    }

    /// `let name = …` of something that does not run until it is awaited.
    fn bind(&mut self, local: &Local) {
        let name = plain_name(&local.pat);
        let Some(init) = &local.init else { return };
        if let (Some(name), Some((patch, false)), false) = (&name, self.patch(&init.expr), is_mutable(&local.pat)) {
            self.bound.insert(name.clone(), Bound::Patch(patch));
            return;
        }
        let gives = declared(&local.pat);
        if let Some(name) = &name
            && self.constructs(&init.expr)
        {
            let waited = std::mem::replace(&mut self.waited, false);
            let nodes = self.apart(|inner| inner.visit_expr(&init.expr));
            let runs = std::mem::replace(&mut self.waited, waited);
            if runs {
                self.waited = true;
                self.out.extend(nodes);
            } else if !nodes.is_empty() {
                self.out.push(Node::Bound(self.bodies.len()));
                self.bound.insert(name.clone(), Bound::Body(self.bodies.len()));
                self.bodies.push(Body { nodes, used: false });
                return;
            }
        } else {
            self.gives = gives;
            self.visit_expr(&init.expr);
            self.gives = None;
        }
        let mut shadowed = Shadowed(&mut self.bound);
        shadowed.visit_pat(&local.pat);
        if let (Some(name), Expr::Call(_) | Expr::MethodCall(_)) = (&name, &*init.expr) {
            self.bound.insert(name.clone(), Bound::Call((*init.expr).clone()));
        }
        if let Some((_, diverge)) = &init.diverge {
            self.let_else(&local.pat, &init.expr, diverge);
        }
    }

    /// Runs here what `name` holds, if it holds anything.
    fn use_of(&mut self, name: &str) -> bool {
        match self.bound.get(name).cloned() {
            Some(Bound::Body(number)) => {
                if let Some(body) = self.bodies.get_mut(number) {
                    body.used = true;
                    let nodes = body.nodes.clone();
                    self.out.extend(nodes.into_iter().map(|node| numbered(node, number)));
                }
                true
            }
            Some(Bound::Call(call)) => {
                self.helper_of(&call);
                true
            }
            Some(Bound::Patch(_)) | None => false,
        }
    }
}

/// A block that is bound to a variable is constructed elsewhere, and its scope is numbered there.
fn numbered(node: Node, number: usize) -> Node {
    match node {
        Node::Block(block) => Node::Block(BlockNode {
            bound: Some(number),
            ..block
        }),
        other => other,
    }
}

/// What is bound and never awaited stands where it is bound, for want of a better place. What is bound and awaited leaves
/// nothing there.
fn settle(sequence: &mut Sequence, bodies: &[Body]) {
    let mut settled = Sequence::new();
    for mut node in sequence.drain(..) {
        match &mut node {
            Node::Bound(number) => {
                if let Some(Body { nodes, used: false }) = bodies.get(*number) {
                    let mut nodes = nodes.clone();
                    settle(&mut nodes, bodies);
                    settled.extend(nodes);
                }
                continue;
            }
            Node::Branch(branch) => branch.arms.iter_mut().for_each(|arm| settle(&mut arm.body, bodies)),
            Node::Loop(inner) => settle(&mut inner.body, bodies),
            Node::Region(region) => region.branches.iter_mut().for_each(|branch| settle(branch, bodies)),
            Node::Block(block) => settle(&mut block.body, bodies),
            Node::Point(_) | Node::Draw(_) | Node::Helper(_) | Node::Exit(_) | Node::Past(_) => {}
        }
        settled.push(node);
    }
    *sequence = settled;
}

impl<'ast> Visit<'ast> for Extract<'_> {
    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        match statement {
            Stmt::Local(local) => self.bind(local),
            Stmt::Macro(statement) => self.call_of_macro(&statement.mac),
            Stmt::Expr(..) | Stmt::Item(_) => visit::visit_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        // A declared type is that of the whole value, not of its parts.
        let whole = matches!(
            expression,
            Expr::Await(_) | Expr::Try(_) | Expr::Paren(_) | Expr::Group(_)
        );
        if !whole {
            self.gives = None;
        }
        match expression {
            Expr::Async(block) => self.durable_block(&block.block),
            Expr::Await(wait) => {
                self.polled(&wait.base);
                self.waited = true;
            }
            Expr::Binary(binary) => self.binary(binary),
            Expr::Block(block) => self.plain_block(block),
            Expr::Break(leave) => {
                visit::visit_expr_break(self, leave);
                self.out
                    .push(Node::Exit(Exit::Break(leave.label.as_ref().map(lifetime))));
            }
            Expr::Call(call) => self.plain_call(call),
            Expr::Closure(closure) => {
                let mut nodes = self.later(|inner| inner.visit_expr(&closure.body));
                without_returns(&mut nodes);
                self.out.extend(nodes);
            }
            Expr::Continue(leave) => {
                self.out
                    .push(Node::Exit(Exit::Continue(leave.label.as_ref().map(lifetime))));
            }
            Expr::ForLoop(inner) => self.for_loop(inner),
            Expr::If(choice) => self.choice(choice),
            Expr::Loop(inner) => self.endless_loop(inner),
            Expr::Macro(call) => self.call_of_macro(&call.mac),
            Expr::Match(choice) => self.match_of(choice),
            Expr::MethodCall(call) => self.plain_method_call(call),
            Expr::Return(leave) => self.leave(leave),
            Expr::Try(attempt) => self.attempt(attempt),
            Expr::While(inner) => self.while_loop(inner),
            other => visit::visit_expr(self, other),
        }
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}

/// A `return` in a closure leaves the closure.
fn without_returns(nodes: &mut Sequence) {
    nodes.retain_mut(|node| match node {
        Node::Exit(Exit::Return { .. }) => false,
        Node::Branch(branch) => {
            branch.arms.iter_mut().for_each(|arm| without_returns(&mut arm.body));
            branch.arms.iter().any(|arm| !arm.body.is_empty())
        }
        Node::Loop(inner) => {
            without_returns(&mut inner.body);
            true
        }
        _ => true,
    });
}

/// Forgets what the variables of a pattern held before.
struct Shadowed<'b>(&'b mut BTreeMap<String, Bound>);

impl<'ast> Visit<'ast> for Shadowed<'_> {
    fn visit_pat_ident(&mut self, name: &'ast PatIdent) {
        self.0.remove(&name.ident.unraw().to_string());
    }
}

fn lifetime(lifetime: &Lifetime) -> String {
    lifetime.ident.to_string()
}

fn label(label: Option<&Label>) -> Option<String> {
    label.map(|label| lifetime(&label.name))
}

/// The line in the source file; 0 where there is no compiler to tell it.
pub(crate) fn line(place: &impl Spanned) -> usize {
    if proc_macro::is_available() {
        place.span().unwrap().line()
    } else {
        0
    }
}

/// `name`, `mut name`, `name: T`
fn plain_name(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::Ident(name) if name.subpat.is_none() => Some(name.ident.unraw().to_string()),
        Pat::Type(typed) => plain_name(&typed.pat),
        _ => None,
    }
}

/// `mut name`
fn is_mutable(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(name) => name.mutability.is_some(),
        Pat::Type(typed) => is_mutable(&typed.pat),
        _ => false,
    }
}

/// The type in `let name: T = …`.
fn declared(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::Type(typed) => Some(crate::graph::label::text(&typed.ty)),
        Pat::Tuple(tuple) if tuple.elems.is_empty() => Some("()".to_owned()),
        _ => None,
    }
}

/// The last name of a macro's path.
fn last_name(mac: &Macro) -> String {
    mac.path
        .segments
        .last()
        .map(|last| last.ident.unraw().to_string())
        .unwrap_or_default()
}
