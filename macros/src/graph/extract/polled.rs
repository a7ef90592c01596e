//! What runs where it is awaited, joined or raced: blocks, combinators, variables that hold them, calls of helpers.

use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprClosure, ExprMethodCall, Path, Stmt};

use crate::graph::extract::{Extract, line};
use crate::graph::label::{short, text};
use crate::graph::model::{Helper, Node, Region, RegionKind, Sequence};
use steadfast_analysis::code::known::{self, Piece};
use steadfast_analysis::names::Meaning;

impl Extract<'_> {
    /// A value that is awaited here, or by what stands around it.
    pub(super) fn polled(&mut self, value: &Expr) {
        let gives = self.gives.take();
        let before = self.out.len();
        self.polled_value(value);
        if self.out.len() == before + 1
            && let Some(Node::Point(point)) = self.out.last_mut()
        {
            point.gives = gives.and_then(|declared| given(&declared, point));
        }
    }

    fn polled_value(&mut self, value: &Expr) {
        match value {
            Expr::Paren(inner) => self.polled_value(&inner.expr),
            Expr::Group(inner) => self.polled_value(&inner.expr),
            Expr::Reference(inner) => self.polled_value(&inner.expr),
            Expr::Path(path) => {
                let name = path.path.get_ident().map(|name| name.unraw().to_string());
                let known = name.is_some_and(|name| self.use_of(&name));
                if !known {
                    // A parameter, or what a pattern took out: its name is a variable's, and no part of the shape.
                    self.push_helper(without_generics(&path.path), "?".to_owned(), line(path));
                }
            }
            Expr::Call(_) | Expr::MethodCall(_) => self.polled_call(value),
            other => self.visit_expr(other),
        }
    }

    pub(super) fn polled_call(&mut self, value: &Expr) {
        if self.checkpoint(value) {
            return;
        }
        match value {
            Expr::Call(call) => match &*call.func {
                Expr::Path(function) if is_pin(&function.path) => call.args.iter().for_each(|value| self.polled(value)),
                Expr::Path(function) => {
                    if !self.combinator(call) {
                        call.args.iter().for_each(|value| self.visit_expr(value));
                        self.helper(&function.path);
                    }
                }
                _ => visit::visit_expr_call(self, call),
            },
            // Options of something that a variable or a block holds: `wait.timeout(…)`.
            Expr::MethodCall(call) if self.holds(&call.receiver) => {
                call.args.iter().for_each(|value| self.visit_expr(value));
                self.polled(&call.receiver);
            }
            Expr::MethodCall(call) => {
                self.visit_expr(&call.receiver);
                call.args.iter().for_each(|value| self.visit_expr(value));
                self.helper_of(value);
            }
            other => self.visit_expr(other),
        }
    }

    /// The call itself, without its arguments.
    pub(super) fn helper_of(&mut self, call: &Expr) {
        match call {
            Expr::Call(call) => {
                if let Expr::Path(function) = &*call.func {
                    self.helper(&function.path);
                }
            }
            Expr::MethodCall(call) => {
                let (path, name) = (method_path(call), call.method.unraw().to_string());
                self.push_helper(path, name, line(&call.method));
            }
            _ => {}
        }
    }

    /// Whether what stands before a method is durable itself.
    fn holds(&self, receiver: &Expr) -> bool {
        match receiver {
            Expr::Path(path) => path
                .path
                .get_ident()
                .is_some_and(|name| self.bound.contains_key(&name.unraw().to_string())),
            other => self.constructs(other),
        }
    }

    /// A call that nothing awaits, for all one can see.
    pub(super) fn plain_call(&mut self, call: &ExprCall) {
        if !self.combinator(call) {
            visit::visit_expr_call(self, call);
        }
    }

    pub(super) fn plain_method_call(&mut self, call: &ExprMethodCall) {
        let value = Expr::MethodCall(call.clone());
        if !self.checkpoint(&value) {
            visit::visit_expr_method_call(self, call);
        }
    }

    /// `map_concurrent(…)` and its like; false for any other call.
    fn combinator(&mut self, call: &ExprCall) -> bool {
        let Expr::Path(function) = &*call.func else {
            return false;
        };
        let Some(kind) = self.combinator_kind(&function.path) else {
            return false;
        };
        let mut branches = Vec::new();
        for argument in &call.args {
            match argument {
                Expr::Closure(closure) => branches.push(self.round(closure)),
                Expr::Array(list) => {
                    branches.extend(list.elems.iter().map(|value| self.later(|own| own.polled(value))))
                }
                // Our function may be given by its name.
                Expr::Path(path) if Some(argument) == call.args.last() => {
                    let name = path.path.get_ident().map(|name| name.unraw().to_string());
                    let bound = name.is_some_and(|name| self.bound.contains_key(&name));
                    if bound {
                        branches.push(self.later(|inner| inner.polled(argument)));
                    } else if call.args.len() > 1 {
                        branches.push(self.later(|inner| inner.helper(&path.path)));
                    }
                }
                Expr::Macro(list) if known::is_known(&list.mac) => {
                    for piece in known::pieces(&list.mac) {
                        if let Piece::Expression { expression, .. } = piece {
                            branches.push(self.later(|own| own.polled(&expression)));
                        }
                    }
                }
                other => {
                    let rounds = self.later(|inner| Rounds(inner, Last::Yes).visit_expr(other));
                    if !rounds.is_empty() {
                        branches.push(rounds);
                    }
                }
            }
        }
        let title = combinator_title(kind, call);
        let line = line(call);
        self.out.push(Node::Region(Region {
            kind,
            title,
            branches,
            fallible: false,
            line,
        }));
        true
    }

    fn combinator_kind(&self, path: &Path) -> Option<RegionKind> {
        let kind = RegionKind::function(&path.segments.last()?.ident.unraw().to_string())?;
        match self.names.meaning(path) {
            Meaning::Own => None,
            Meaning::Foreign(path) => {
                let first = path.first().map(String::as_str).unwrap_or_default();
                (!matches!(first, "futures" | "futures_util" | "tokio" | "std")).then_some(kind)
            }
            Meaning::Unknown(_) => Some(kind),
        }
    }

    /// One round: what the closure makes is awaited by the combinator.
    fn round(&mut self, closure: &ExprClosure) -> Sequence {
        self.later(|inner| match &*closure.body {
            Expr::Block(block) => {
                let Some((Stmt::Expr(tail, None), before)) = block.block.stmts.split_last() else {
                    return inner.visit_block(&block.block);
                };
                before.iter().for_each(|statement| inner.visit_stmt(statement));
                inner.polled(tail);
            }
            body => inner.polled(body),
        })
    }

    fn helper(&mut self, path: &Path) {
        let name = path.segments.last().map(|last| last.ident.unraw().to_string());
        self.push_helper(without_generics(path), name.unwrap_or_default(), line(path));
    }

    fn push_helper(&mut self, path: String, name: String, line: usize) {
        self.out.push(Node::Helper(Helper {
            path,
            name,
            fallible: false,
            line,
        }));
    }
}

