//! Where everything stands: from the top down, branches side by side, loops and joins as frames, exits to the right.
//!
//! The structure nests, so a layout is two walks: one measures from the inside out, one places from the outside in. Every
//! part has an axis on which it is entered and left; `left` and `right` say how far it reaches from there.
//! Absent on purpose: shapes and colours, which are `svg`'s.

mod build;

use crate::graph::label::width;
use crate::graph::svg::Canvas;

/// Between one node and the next: room for an arrow.
const GAP: i32 = 26;
/// Between things side by side.
const ASIDE: i32 = 28;
/// From a question down to where its arms begin.
const ARM: i32 = 68;
/// Where the arms turn away from each other, below the question.
const BUS: i32 = 12;
/// Room inside a frame: above, below, at the sides.
const FRAME_TOP: i32 = 52;
/// A frame's title stands on its upper edge, half above it, and is where one enters.
const TITLE: i32 = 20;
const FRAME_BOTTOM: i32 = 20;
const FRAME_SIDE: i32 = 20;
/// More at the left of a loop, for the way back.
const BACK: i32 = 22;
/// Below the last node of a parallel region or of a loop's body.
const TAIL: i32 = 18;
const MARGIN: i32 = 12;
/// What the way out of an error takes at the right.
const ERROR: i32 = 24;

/// A node by its looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Start,
    End,
    Step,
    Sleep,
    Signal,
    Helper,
    Question,
    Past,
    Return,
    Fail,
    /// `break`, `continue`
    Jump,
}

/// A node, measured.
pub(crate) struct Item {
    pub(crate) look: Look,
    pub(crate) text: String,
    pub(crate) detail: String,
    /// All of it, for whoever points at it.
    pub(crate) title: String,
    pub(crate) fallible: bool,
    pub(crate) width: i32,
    pub(crate) height: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameLook {
    Loop,
    Parallel,
    Race,
    /// The same for every item of a list.
    Each,
}

struct Cell {
    left: i32,
    right: i32,
    height: i32,
    /// Whether the way leads out of it at its lower end.
    open: bool,
    body: Body,
}

enum Body {
    Item(Item),
    Stack(Vec<Cell>),
    Split {
        question: Item,
        arms: Vec<Arm>,
    },
    Frame {
        look: FrameLook,
        title: String,
        tip: String,
        lanes: Vec<Lane>,
        /// Its right edge, from its axis.
        edge: i32,
        fallible: bool,
    },
}

struct Arm {
    label: String,
    tip: String,
    cell: Cell,
    /// From the question's axis.
    axis: i32,
}

struct Lane {
    cell: Cell,
    /// From the frame's axis.
    axis: i32,
}

/// The picture of a workflow or helper.
pub(crate) fn picture(name: &str, structure: &[crate::graph::model::Node]) -> String {
    let root = build::root(name, structure);
    let mut canvas = Canvas::default();
    root.place(MARGIN + root.left, MARGIN, &mut canvas);
    canvas.finish(name, root.left + root.right + 2 * MARGIN, root.height + 2 * MARGIN)
}

/// The width of small text.
fn small_width(text: &str) -> i32 {
    width(text) * 11 / 13 + 1
}

/// How wide the label of an arm is, with the space around its text.
pub(crate) fn pill_width(text: &str) -> i32 {
    small_width(text) + 16
}

impl Cell {
    fn item(item: Item) -> Self {
        let half = item.width / 2;
        let open = !matches!(item.look, Look::Return | Look::Fail | Look::Jump | Look::End);
        Self {
            left: half,
            right: half + if item.fallible { ERROR } else { 0 },
            height: item.height,
            open,
            body: Body::Item(item),
        }
    }

    fn stack(cells: Vec<Cell>) -> Self {
        let gaps = i32::try_from(cells.len().saturating_sub(1)).unwrap_or_default() * GAP;
        Self {
            left: cells.iter().map(|cell| cell.left).max().unwrap_or_default(),
            right: cells.iter().map(|cell| cell.right).max().unwrap_or_default(),
            height: cells.iter().map(|cell| cell.height).sum::<i32>() + gaps,
            open: cells.iter().all(|cell| cell.open),
            body: Body::Stack(cells),
        }
    }

