//! The structure as a list of nodes and a list of edges: what `Workflow::graph()` gives.
//! Absent on purpose: positions, which are `layout`'s.

use crate::graph::model::{
    Branch, Exit, Loop, LoopKind, Node, Past, PastKind, Point, PointKind, Region, RegionKind, breaks,
};

/// A variant of the runtime's `GraphNodeKind`, by name.
pub(crate) type Kind = &'static str;

pub(crate) struct FlatNode {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) line: usize,
    /// The region or loop that it is in.
    pub(crate) parent: Option<usize>,
}

pub(crate) struct FlatEdge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) kind: Way,
    pub(crate) label: String,
}

/// A variant of the runtime's `GraphEdgeKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Next,
    Arm,
    LoopBack,
    Error,
    Parallel,
}

impl Way {
    pub(crate) fn variant(self) -> &'static str {
        match self {
            Self::Next => "Next",
            Self::Arm => "Arm",
            Self::LoopBack => "LoopBack",
            Self::Error => "Error",
            Self::Parallel => "Parallel",
        }
    }
}

#[derive(Default)]
pub(crate) struct Flat {
    pub(crate) nodes: Vec<FlatNode>,
    pub(crate) edges: Vec<FlatEdge>,
}

/// Stand for the ends until they have numbers.
const END: usize = usize::MAX;
const FAILED: usize = usize::MAX - 1;

/// An edge that begins, and ends wherever the code goes on.
#[derive(Clone)]
struct Open {
    from: usize,
    way: Way,
    label: String,
}

impl Open {
    fn next(from: usize) -> Self {
        Self {
            from,
            way: Way::Next,
            label: String::new(),
        }
    }
}

/// Where one is.
#[derive(Clone, Copy)]
struct Around {
    parent: Option<usize>,
    /// Inside a block that is a branch, `return` and `?` end that branch.
    region: Option<usize>,
}

struct LoopAround {
    name: Option<String>,
    kind: LoopKind,
    number: usize,
    breaks: Vec<Open>,
}

struct Flatten {
    flat: Flat,
    loops: Vec<LoopAround>,
}

pub(crate) fn flatten(name: &str, line: usize, structure: &[Node]) -> Flat {
    let mut flatten = Flatten {
        flat: Flat::default(),
        loops: Vec::new(),
    };
    let around = Around {
        parent: None,
        region: None,
    };
    let start = flatten.add("Start", name, name, line, around);
    let open = flatten.sequence(structure, vec![Open::next(start)], around);
    flatten.connect(open, END);
    flatten.finish(line)
}

impl Flatten {
    fn finish(mut self, line: usize) -> Flat {
        let around = Around {
            parent: None,
            region: None,
        };
        for (stand_in, kind, word) in [(END, "End", "end"), (FAILED, "Failed", "failed")] {
            if self.flat.edges.iter().any(|edge| edge.to == stand_in) {
                let number = self.add(kind, word, word, line, around);
                let edges = self.flat.edges.iter_mut().filter(|edge| edge.to == stand_in);
                edges.for_each(|edge| edge.to = number);
            }
        }
        self.flat
    }

    fn add(&mut self, kind: Kind, name: &str, label: &str, line: usize, around: Around) -> usize {
        self.flat.nodes.push(FlatNode {
            kind,
            name: name.to_owned(),
            label: label.to_owned(),
            line,
            parent: around.parent,
        });
        self.flat.nodes.len() - 1
    }

    fn connect(&mut self, open: Vec<Open>, to: usize) {
        for Open { from, way, label } in open {
            let kind = way;
            self.flat.edges.push(FlatEdge { from, to, kind, label });
        }
    }

    fn sequence(&mut self, sequence: &[Node], mut open: Vec<Open>, around: Around) -> Vec<Open> {
        for node in sequence {
            open = self.node(node, open, around);
        }
        open
    }

    fn node(&mut self, node: &Node, open: Vec<Open>, around: Around) -> Vec<Open> {
        match node {
            Node::Point(point) => {
                let (kind, label) = described(point);
                let number = self.add(kind, &point.name, &label, point.line, around);
                self.single(number, open, point.fallible, around)
            }
            Node::Helper(helper) => {
                let number = self.add("Helper", &helper.name, &helper.path, helper.line, around);
                self.single(number, open, helper.fallible, around)
            }
            Node::Past(past) => {
                let number = self.past(past, around);
                self.single(number, open, false, around)
            }
            Node::Branch(branch) => self.branch(branch, open, around),
            Node::Loop(inner) => self.repeat(inner, open, around),
            Node::Region(region) => self.region(region, open, around),
            Node::Block(block) => self.sequence(&block.body, open, around),
            Node::Exit(exit) => self.exit(exit, open, around),
            Node::Draw(_) | Node::Bound(_) => open,
        }
    }

    fn single(&mut self, number: usize, open: Vec<Open>, fallible: bool, around: Around) -> Vec<Open> {
        self.connect(open, number);
        if fallible {
            let open = Open {
                from: number,
                way: Way::Error,
                label: String::new(),
            };
            self.connect(vec![open], around.region.unwrap_or(FAILED));
        }
        vec![Open::next(number)]
    }

