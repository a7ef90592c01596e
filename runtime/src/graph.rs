//! The graph of a workflow: its checkpoints and the ways between them, as the macro saw them. Plain data.
//!
//! Absent on purpose: how it is found and drawn, which the macro does when the workflow is compiled.

/// The checkpoints of a workflow and the control flow between them: what [`Workflow::graph`](crate::Workflow::graph) gives.
///
/// ```
/// use steadfast::prelude::*;
/// use steadfast::{GraphNodeKind, Workflow};
/// # async fn charge(order: &str) -> Result<u32, BoxError> { Ok(1) }
///
/// #[workflow]
/// async fn fulfil(order: String) -> Result<u32, BoxError> {
///     let payment = step!("charge", charge(&order)).await?;
///     sleep!("cooling off", days(7)).await;
///     Ok(payment)
/// }
///
/// let graph = fulfil::graph();
/// let names: Vec<&str> = graph.nodes().iter().map(|node| node.name()).collect();
/// assert_eq!(names, ["fulfil", "charge", "cooling off", "end", "failed"]);
/// assert_eq!(graph.nodes()[1].kind(), GraphNodeKind::Step);
/// assert!(graph.mermaid().starts_with("flowchart TD"));
/// assert!(graph.svg().is_some_and(|picture| picture.starts_with("<svg")));
/// ```
///
/// It holds what can be waited for, and the branches, loops and exits around that; other code is left out. `now!()`,
/// `random!()` and `uuid!()` are not in it, since nothing waits for them. A branch or loop is there whatever `#[cfg]` stands
/// on it. A `#[durable]` function is one node; its own picture is in its own documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Graph {
    name: &'static str,
    nodes: &'static [GraphNode],
    edges: &'static [GraphEdge],
    mermaid: &'static str,
    svg: Option<&'static str>,
}

impl Graph {
    /// The stored name of the workflow.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The nodes, beginning with the start, in the order of the source. Edges and parents name them by their place here.
    pub const fn nodes(&self) -> &'static [GraphNode] {
        self.nodes
    }

    /// The edges.
    pub const fn edges(&self) -> &'static [GraphEdge] {
        self.edges
    }

    /// A flowchart for [Mermaid](https://mermaid.js.org), which GitHub and many others draw when it stands in a code block
    /// marked `mermaid`. A red rim marks what can end the workflow with an error.
    pub const fn mermaid(&self) -> &'static str {
        self.mermaid
    }

    /// A picture, complete in itself, and readable on light and dark pages. It is the one in the workflow's documentation.
    ///
    /// `None` for a graph of more than 150 nodes, in which nobody would find anything; [`mermaid`](Self::mermaid) has it.
    pub const fn svg(&self) -> Option<&'static str> {
        self.svg
    }
}

/// One node of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphNode {
    kind: GraphNodeKind,
    name: &'static str,
    label: &'static str,
    line: u32,
    parent: Option<usize>,
}

impl GraphNode {
    /// What it is.
    pub const fn kind(&self) -> GraphNodeKind {
        self.kind
    }

    /// The name of the checkpoint, of the helper or of the patch; empty for branches and loops, which have none.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What is written in the picture: the name, a condition, the beginning of a loop.
    pub const fn label(&self) -> &'static str {
        self.label
    }

    /// The line in the source file.
    pub const fn line(&self) -> u32 {
        self.line
    }

    /// The loop, join, race or repeated region that it is in, by its place among the nodes.
    pub const fn parent(&self) -> Option<usize> {
        self.parent
    }
}

/// What a [`GraphNode`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GraphNodeKind {
    /// Where the workflow begins.
    Start,
    /// Where it ends with its output.
    End,
    /// Where it ends with an error.
    Failed,
    /// A step.
    Step,
    /// A sleep.
    Sleep,
    /// A wait for a signal.
    Signal,
    /// An awaited call of a `#[durable]` function.
    Helper,
    /// An `if` or `match` whose arms are its edges.
    Branch,
    /// The same for `if patched!("…")`.
    Patched,
    /// A step that is gone: `removed!("…")`.
    Removed,
    /// A patch that every instance has: `retired!("…")`.
    Retired,
    /// A loop, around the nodes of its body.
    Loop,
    /// A `join!` around its branches.
    Join,
    /// A `try_join!` around its branches.
    TryJoin,
    /// A `race!` around its branches.
    Race,
    /// The same for each item of a list: `map_concurrent`, `join_all` and their like.
    Each,
}

/// A way from one node of a [`Graph`] to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphEdge {
    from: usize,
    to: usize,
    kind: GraphEdgeKind,
    label: &'static str,
}

impl GraphEdge {
    /// Where it begins, by place among the nodes.
    pub const fn from(&self) -> usize {
        self.from
    }

    /// Where it leads.
    pub const fn to(&self) -> usize {
        self.to
    }

    /// Why one goes this way.
    pub const fn kind(&self) -> GraphEdgeKind {
        self.kind
    }

    /// The pattern of an arm, `yes`, `no`, `break`; often empty.
    pub const fn label(&self) -> &'static str {
        self.label
    }
}

/// Why one goes along a [`GraphEdge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GraphEdgeKind {
    /// It comes next. From a loop or region, when that is over.
    Next,
    /// An arm of a branch.
    Arm,
    /// From the end of a round to its loop.
    LoopBack,
    /// `?`: an error ends the workflow, or the region that it is in.
    Error,
    /// From a region to the beginning of each of its branches. Their ends have no edge: the region waits for them.
    Parallel,
}

/// Called by `#[workflow]`.
#[doc(hidden)]
pub const fn graph(
    name: &'static str,
    nodes: &'static [GraphNode],
    edges: &'static [GraphEdge],
    mermaid: &'static str,
    svg: Option<&'static str>,
) -> Graph {
    Graph {
        name,
        nodes,
        edges,
        mermaid,
        svg,
    }
}

/// Called by `#[workflow]`.
#[doc(hidden)]
pub const fn graph_node(
    kind: GraphNodeKind,
    name: &'static str,
    label: &'static str,
    line: u32,
    parent: Option<usize>,
) -> GraphNode {
    GraphNode {
        kind,
        name,
        label,
        line,
        parent,
    }
}

/// Called by `#[workflow]`.
#[doc(hidden)]
pub const fn graph_edge(from: usize, to: usize, kind: GraphEdgeKind, label: &'static str) -> GraphEdge {
    GraphEdge { from, to, kind, label }
}