    fn is_empty(&self) -> bool {
        matches!(&self.body, Body::Stack(cells) if cells.is_empty())
    }

    /// `arms` in the order of the source. Those that lead on come first, so that exits are at the right.
    fn split(question: Item, arms: Vec<(String, String, Cell)>) -> Self {
        let (on, out): (Vec<_>, Vec<_>) = arms.into_iter().partition(|(_, _, cell)| cell.open);
        let straight = on.len();
        let mut placed = Vec::new();
        let mut reached: Option<i32> = None;
        for (label, tip, cell) in on.into_iter().chain(out) {
            let half = pill_width(&label) / 2;
            let (left, right) = (cell.left.max(half), cell.right.max(half));
            let axis = reached.map_or(0, |reached| reached + ASIDE + left);
            reached = Some(axis + right);
            placed.push(Arm { label, tip, cell, axis });
        }
        let last_on = straight.checked_sub(1).unwrap_or(placed.len().saturating_sub(1));
        let middle = placed.get(last_on).map_or(0, |arm| arm.axis / 2);
        // An arm that is nearly straight is straight.
        let near = placed.iter().take(straight).map(|arm| arm.axis);
        let middle = near
            .min_by_key(|axis| (axis - middle).abs())
            .filter(|axis| (axis - middle).abs() < 32)
            .unwrap_or(middle);
        placed.iter_mut().for_each(|arm| arm.axis -= middle);
        let half = question.width / 2;
        let reach = |side: fn(&Arm) -> i32| placed.iter().map(side).max().unwrap_or_default();
        Self {
            left: reach(|arm| arm.cell.left.max(pill_width(&arm.label) / 2) - arm.axis).max(half),
            right: reach(|arm| arm.cell.right.max(pill_width(&arm.label) / 2) + arm.axis).max(half),
            height: question.height + ARM + reach(|arm| arm.cell.height) + if straight == 0 { 0 } else { TAIL },
            open: straight > 0,
            body: Body::Split { question, arms: placed },
        }
    }

    fn frame(look: FrameLook, title: String, tip: String, cells: Vec<Cell>, open: bool) -> Self {
        let mut lanes: Vec<Lane> = Vec::new();
        let mut reached: Option<i32> = None;
        for cell in cells {
            let axis = reached.map_or(0, |reached| reached + ASIDE + cell.left.max(8));
            reached = Some(axis + cell.right.max(8));
            lanes.push(Lane { cell, axis });
        }
        let middle = lanes.last().map_or(0, |lane| lane.axis / 2);
        lanes.iter_mut().for_each(|lane| lane.axis -= middle);
        let back = if look == FrameLook::Loop { BACK } else { 0 };
        let reach = |side: fn(&Lane) -> i32| lanes.iter().map(side).max().unwrap_or_default();
        let half = pill_width(&title) / 2 + 14;
        let edge = (reach(|lane| lane.cell.right.max(8) + lane.axis) + FRAME_SIDE).max(half);
        Self {
            left: (reach(|lane| lane.cell.left.max(8) - lane.axis) + FRAME_SIDE + back).max(half),
            right: edge,
            height: FRAME_TOP + reach(|lane| lane.cell.height) + TAIL + FRAME_BOTTOM,
            open,
            body: Body::Frame {
                look,
                title,
                tip,
                lanes,
                edge,
                fallible: false,
            },
        }
    }

    /// The same part, from which an error leads out to the right.
    fn failing(mut self) -> Self {
        if let Body::Frame { fallible, .. } = &mut self.body {
            *fallible = true;
            self.right += ERROR;
        }
        self
    }