    fn past(&mut self, past: &Past, around: Around) -> usize {
        let (kind, word) = match past.kind {
            PastKind::Removed(_) => ("Removed", "removed"),
            PastKind::Retired => ("Retired", "retired"),
        };
        self.add(kind, &past.name, &format!("{word} {}", past.name), past.line, around)
    }

    fn branch(&mut self, branch: &Branch, open: Vec<Open>, around: Around) -> Vec<Open> {
        let kind = if branch.patch.is_some() { "Patched" } else { "Branch" };
        let name = branch.patch.as_deref().unwrap_or_default();
        let number = self.add(kind, name, &branch.question, branch.line, around);
        self.connect(open, number);
        let mut out = Vec::new();
        for arm in &branch.arms {
            let open = Open {
                from: number,
                way: Way::Arm,
                label: arm.label.clone(),
            };
            out.extend(self.sequence(&arm.body, vec![open], around));
        }
        out
    }

    fn repeat(&mut self, inner: &Loop, open: Vec<Open>, around: Around) -> Vec<Open> {
        let number = self.add("Loop", "", &inner.title, inner.line, around);
        self.connect(open, number);
        self.loops.push(LoopAround {
            name: inner.name.clone(),
            kind: inner.kind,
            number,
            breaks: Vec::new(),
        });
        let within = Around {
            parent: Some(number),
            ..around
        };
        let end = self.sequence(&inner.body, vec![Open::next(number)], within);
        let mut out = self.loops.pop().map(|left| left.breaks).unwrap_or_default();
        match inner.kind {
            LoopKind::Once => out.extend(end),
            LoopKind::For | LoopKind::While | LoopKind::Loop => {
                let back = end.into_iter().map(|open| Open {
                    way: Way::LoopBack,
                    ..open
                });
                self.connect(back.collect(), number);
            }
        }
        if matches!(inner.kind, LoopKind::For | LoopKind::While) {
            out.insert(0, Open::next(number));
        }
        out
    }

    fn region(&mut self, region: &Region, open: Vec<Open>, around: Around) -> Vec<Open> {
        let kind = match region.kind {
            RegionKind::Join => "Join",
            RegionKind::TryJoin => "TryJoin",
            RegionKind::Race => "Race",
            RegionKind::MapConcurrent | RegionKind::MapConcurrentAll | RegionKind::JoinAll | RegionKind::TryJoinAll => {
                "Each"
            }
        };
        let number = self.add(kind, region.kind.word(), &region.title, region.line, around);
        let within = Around {
            parent: Some(number),
            region: Some(number),
        };
        let loops = std::mem::take(&mut self.loops);
        for branch in &region.branches {
            let open = Open {
                from: number,
                way: Way::Parallel,
                label: String::new(),
            };
            // The region itself waits for the ends of its branches.
            self.sequence(branch, vec![open], within);
        }
        self.loops = loops;
        self.single(number, open, region.fallible, around)
    }

    fn exit(&mut self, exit: &Exit, open: Vec<Open>, around: Around) -> Vec<Open> {
        match exit {
            Exit::Return { failed } => {
                if around.region.is_none() {
                    self.connect(open, if *failed { FAILED } else { END });
                }
            }
            Exit::Break(name) => {
                let open = open.into_iter().map(|open| labelled(open, "break"));
                if let Some(left) = self.target(name.as_deref(), true) {
                    left.breaks.extend(open);
                }
            }
            Exit::Continue(name) => {
                let number = self.target(name.as_deref(), false).map(|target| target.number);
                if let Some(number) = number {
                    let open = open.into_iter().map(|open| Open {
                        way: Way::LoopBack,
                        ..labelled(open, "continue")
                    });
                    self.connect(open.collect(), number);
                }
            }
            Exit::Never => {}
        }
        Vec::new()
    }

    fn target(&mut self, name: Option<&str>, leaves: bool) -> Option<&mut LoopAround> {
        let mut loops = self.loops.iter_mut().rev();
        loops.find(|around| match name {
            Some(_) => around.name.as_deref() == name && (leaves || around.kind != LoopKind::Once),
            None => around.kind != LoopKind::Once,
        })
    }
}

fn labelled(open: Open, word: &str) -> Open {
    let label = if open.label.is_empty() {
        word.to_owned()
    } else {
        format!("{}: {word}", open.label)
    };
    Open { label, ..open }
}

/// The kind of a checkpoint, and what is written in its node.
fn described(point: &Point) -> (Kind, String) {
    match (point.kind, &point.time) {
        (PointKind::Step, _) => ("Step", point.name.clone()),
        (PointKind::Sleep, Some(time)) => ("Sleep", format!("{}: {time}", point.name)),
        (PointKind::Sleep, None) => ("Sleep", point.name.clone()),
        (PointKind::Signal, Some(time)) => ("Signal", format!("{}, up to {time}", point.name)),
        (PointKind::Signal, None) => ("Signal", point.name.clone()),
    }
}

/// Whether a loop that only `break` can end has one.
pub(crate) fn ends(inner: &Loop) -> bool {
    inner.kind != LoopKind::Loop || breaks(&inner.body, inner.name.as_deref())
}
