//! Draws: shapes, colours, and text that is readable on light and dark pages alike.
//!
//! All text stands on an opaque ground of its own, and lines have a grey that shows on white and on black. So the picture
//! needs no style sheet, which would leak into the page that it is put in, and no script.
//! Absent on purpose: positions, which are `layout`'s.

use std::fmt::Write;

use crate::graph::layout::{FrameLook, Item, Look, pill_width};

const INK: &str = "#1c2733";
const FAINT: &str = "#55616e";
const LINE: &str = "#8791a0";
const FONT: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif";
/// How round the corners of lines are.
const ROUND: i32 = 8;

type Spot = (i32, i32);

/// Three layers: frames, then lines, then what has text.
#[derive(Default)]
pub(crate) struct Canvas {
    frames: String,
    lines: String,
    nodes: String,
}

impl Canvas {
    pub(crate) fn finish(self, name: &str, width: i32, height: i32) -> String {
        let Canvas { frames, lines, nodes } = self;
        let name = escaped(name);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"Checkpoints of {name}\" \
             width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             style=\"max-width:100%;height:auto\" font-family=\"{FONT}\" font-size=\"13\" text-anchor=\"middle\">\n\
             <g stroke=\"{LINE}\" fill=\"{LINE}\">\n{frames}</g>\n\
             <g stroke=\"{LINE}\" stroke-width=\"1.5\" fill=\"none\">\n{lines}</g>\n{nodes}</svg>\n"
        )
    }

    pub(crate) fn node(&mut self, item: &Item, x: i32, y: i32) {
        let (fill, rim) = colours(item.look);
        let shape = shape(item, x, y);
        let title = escaped(&item.title);
        let _ = write!(
            self.nodes,
            "<g><title>{title}</title><g fill=\"{fill}\" stroke=\"{rim}\" stroke-width=\"1.3\">{shape}</g>"
        );
        self.text_of(item, x, y);
        self.nodes.push_str("</g>\n");
        if item.fallible {
            self.error_way(x + item.width, y + item.height / 2);
        }
    }

    fn text_of(&mut self, item: &Item, x: i32, y: i32) {
        let (middle, centre) = (x + item.width / 2 + shift(item.look), y + item.height / 2);
        let text = escaped(&item.text);
        match item.look {
            Look::End => {}
            Look::Start => self.text(&text, (middle, centre + 5), "#ffffff", "font-weight=\"600\""),
            Look::Return | Look::Fail | Look::Jump | Look::Question => {
                self.text(&text, (middle, centre + 4), INK, "font-size=\"11\"");
            }
            Look::Past => {
                self.text(&text, (middle, centre - 2), FAINT, "text-decoration=\"line-through\"");
                self.text(&escaped(&item.detail), (middle, centre + 14), FAINT, "font-size=\"11\"");
            }
            Look::Step | Look::Sleep | Look::Signal | Look::Helper if item.detail.is_empty() => {
                self.text(&text, (middle, centre + 5), INK, "font-weight=\"600\"");
            }
            Look::Step | Look::Sleep | Look::Signal | Look::Helper => {
                self.text(&text, (middle, centre - 2), INK, "font-weight=\"600\"");
                self.text(&escaped(&item.detail), (middle, centre + 14), FAINT, "font-size=\"11\"");
            }
        }
    }

    fn text(&mut self, text: &str, (x, y): Spot, colour: &str, how: &str) {
        let _ = write!(
            self.nodes,
            "<text x=\"{x}\" y=\"{y}\" fill=\"{colour}\" {how}>{text}</text>"
        );
    }

    /// A short way out to the right: an error ends it here.
    pub(crate) fn error_way(&mut self, x: i32, y: i32) {
        let (end, dot) = (x + 13, x + 18);
        let _ = writeln!(
            self.nodes,
            "<g stroke=\"#cf4545\" fill=\"#ffe3e3\" stroke-width=\"1.3\"><title>an error ends it here</title>\
             <path d=\"M{x} {y}H{end}\" stroke-dasharray=\"3 2\"/><circle cx=\"{dot}\" cy=\"{y}\" r=\"5\"/>\
             <path d=\"M{} {}l4 4m0 -4l-4 4\"/></g>",
            dot - 2,
            y - 2
        );
    }

    /// The label of an arm; `at` is the middle of its upper edge less half its height.
    pub(crate) fn pill(&mut self, label: &str, tip: &str, (x, y): Spot) {
        let width = pill_width(label);
        let (label, tip, left) = (escaped(label), escaped(tip), x - width / 2);
        let _ = write!(
            self.nodes,
            "<g><title>{tip}</title><rect x=\"{left}\" y=\"{}\" width=\"{width}\" height=\"20\" rx=\"10\" \
             fill=\"#f1f3f6\" stroke=\"{LINE}\" stroke-width=\"0.8\"/>",
            y - 10
        );
        self.text(&label, (x, y + 4), INK, "font-size=\"11\"");
        self.nodes.push_str("</g>\n");
    }

    pub(crate) fn frame(&mut self, look: FrameLook, (x, y): Spot, (width, height): Spot) {
        let rim = rim(look);
        let dashes = if look == FrameLook::Loop {
            " stroke-dasharray=\"6 4\""
        } else {
            ""
        };
        if look == FrameLook::Each {
            // More of the same lie below.
            let (below, right, bottom) = (y + 5, x + width + 5, y + height + 5);
            let _ = writeln!(
                self.frames,
                "<path d=\"M{} {below}a12 12 0 0 1 5 10V{}a12 12 0 0 1 -12 12H{}a12 12 0 0 1 -10 -5\" fill=\"none\" \
                 stroke=\"{rim}\" stroke-opacity=\"0.6\"/>",
                right - 5,
                bottom - 12,
                x + 15
            );
        }
        let _ = writeln!(
            self.frames,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"12\" fill-opacity=\"0.09\" \
             stroke=\"{rim}\"{dashes}/>"
        );
    }

    /// The title of a frame, around `(x, y)`.
    pub(crate) fn title(&mut self, look: FrameLook, title: &str, tip: &str, (x, y): Spot) {
        let (rim, wide) = (rim(look), pill_width(title));
        let (title, tip) = (escaped(title), escaped(tip));
        let _ = write!(
            self.nodes,
            "<g><title>{tip}</title><rect x=\"{}\" y=\"{}\" width=\"{wide}\" height=\"20\" rx=\"5\" fill=\"#ffffff\" \
             stroke=\"{rim}\"/>",
            x - wide / 2,
            y - 10
        );
        self.text(&title, (x, y + 4), INK, "font-size=\"11\"");
        self.nodes.push_str("</g>\n");
    }

    pub(crate) fn line(&mut self, spots: &[Spot]) {
        let path = rounded(spots);
        if !path.is_empty() {
            let _ = writeln!(self.lines, "<path d=\"{path}\"/>");
        }
    }

    /// A line with a head at its end.
    pub(crate) fn arrow(&mut self, spots: &[Spot]) {
        self.line(spots);
        self.head(spots);
    }

    /// The way back in a loop.
    pub(crate) fn back(&mut self, spots: &[Spot]) {
        let path = rounded(spots);
        let _ = writeln!(self.lines, "<path d=\"{path}\" stroke-dasharray=\"5 3\"/>");
        self.head(spots);
    }

    fn head(&mut self, spots: &[Spot]) {
        let [.., (from_x, from_y), (x, y)] = spots else { return };
        let head = match ((x - from_x).signum(), (y - from_y).signum()) {
            (1, _) => format!("M{x} {y}l-7 -4v8z"),
            (-1, _) => format!("M{x} {y}l7 -4v8z"),
            _ => format!("M{x} {y}l-4 -7h8z"),
        };
        let _ = writeln!(self.lines, "<path d=\"{head}\" fill=\"{LINE}\" stroke=\"none\"/>");
    }

    /// Where ways part or meet.
    pub(crate) fn bar(&mut self, (left, right): Spot, y: i32) {
        let _ = writeln!(
            self.lines,
            "<path d=\"M{left} {y}H{right}\" stroke=\"#3f8f8a\" stroke-width=\"4\" stroke-linecap=\"round\"/>"
        );
    }

    /// Where the first of several ways goes on.
    pub(crate) fn merge(&mut self, (left, right): Spot, y: i32) {
        let _ = writeln!(self.lines, "<path d=\"M{left} {y}H{right}\" stroke-dasharray=\"2 3\"/>");
    }
}

