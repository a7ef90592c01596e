//! Our macros, with the options that follow them.

use proc_macro2::TokenTree;
use syn::ext::IdentExt;
use syn::visit::Visit;
use syn::{Expr, ExprMethodCall, LitStr, Macro, UnOp};

use crate::graph::extract::{Bound, Extract, last_name, line};
use crate::graph::label::text;
use crate::graph::model::{Arm, Branch, Exit, Node, Past, PastKind, Point, PointKind, Region, RegionKind};
use steadfast_analysis::check::body::string_literal;
use steadfast_analysis::code::checkpoint::{Checkpoint, Kind};
use steadfast_analysis::code::known::{self, Piece};

/// The string literal that a macro call begins with, maybe after a word.
fn first_name(mac: &Macro) -> Option<String> {
    let parse = |input: syn::parse::ParseStream<'_>| {
        input.parse::<Option<syn::Ident>>()?;
        let name: LitStr = input.parse()?;
        input.parse::<proc_macro2::TokenStream>()?;
        Ok(name.value())
    };
    syn::parse::Parser::parse2(parse, mac.tokens.clone()).ok()
}

fn first_word(mac: &Macro) -> Option<String> {
    match mac.tokens.clone().into_iter().next() {
        Some(TokenTree::Ident(word)) => Some(word.to_string()),
        _ => None,
    }
}

/// The macro that a chain of methods begins with, and the methods in their order.
fn chain<'e>(mut value: &'e Expr, methods: &mut Vec<&'e ExprMethodCall>) -> Option<&'e Macro> {
    loop {
        match value {
            Expr::MethodCall(call) => {
                methods.insert(0, call);
                value = &call.receiver;
            }
            Expr::Paren(inner) => value = &inner.expr,
            Expr::Group(inner) => value = &inner.expr,
            Expr::Macro(call) => return Some(&call.mac),
            _ => return None,
        }
    }
}

