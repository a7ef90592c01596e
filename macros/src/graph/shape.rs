//! The structure as canonical text: what a later version of the code must keep for instances in flight.
//!
//! One line for each checkpoint, scope and parting of ways, indented by how they nest. `steadfast::Shape` reads it back; the
//! words are the same there. Absent on purpose: what may change freely, such as conditions, variables, retries, timeouts of
//! steps, and source lines.

use std::fmt::Write;

use syn::{GenericArgument, ItemFn, PathArguments, Type};

use crate::args::Args;
use crate::graph::label::text;
use crate::graph::model::{Branch, Exit, Loop, LoopKind, Node, PastKind, Point, PointKind, Region, falls_through};
use crate::model::{self, Parameter};

pub(crate) fn shape(function: &ItemFn, args: &Args, structure: &[Node]) -> String {
    let mut shape = Shape {
        text: String::new(),
        depth: 0,
    };
    let name = quoted(&args.name_or(&function.sig.ident));
    shape.line(&format!("workflow {name} version {}", args.version()));
    shape.depth = 1;
    let inputs: Vec<String> = model::parameters(&function.sig)
        .into_iter()
        .filter_map(|parameter| match parameter {
            Parameter::Input { kind, .. } => Some(text(kind)),
            Parameter::State { .. } | Parameter::Receiver(_) => None,
        })
        .collect();
    shape.line(&format!("input ({})", inputs.join(", ")));
    shape.line(&format!(
        "output {}",
        model::output(&function.sig).map(value_of).unwrap_or_default()
    ));
    shape.sequence(&canonical(structure.to_vec(), true));
    shape.text
}

/// `T` of `Result<T, E>`; any other type as it is written.
fn value_of(output: &Type) -> String {
    let Type::Path(path) = steadfast_analysis::bare(output) else {
        return text(output);
    };
    match path.path.segments.last() {
        Some(last) if last.ident == "Result" => match &last.arguments {
            PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
                Some(GenericArgument::Type(value)) => text(value),
                _ => text(output),
            },
            _ => text(output),
        },
        _ => text(output),
    }
}

/// Code that is written differently and does the same has the same shape: a `return` at the very end is none, a branch
/// whose arms do nothing is none, and draws of chance that follow each other have no order.
fn canonical(mut sequence: Vec<Node>, last: bool) -> Vec<Node> {
    let mut kept: Vec<Node> = Vec::new();
    let count = sequence.len();
    for (place, node) in sequence.drain(..).enumerate() {
        let last = last && place + 1 == count;
        match node {
            Node::Exit(Exit::Return { .. }) if last => {}
            Node::Branch(branch) => {
                let arms = branch.arms.into_iter().map(|mut arm| {
                    arm.body = canonical(arm.body, last);
                    arm
                });
                let arms: Vec<_> = arms.collect();
                if branch.patch.is_some() || arms.iter().any(|arm| !arm.body.is_empty()) {
                    kept.push(Node::Branch(Branch { arms, ..branch }));
                }
            }
            Node::Loop(inner) => {
                let body = canonical(inner.body, false);
                kept.push(Node::Loop(Loop { body, ..inner }));
            }
            Node::Region(region) => {
                let branches = region.branches.into_iter().map(|branch| canonical(branch, false));
                let branches = branches.collect();
                kept.push(Node::Region(Region { branches, ..region }));
            }
            Node::Block(mut block) => {
                block.body = canonical(block.body, true);
                kept.push(Node::Block(block));
            }
            Node::Draw(what) => {
                let draws = kept
                    .iter()
                    .rev()
                    .take_while(|node| matches!(node, Node::Draw(_)))
                    .count();
                let place = (kept.len() - draws..kept.len())
                    .find(|at| matches!(kept.get(*at), Some(Node::Draw(other)) if *other > what))
                    .unwrap_or(kept.len());
                kept.insert(place, Node::Draw(what));
            }
            Node::Exit(Exit::Never) | Node::Bound(_) => {}
            other => kept.push(other),
        }
    }
    kept
}

struct Shape {
    text: String,
    depth: usize,
}

impl Shape {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{}", "  ".repeat(self.depth), line.trim_end());
    }

    fn inside(&mut self, line: &str, sequence: &[Node]) {
        self.line(line);
        self.depth += 1;
        self.sequence(sequence);
        self.depth -= 1;
    }

    fn sequence(&mut self, sequence: &[Node]) {
        sequence.iter().for_each(|node| self.node(node));
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Point(point) => self.line(&self::point(point)),
            Node::Draw(what) => self.line(what),
            Node::Helper(helper) => self.line(&format!("call {}", helper.name)),
            Node::Block(block) => match block.bound {
                Some(number) => self.inside(&format!("block {number}"), &block.body),
                None => self.inside("block", &block.body),
            },
            Node::Branch(branch) => self.branch(branch),
            Node::Loop(inner) => {
                let word = match inner.kind {
                    LoopKind::Once => "once",
                    LoopKind::For | LoopKind::While => "loop",
                    LoopKind::Loop if falls_through(std::slice::from_ref(node)) => "loop",
                    LoopKind::Loop => "forever",
                };
                self.inside(word, &inner.body);
            }
            Node::Region(region) => {
                self.line(region.kind.word());
                self.depth += 1;
                region.branches.iter().for_each(|branch| self.inside("branch", branch));
                self.depth -= 1;
            }
            Node::Past(past) => {
                let name = quoted(&past.name);
                self.line(&match past.kind {
                    PastKind::Removed(kind) => {
                        let keyed = if past.keyed { " keyed" } else { "" };
                        format!("removed {} {name}{keyed}", word(kind))
                    }
                    PastKind::Retired => format!("retired {name}"),
                });
            }
            Node::Exit(Exit::Return { .. }) => self.line("return"),
            Node::Exit(Exit::Break(_)) => self.line("break"),
            Node::Exit(Exit::Continue(_)) => self.line("continue"),
            Node::Exit(Exit::Never) | Node::Bound(_) => {}
        }
    }

    fn branch(&mut self, branch: &Branch) {
        let idle = branch.arms.iter().filter(|arm| arm.body.is_empty()).count();
        match &branch.patch {
            Some(name) => {
                self.line(&format!("patched {}", quoted(name)));
                self.depth += 1;
                for (word, arm) in ["new", "old"].iter().zip(&branch.arms) {
                    self.inside(word, &arm.body);
                }
                self.depth -= 1;
            }
            None => {
                self.line("branch");
                self.depth += 1;
                let busy = branch.arms.iter().filter(|arm| !arm.body.is_empty());
                busy.for_each(|arm| self.inside("arm", &arm.body));
                if idle > 0 {
                    self.line("arm");
                }
                self.depth -= 1;
            }
        }
    }
}

fn point(point: &Point) -> String {
    let mut line = format!("{} {}", word(point.kind), quoted(&point.name));
    if point.keyed {
        line.push_str(" keyed");
    }
    if point.kind == PointKind::Signal && point.time.is_some() {
        line.push_str(" timed");
    }
    if let Some(gives) = &point.gives {
        line.push_str(" -> ");
        line.push_str(gives);
    }
    line
}

fn word(kind: PointKind) -> &'static str {
    match kind {
        PointKind::Step => "step",
        PointKind::Sleep => "sleep",
        PointKind::Signal => "signal",
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}