fn rim(look: FrameLook) -> &'static str {
    match look {
        FrameLook::Loop => "#77818d",
        FrameLook::Parallel | FrameLook::Race | FrameLook::Each => "#3f8f8a",
    }
}

/// The way through these spots, round at its corners.
fn rounded(spots: &[Spot]) -> String {
    let mut kept: Vec<Spot> = Vec::new();
    for spot in spots {
        if kept.last() != Some(spot) {
            kept.push(*spot);
        }
    }
    let mut path = String::new();
    for (place, (x, y)) in kept.iter().copied().enumerate() {
        let (before, after) = (place.checked_sub(1).and_then(|at| kept.get(at)), kept.get(place + 1));
        let _ = match (before, after) {
            (None, None) => Ok(()),
            (None, Some(_)) => write!(path, "M{x} {y}"),
            (Some(_), None) => write!(path, "L{x} {y}"),
            (Some(from), Some(to)) => {
                let ((in_x, in_y), (out_x, out_y)) = (towards((x, y), *from), towards((x, y), *to));
                write!(path, "L{in_x} {in_y}Q{x} {y} {out_x} {out_y}")
            }
        };
    }
    path
}

/// A little way from a corner to the next spot.
fn towards((x, y): Spot, (to_x, to_y): Spot) -> Spot {
    let step = |from: i32, to: i32| {
        from + (to - from).clamp(-ROUND.min((to - from).abs() / 2), ROUND.min((to - from).abs() / 2))
    };
    (step(x, to_x), step(y, to_y))
}