impl Extract<'_> {
    /// `patched!("…")`, itself or in a variable, and whether it is negated.
    pub(super) fn patch(&self, condition: &Expr) -> Option<(String, bool)> {
        match condition {
            Expr::Macro(call) if last_name(&call.mac) == "patched" => Some((first_name(&call.mac)?, false)),
            Expr::Path(path) => match self.bound.get(&path.path.get_ident()?.unraw().to_string())? {
                Bound::Patch(name) => Some((name.clone(), false)),
                Bound::Body(_) | Bound::Call(_) => None,
            },
            Expr::Unary(not) if matches!(not.op, UnOp::Not(_)) => {
                let (name, negated) = self.patch(&not.expr)?;
                Some((name, !negated))
            }
            Expr::Paren(inner) => self.patch(&inner.expr),
            Expr::Group(inner) => self.patch(&inner.expr),
            _ => None,
        }
    }

    /// A checkpoint with its options; false for anything else.
    pub(super) fn checkpoint(&mut self, value: &Expr) -> bool {
        let mut methods = Vec::new();
        let Some(mac) = chain(value, &mut methods) else {
            return false;
        };
        if last_name(mac) == "removed" {
            self.past(mac, methods.iter().any(|method| method.method == "key"));
            return true;
        }
        let Some(kind) = Kind::of(&mac.path, self.names) else {
            return false;
        };
        let Ok(checkpoint) = Checkpoint::parse(kind, mac.tokens.clone()) else {
            return false;
        };
        for argument in methods.iter().flat_map(|method| &method.args) {
            self.visit_expr(argument);
        }
        let before = self.out.len();
        self.point_of(checkpoint, mac, &methods);
        self.out.len() > before
    }

    fn point_of(&mut self, checkpoint: Checkpoint, mac: &Macro, methods: &[&ExprMethodCall]) {
        let at = line(&mac.path);
        match checkpoint {
            Checkpoint::Step { name, .. } => self.point(PointKind::Step, &name, None, methods, at),
            Checkpoint::Sleep { name, deadline } => {
                self.visit_expr(&deadline);
                self.point(PointKind::Sleep, &name, Some(text(&deadline)), methods, at);
            }
            Checkpoint::Signal { name } => {
                let timeout = methods.iter().rfind(|method| method.method == "timeout");
                let time = timeout.and_then(|method| method.args.first()).map(text);
                self.point(PointKind::Signal, &name, time, methods, at);
            }
            Checkpoint::Group { kind, branches } => {
                let kind = match kind {
                    Kind::Race => RegionKind::Race,
                    Kind::TryJoin => RegionKind::TryJoin,
                    _ => RegionKind::Join,
                };
                let branches = branches
                    .iter()
                    .map(|branch| self.later(|inner| inner.polled(branch)))
                    .collect();
                self.out.push(Node::Region(Region {
                    kind,
                    title: format!("{}!", kind.word()),
                    branches,
                    fallible: false,
                    line: at,
                }));
            }
            Checkpoint::Recorded { kind, range } => {
                if let Some(range) = &range {
                    self.visit_expr(range);
                }
                match kind {
                    Kind::Random => self.out.push(Node::Draw("random")),
                    Kind::Uuid => self.out.push(Node::Draw("uuid")),
                    _ => {}
                }
            }
            #[allow(unreachable_patterns)]
            _ => {}
        }
    }

    fn point(&mut self, kind: PointKind, name: &Expr, time: Option<String>, methods: &[&ExprMethodCall], line: usize) {
        let Some(name) = string_literal(name) else { return };
        self.out.push(Node::Point(Point {
            kind,
            name: name.value(),
            time,
            keyed: methods.iter().any(|method| method.method == "key"),
            fallible: false,
            gives: None,
            line,
        }));
    }

    /// `retired!("…")`, and `removed!("…")`, which tells the kind of checkpoint if it was no step.
    fn past(&mut self, mac: &Macro, keyed: bool) {
        let kind = match (last_name(mac).as_str(), first_word(mac).as_deref()) {
            ("retired", _) => PastKind::Retired,
            (_, Some("sleep")) => PastKind::Removed(PointKind::Sleep),
            (_, Some("signal")) => PastKind::Removed(PointKind::Signal),
            (_, _) => PastKind::Removed(PointKind::Step),
        };
        if let Some(name) = first_name(mac) {
            let line = line(&mac.path);
            self.out.push(Node::Past(Past {
                kind,
                name,
                keyed,
                line,
            }));
        }
    }

    /// Any macro, where nothing follows it.
    pub(super) fn call_of_macro(&mut self, mac: &Macro) {
        let name = last_name(mac);
        match name.as_str() {
            "removed" | "retired" => self.past(mac, false),
            // Its answer goes somewhere else than into an `if`.
            "patched" => {
                if let Some(name) = first_name(mac) {
                    let sides = ["after", "before"].map(|label| Arm {
                        label: label.to_owned(),
                        body: Vec::new(),
                    });
                    self.out.push(Node::Branch(Branch {
                        question: name.clone(),
                        arms: sides.into(),
                        patch: Some(name),
                        line: line(&mac.path),
                    }));
                }
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => self.out.push(Node::Exit(Exit::Never)),
            _ if Kind::of(&mac.path, self.names).is_some() => {
                let call = Expr::Macro(syn::ExprMacro {
                    attrs: Vec::new(),
                    mac: mac.clone(),
                });
                self.checkpoint(&call);
            }
            _ if known::is_known(mac) => {
                for piece in known::pieces(mac) {
                    if let Piece::Expression { expression, .. } = piece {
                        self.visit_expr(&expression);
                    }
                }
                if name == "bail" {
                    self.out.push(Node::Exit(Exit::Return { failed: true }));
                }
            }
            _ => {}
        }
    }

    /// Whether the value does nothing until it is awaited, for all one can see.
    pub(super) fn constructs(&self, value: &Expr) -> bool {
        match value {
            Expr::Async(_) | Expr::Closure(_) => true,
            Expr::Macro(call) => match Kind::of(&call.mac.path, self.names) {
                Some(kind) => matches!(
                    kind,
                    Kind::Step | Kind::Sleep | Kind::Signal | Kind::Join | Kind::TryJoin | Kind::Race
                ),
                None => {
                    known::is_known(&call.mac)
                        && known::pieces(&call.mac).iter().any(|piece| match piece {
                            Piece::Expression { expression, .. } => self.constructs(expression),
                            Piece::Other(_) => false,
                        })
                }
            },
            Expr::MethodCall(call) => {
                self.constructs(&call.receiver) || call.args.iter().any(|value| self.constructs(value))
            }
            Expr::Call(call) => call.args.iter().any(|value| self.constructs(value)),
            Expr::Array(list) => list.elems.iter().any(|value| self.constructs(value)),
            Expr::Paren(inner) => self.constructs(&inner.expr),
            Expr::Group(inner) => self.constructs(&inner.expr),
            Expr::Reference(inner) => self.constructs(&inner.expr),
            _ => false,
        }
    }
}