    /// Draws it with its upper end at `(x, y)`.
    fn place(&self, x: i32, y: i32, canvas: &mut Canvas) {
        match &self.body {
            Body::Item(item) => canvas.node(item, x - item.width / 2, y),
            Body::Stack(cells) => {
                let mut y = y;
                for (place, cell) in cells.iter().enumerate() {
                    if place > 0 {
                        canvas.arrow(&[(x, y), (x, y + GAP)]);
                        y += GAP;
                    }
                    cell.place(x, y, canvas);
                    y += cell.height;
                }
            }
            Body::Split { question, arms } => self.place_split(question, arms, (x, y), canvas),
            Body::Frame {
                look,
                title,
                tip,
                lanes,
                edge,
                fallible,
            } => {
                let corner = (x - self.left, y + TITLE / 2);
                canvas.frame(*look, corner, (self.left + edge, self.height - TITLE / 2));
                canvas.title(*look, title, tip, (x, y + TITLE / 2));
                if *fallible {
                    canvas.error_way(x + edge, y + self.height - FRAME_BOTTOM);
                }
                if *look == FrameLook::Loop {
                    self.place_loop(lanes, (x, y), canvas);
                } else {
                    self.place_lanes(*look, lanes, (x, y), canvas);
                }
            }
        }
    }

    fn place_split(&self, question: &Item, arms: &[Arm], (x, y): (i32, i32), canvas: &mut Canvas) {
        canvas.node(question, x - question.width / 2, y);
        let from = y + question.height;
        let (bus, top, bottom) = (from + BUS, from + ARM, y + self.height);
        for arm in arms {
            let at = x + arm.axis;
            canvas.line(&[(x, from), (x, bus), (at, bus), (at, top - 24)]);
            canvas.pill(&arm.label, &arm.tip, (at, top - 36));
            if arm.cell.is_empty() {
                canvas.line(&[(at, top - 24), (at, bottom), (x, bottom)]);
                continue;
            }
            canvas.arrow(&[(at, top - 24), (at, top)]);
            arm.cell.place(at, top, canvas);
            if arm.cell.open {
                canvas.line(&[(at, top + arm.cell.height), (at, bottom), (x, bottom)]);
            }
        }
    }

    fn place_loop(&self, lanes: &[Lane], (x, y): (i32, i32), canvas: &mut Canvas) {
        let (top, bottom) = (y + FRAME_TOP, y + self.height);
        for lane in lanes {
            canvas.arrow(&[(x, y + TITLE), (x, top)]);
            lane.cell.place(x, top, canvas);
            if lane.cell.open {
                let (end, turn) = (top + lane.cell.height, bottom - FRAME_BOTTOM);
                let aside = x - self.left + FRAME_SIDE;
                canvas.back(&[(x, end), (x, turn), (aside, turn), (aside, top - 16), (x - 1, top - 16)]);
            }
        }
    }

    fn place_lanes(&self, look: FrameLook, lanes: &[Lane], (x, y): (i32, i32), canvas: &mut Canvas) {
        let (top, bottom) = (y + FRAME_TOP, y + self.height);
        let end = bottom - FRAME_BOTTOM;
        let first = lanes.first().map_or(0, |lane| lane.axis);
        let last = lanes.last().map_or(0, |lane| lane.axis);
        if lanes.len() > 1 {
            canvas.line(&[(x, y + TITLE), (x, top - 18)]);
            canvas.bar((x + first - 10, x + last + 10), top - 18);
            canvas.line(&[(x, end), (x, bottom)]);
            if look == FrameLook::Race {
                canvas.merge((x + first, x + last), end);
            } else {
                canvas.bar((x + first - 10, x + last + 10), end);
            }
        }
        for lane in lanes {
            let at = x + lane.axis;
            let (from, to) = if lanes.len() > 1 {
                (top - 18, end)
            } else {
                (y + TITLE, bottom)
            };
            if lane.cell.is_empty() {
                canvas.line(&[(at, from), (at, to)]);
                continue;
            }
            canvas.arrow(&[(at, from), (at, top)]);
            lane.cell.place(at, top, canvas);
            if lane.cell.open {
                canvas.line(&[(at, top + lane.cell.height), (at, to)]);
            }
        }
    }
}