fn colours(look: Look) -> (&'static str, &'static str) {
    match look {
        Look::Start | Look::End => ("#3b4856", LINE),
        Look::Step => ("#e3efff", "#3b7dd8"),
        Look::Sleep => ("#fff3d6", "#c98a1b"),
        Look::Signal => ("#ece6ff", "#7a5bd0"),
        Look::Helper => ("#dff5ec", "#2f9e77"),
        Look::Question => ("#ffffff", "#77818d"),
        Look::Past => ("#f1f3f6", LINE),
        Look::Return | Look::Jump => ("#e6eaef", "#77818d"),
        Look::Fail => ("#ffe3e3", "#cf4545"),
    }
}

/// How far text stands from the middle, because of what is drawn beside it.
fn shift(look: Look) -> i32 {
    match look {
        Look::Sleep => 10,
        Look::Signal => 5,
        Look::Start
        | Look::End
        | Look::Step
        | Look::Helper
        | Look::Question
        | Look::Past
        | Look::Return
        | Look::Fail
        | Look::Jump => 0,
    }
}

fn shape(item: &Item, x: i32, y: i32) -> String {
    let Item { width, height, .. } = *item;
    let (right, bottom, middle) = (x + width, y + height, y + height / 2);
    let rect = |round: i32, more: &str| {
        format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{round}\"{more}/>")
    };
    match item.look {
        Look::Start | Look::Return | Look::Fail | Look::Jump => rect(height / 2, ""),
        Look::End => {
            let centre = x + width / 2;
            format!(
                "<circle cx=\"{centre}\" cy=\"{middle}\" r=\"8\" fill=\"none\" stroke-width=\"2\"/>\
                 <circle cx=\"{centre}\" cy=\"{middle}\" r=\"4\" fill=\"{LINE}\" stroke=\"none\"/>"
            )
        }
        Look::Step => rect(9, ""),
        Look::Past => rect(9, " stroke-dasharray=\"4 3\""),
        Look::Sleep => {
            let clock = x + 21;
            format!(
                "{}<circle cx=\"{clock}\" cy=\"{middle}\" r=\"8\" fill=\"#ffffff\"/>\
                 <path d=\"M{clock} {}V{middle}l4 2\" fill=\"none\"/>",
                rect(height / 2, ""),
                middle - 5
            )
        }
        Look::Signal => format!(
            "<path d=\"M{x} {y}H{right}V{bottom}H{x}L{} {middle}Z\" stroke-linejoin=\"round\"/>",
            x + 12
        ),
        Look::Helper => format!(
            "{}<path d=\"M{} {y}V{bottom}M{} {y}V{bottom}\" fill=\"none\"/>",
            rect(3, ""),
            x + 8,
            right - 8
        ),
        Look::Question => format!(
            "<path d=\"M{} {y}H{}L{right} {middle}L{} {bottom}H{}L{x} {middle}Z\" stroke-linejoin=\"round\"/>",
            x + 13,
            right - 13,
            right - 13,
            x + 13
        ),
    }
}

/// Text as XML and HTML take it.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // Markdown ends an HTML block at an empty line, and XML has no control characters.
            other if other.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}
