//! From the structure to measured cells: what each part says, and how large it is.

use crate::graph::flat;
use crate::graph::label::{short, width};
use crate::graph::layout::{Cell, FrameLook, Item, Look, small_width};
use crate::graph::model::{
    Branch, Exit, Helper, Loop, LoopKind, Node, Past, PastKind, Point, PointKind, Region, RegionKind, falls_through,
};

const NAME_MAX: usize = 34;
const DETAIL_MAX: usize = 38;
const QUESTION_MAX: usize = 40;
const ARM_MAX: usize = 30;
const TITLE_MAX: usize = 52;

/// The whole: where it begins, what it does, where it ends.
pub(super) fn root(name: &str, structure: &[Node]) -> Cell {
    let mut cells = vec![item(Look::Start, name, "", name.to_owned(), false)];
    cells.extend(structure.iter().flat_map(cells_of));
    if falls_through(structure) {
        cells.push(item(Look::End, "", "", "the end".to_owned(), false));
    }
    Cell::stack(cells)
}

fn sequence(nodes: &[Node]) -> Cell {
    Cell::stack(nodes.iter().flat_map(cells_of).collect())
}

fn cells_of(node: &Node) -> Vec<Cell> {
    match node {
        Node::Point(point) => vec![self::point(point)],
        Node::Helper(helper) => vec![self::helper(helper)],
        Node::Past(past) => vec![self::past(past)],
        Node::Branch(branch) => vec![self::branch(branch)],
        Node::Loop(inner) => vec![repeat(inner)],
        Node::Region(region) => vec![self::region(region)],
        Node::Block(block) => block.body.iter().flat_map(cells_of).collect(),
        Node::Exit(exit) => self::exit(exit).into_iter().collect(),
        Node::Draw(_) | Node::Bound(_) => Vec::new(),
    }
}

fn point(point: &Point) -> Cell {
    let Point {
        name, time, fallible, ..
    } = point;
    let time = time.as_deref().unwrap_or_default();
    let (look, word, detail) = match point.kind {
        PointKind::Step if point.keyed => (Look::Step, "step", "one for each key".to_owned()),
        PointKind::Step => (Look::Step, "step", String::new()),
        PointKind::Sleep => (Look::Sleep, "sleep", time.to_owned()),
        PointKind::Signal if time.is_empty() => (Look::Signal, "signal", String::new()),
        PointKind::Signal => (Look::Signal, "signal", format!("up to {time}")),
    };
    let title = match detail.as_str() {
        "" => format!("{word} {name}"),
        detail => format!("{word} {name}, {detail}"),
    };
    item(look, name, &detail, title, *fallible)
}

fn helper(helper: &Helper) -> Cell {
    let title = format!("durable function {}", helper.path);
    item(Look::Helper, &helper.path, "", title, helper.fallible)
}

fn past(past: &Past) -> Cell {
    let word = match past.kind {
        PastKind::Removed(_) => "removed",
        PastKind::Retired => "retired",
    };
    item(Look::Past, &past.name, word, format!("{word}: {}", past.name), false)
}

fn branch(branch: &Branch) -> Cell {
    let text = match &branch.patch {
        Some(patch) => format!("change: {patch}"),
        None => branch.question.clone(),
    };
    let question = measured(Look::Question, &short(&text, QUESTION_MAX), "", text.clone(), false);
    let arms = branch.arms.iter().map(|arm| {
        let label = if arm.label.is_empty() { "otherwise" } else { &arm.label };
        (short(label, ARM_MAX), label.to_owned(), sequence(&arm.body))
    });
    Cell::split(question, arms.collect())
}

fn repeat(inner: &Loop) -> Cell {
    let body = sequence(&inner.body);
    if inner.kind == LoopKind::Once {
        let open = falls_through(std::slice::from_ref(&Node::Loop(inner.clone())));
        return Cell::frame(
            FrameLook::Parallel,
            inner.title.clone(),
            inner.title.clone(),
            vec![body],
            open,
        );
    }
    let open = flat::ends(inner);
    Cell::frame(
        FrameLook::Loop,
        short(&inner.title, TITLE_MAX),
        inner.title.clone(),
        vec![body],
        open,
    )
}

fn region(region: &Region) -> Cell {
    let (look, meaning) = match region.kind {
        RegionKind::Join => (FrameLook::Parallel, "all at once"),
        RegionKind::TryJoin => (FrameLook::Parallel, "all at once, until the first error"),
        RegionKind::Race => (FrameLook::Race, "the first one wins"),
        RegionKind::MapConcurrent | RegionKind::TryJoinAll => (FrameLook::Each, "for each item, until the first error"),
        RegionKind::MapConcurrentAll | RegionKind::JoinAll => (FrameLook::Each, "for each item"),
    };
    let lanes: Vec<Cell> = region.branches.iter().map(|branch| sequence(branch)).collect();
    let title = short(&region.title, TITLE_MAX);
    let tip = format!("{}: {meaning}", region.title);
    let frame = Cell::frame(look, title, tip, lanes, true);
    if region.fallible { frame.failing() } else { frame }
}

fn exit(exit: &Exit) -> Option<Cell> {
    let named = |word: &str, name: &Option<String>| match name {
        Some(name) => format!("{word} '{name}"),
        None => word.to_owned(),
    };
    let (look, text) = match exit {
        Exit::Return { failed: true } => (Look::Fail, "return Err".to_owned()),
        Exit::Return { failed: false } => (Look::Return, "return".to_owned()),
        Exit::Break(name) => (Look::Jump, named("break", name)),
        Exit::Continue(name) => (Look::Jump, named("continue", name)),
        Exit::Never => return None,
    };
    Some(item(look, &text, "", text.clone(), false))
}

fn item(look: Look, text: &str, detail: &str, title: String, fallible: bool) -> Cell {
    let (text, detail) = (short(text, NAME_MAX), short(detail, DETAIL_MAX));
    Cell::item(measured(look, &text, &detail, title, fallible))
}

fn measured(look: Look, text: &str, detail: &str, title: String, fallible: bool) -> Item {
    // Names are bold.
    let inside = (width(text) * 106 / 100).max(small_width(detail));
    let (around, height) = match look {
        Look::End => (0, 18),
        Look::Sleep => (52, 38),
        Look::Signal => (46, 38),
        Look::Helper => (44, 38),
        Look::Question => (44, 34),
        Look::Return | Look::Fail | Look::Jump => (26, 24),
        Look::Start => (36, 32),
        Look::Step | Look::Past => (32, 38),
    };
    let small = matches!(look, Look::Return | Look::Fail | Look::Jump | Look::Question);
    let inside = if small { small_width(text) } else { inside };
    let least = match look {
        Look::End => 18,
        Look::Return | Look::Fail | Look::Jump | Look::Question => 0,
        Look::Start | Look::Step | Look::Sleep | Look::Signal | Look::Helper | Look::Past => 88,
    };
    // Even, so that both halves are whole.
    let width = ((inside + around).max(least) + 1) / 2 * 2;
    Item {
        look,
        text: text.to_owned(),
        detail: detail.to_owned(),
        title,
        fallible,
        width,
        height: if detail.is_empty() { height } else { height + 8 },
    }
}