/// Looks for `.map(|item| …)` in what a combinator is given.
struct Rounds<'e, 'n>(&'e mut Extract<'n>, Last);

/// Whether the method at hand is the one that gives the combinator its items. Others before it only prepare values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Yes,
    No,
}

impl<'ast> Visit<'ast> for Rounds<'_, '_> {
    fn visit_expr(&mut self, value: &'ast Expr) {
        match value {
            Expr::MethodCall(call) if call.method == "map" && self.1 == Last::Yes => {
                Rounds(self.0, Last::No).visit_expr(&call.receiver);
                for argument in &call.args {
                    match argument {
                        Expr::Closure(closure) => {
                            let round = self.0.round(closure);
                            self.0.out.extend(round);
                        }
                        Expr::Path(path) => self.0.helper(&path.path),
                        other => self.0.visit_expr(other),
                    }
                }
            }
            Expr::MethodCall(call) => {
                self.visit_expr(&call.receiver);
                call.args.iter().for_each(|value| self.0.visit_expr(value));
            }
            Expr::Path(path) => {
                let name = path.path.get_ident().map(|name| name.unraw().to_string());
                if let Some(name) = name.filter(|name| matches!(self.0.bound.get(name), Some(super::Bound::Body(_)))) {
                    self.0.use_of(&name);
                }
            }
            other => self.0.visit_expr(other),
        }
    }
}

/// The type that a checkpoint gives, from the declared type of the value: with `?` it is the `Ok` side.
fn given(declared: &str, point: &crate::graph::model::Point) -> Option<String> {
    use crate::graph::model::PointKind;
    let wrapped = match point.kind {
        PointKind::Step => true,
        PointKind::Signal => point.time.is_some(),
        PointKind::Sleep => return None,
    };
    match declared.strip_suffix('?') {
        Some(value) => wrapped.then(|| value.to_owned()),
        None if wrapped => first_argument(declared),
        None => Some(declared.to_owned()),
    }
    .filter(|given| given != "_")
}

/// `T` of `Result<T, E>`.
fn first_argument(declared: &str) -> Option<String> {
    let syn::Type::Path(kind) = syn::parse_str(declared).ok()? else {
        return None;
    };
    let last = kind.path.segments.last().filter(|last| last.ident == "Result")?;
    match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments) => arguments.args.first().map(text),
        _ => None,
    }
}

fn is_pin(path: &Path) -> bool {
    path.segments.len() >= 2 && path.segments.last().is_some_and(|last| last.ident == "pin")
}

fn without_generics(path: &Path) -> String {
    let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    names.join("::")
}

/// `shop.pack`; what stands before the method only as far as it is short.
fn method_path(call: &ExprMethodCall) -> String {
    let receiver = text(&call.receiver);
    if receiver.chars().count() > 24 {
        format!("{}.{}", short(&receiver, 24), call.method)
    } else {
        format!("{receiver}.{}", call.method)
    }
}

/// `map_concurrent(&order.lines, 3)`: what is done for each, and how many at once.
fn combinator_title(kind: RegionKind, call: &ExprCall) -> String {
    let arguments: Vec<String> = call
        .args
        .iter()
        .filter(|value| !matches!(value, Expr::Closure(_)))
        .map(text)
        .collect();
    match kind {
        RegionKind::MapConcurrent | RegionKind::MapConcurrentAll => {
            format!("{}({})", kind.word(), arguments.join(", "))
        }
        _ => kind.word().to_owned(),
    }
}
