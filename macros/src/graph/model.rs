//! The structure of workflow code, with everything left out that is no checkpoint and does not lead to one: sequences,
//! branches, loops, and regions whose parts run side by side.
//! Absent on purpose: how it is found (`extract`), and what is made of it (`flat`, `layout`, `shape`).

/// One thing after the other.
pub(crate) type Sequence = Vec<Node>;

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Point(Point),
    /// `random!` or `uuid!`: recorded, and nothing to wait for.
    Draw(&'static str),
    Branch(Branch),
    Loop(Loop),
    Region(Region),
    Helper(Helper),
    Block(Block),
    /// A checkpoint or block that is bound to a variable here; what it does stands where it is awaited, if anywhere.
    Bound(usize),
    Exit(Exit),
    /// `removed!("…")`, `retired!("…")`: what is no longer there, or no longer asked.
    Past(Past),
}

/// A single checkpoint.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) kind: PointKind,
    pub(crate) name: String,
    /// How long it sleeps or waits, as written.
    pub(crate) time: Option<String>,
    pub(crate) keyed: bool,
    /// `?` follows: its error ends the function or block.
    pub(crate) fallible: bool,
    /// The type of what it gives, where the source says it.
    pub(crate) gives: Option<String>,
    pub(crate) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PointKind {
    Step,
    Sleep,
    Signal,
}

#[derive(Clone, Debug)]
pub(crate) struct Branch {
    /// What decides, as written.
    pub(crate) question: String,
    pub(crate) arms: Vec<Arm>,
    /// `if patched!("…")`: the first arm is the new code.
    pub(crate) patch: Option<String>,
    pub(crate) line: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Arm {
    pub(crate) label: String,
    pub(crate) body: Sequence,
}

#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// `for line in lines`, `while open`, `loop`, as written.
    pub(crate) title: String,
    pub(crate) kind: LoopKind,
    pub(crate) name: Option<String>,
    pub(crate) body: Sequence,
    pub(crate) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopKind {
    For,
    While,
    /// Ends by `break` alone.
    Loop,
    /// `'name: { … }`, which runs once and can be left by `break 'name`.
    Once,
}

/// Parts that run side by side.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    pub(crate) kind: RegionKind,
    pub(crate) title: String,
    pub(crate) branches: Vec<Sequence>,
    pub(crate) fallible: bool,
    pub(crate) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegionKind {
    Join,
    TryJoin,
    Race,
    MapConcurrent,
    MapConcurrentAll,
    JoinAll,
    TryJoinAll,
}

impl RegionKind {
    /// The function of this name, if it is one of ours.
    pub(crate) fn function(name: &str) -> Option<Self> {
        match name {
            "map_concurrent" => Some(Self::MapConcurrent),
            "map_concurrent_all" => Some(Self::MapConcurrentAll),
            "join_all" => Some(Self::JoinAll),
            "try_join_all" => Some(Self::TryJoinAll),
            _ => None,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Join => "join",
            Self::TryJoin => "try_join",
            Self::Race => "race",
            Self::MapConcurrent => "map_concurrent",
            Self::MapConcurrentAll => "map_concurrent_all",
            Self::JoinAll => "join_all",
            Self::TryJoinAll => "try_join_all",
        }
    }
}

/// An awaited call of something that is none of ours: a `#[durable]` function.
#[derive(Clone, Debug)]
pub(crate) struct Helper {
    /// As written, without arguments.
    pub(crate) path: String,
    /// The last name in it, which is the scope that it opens.
    pub(crate) name: String,
    pub(crate) fallible: bool,
    pub(crate) line: usize,
}

/// An `async` block, which is a scope.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Counts the blocks that are bound to variables, since those are constructed elsewhere.
    pub(crate) bound: Option<usize>,
    pub(crate) body: Sequence,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Return {
        failed: bool,
    },
    Break(Option<String>),
    Continue(Option<String>),
    /// `unreachable!()` and its like.
    Never,
}

#[derive(Clone, Debug)]
pub(crate) struct Past {
    pub(crate) kind: PastKind,
    pub(crate) name: String,
    pub(crate) keyed: bool,
    pub(crate) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PastKind {
    Removed(PointKind),
    Retired,
}

/// Whether what follows is reached.
pub(crate) fn falls_through(sequence: &[Node]) -> bool {
    sequence.iter().all(node_falls_through)
}

fn node_falls_through(node: &Node) -> bool {
    match node {
        Node::Exit(_) => false,
        Node::Branch(branch) => branch.arms.iter().any(|arm| falls_through(&arm.body)),
        Node::Loop(inner) => match inner.kind {
            LoopKind::For | LoopKind::While => true,
            LoopKind::Loop => breaks(&inner.body, inner.name.as_deref()),
            LoopKind::Once => falls_through(&inner.body) || breaks(&inner.body, inner.name.as_deref()),
        },
        Node::Point(_)
        | Node::Draw(_)
        | Node::Region(_)
        | Node::Helper(_)
        | Node::Block(_)
        | Node::Bound(_)
        | Node::Past(_) => true,
    }
}

/// Whether code in a loop's body leaves that loop by `break`. `name` is the loop's label.
pub(crate) fn breaks(body: &[Node], name: Option<&str>) -> bool {
    breaks_at(body, name, true)
}

fn breaks_at(body: &[Node], name: Option<&str>, innermost: bool) -> bool {
    body.iter().any(|node| match node {
        Node::Exit(Exit::Break(None)) => innermost,
        Node::Exit(Exit::Break(Some(target))) => name == Some(target),
        Node::Branch(branch) => branch.arms.iter().any(|arm| breaks_at(&arm.body, name, innermost)),
        // A plain `break` passes through a labelled block.
        Node::Loop(inner) => breaks_at(&inner.body, name, innermost && inner.kind == LoopKind::Once),
        Node::Exit(Exit::Return { .. } | Exit::Continue(_) | Exit::Never)
        | Node::Point(_)
        | Node::Draw(_)
        | Node::Region(_)
        | Node::Helper(_)
        | Node::Block(_)
        | Node::Bound(_)
        | Node::Past(_) => false,
    })
}
