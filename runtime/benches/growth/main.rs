//! Draws how costs grow, from the lines that the `engine` and `allocations` benchmarks print:
//!
//!     cargo bench -p steadfast --bench growth -- < lines.json > growth.svg
//!
//! Four panels: steps a second against instances at once, the time of a step against the length of its history, memory
//! against parked instances, the time to open against the size of the store. Absent on purpose: measuring anything.

mod lines;
mod picture;

use lines::Lines;
use std::error::Error;
use std::io::{IsTerminal, Read, Write, stdin, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    match draw() {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("nothing was drawn: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn draw() -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    if !stdin().is_terminal() {
        stdin().read_to_string(&mut text)?;
    }
    // Nothing is wrong when all benchmarks are run one after the other, this one among them.
    if text.trim().is_empty() {
        eprintln!("usage: cargo bench -p steadfast --bench growth -- < lines.json > growth.svg");
        return Ok(());
    }
    let panels = panels(&Lines::read(&text)?);
    for panel in &panels {
        for curve in panel.curves.iter().filter(|curve| curve.left_out > 0) {
            eprintln!("{}, {}: {}", panel.title, curve.name, curve.left_out_words());
        }
    }
    let svg = picture::draw(&panels)?;
    stdout().write_all(svg.as_bytes())?;
    Ok(())
}

/// One diagram. Both of its axes are logarithmic: what grows in proportion is a line, what does not grow is level.
pub(crate) struct Panel {
    title: &'static str,
    across: &'static str,
    up: &'static str,
    curves: Vec<Curve>,
}

pub(crate) struct Curve {
    name: &'static str,
    points: Vec<(f64, f64)>,
    /// Points at or below zero: a logarithm has no place for them.
    left_out: usize,
}

fn panels(lines: &Lines) -> Vec<Panel> {
    vec![
        Panel {
            title: "Steps a second",
            across: "instances at once",
            up: "steps a second",
            curves: vec![
                lines.curve("the engine", "short", "", "in_flight", "rate"),
                lines.curve(
                    "bare committer, packed",
                    "short",
                    "",
                    "in_flight",
                    "references/pages/rate",
                ),
                lines.curve(
                    "bare committer, the engine's store",
                    "short",
                    "",
                    "in_flight",
                    "references/store/rate",
                ),
            ],
        },
        Panel {
            title: "Time of a step in a row",
            across: "steps of the instance",
            up: "microseconds a step",
            curves: vec![
                lines.curve("the engine", "long", "", "steps", "each_us"),
                lines.curve(
                    "a step of 100, before",
                    "long",
                    "",
                    "steps",
                    "references/before/each_us",
                ),
                lines.curve("a step of 100, after", "long", "", "steps", "references/after/each_us"),
            ],
        },
        Panel {
            title: "Memory of parked instances",
            across: "parked instances",
            up: "bytes on the heap",
            curves: vec![
                lines.curve("engine and store", "parked", "memory", "parked", "figures/heap_bytes"),
                lines.curve("a bare store", "parked", "memory", "parked", "figures/store_heap_bytes"),
                lines.curve(
                    "engine alone, opened",
                    "parked",
                    "open",
                    "parked",
                    "figures/engine_heap_bytes",
                ),
            ],
        },
        Panel {
            title: "Time to open",
            across: "bytes of the store",
            up: "milliseconds",
            curves: vec![
                lines.curve("the engine", "parked", "open", "figures/store_bytes", "p50_ms"),
                lines.curve(
                    "the store alone",
                    "parked",
                    "open",
                    "figures/store_bytes",
                    "references/store/p50_ms",
                ),
                lines.curve(
                    "an empty engine",
                    "parked",
                    "open",
                    "figures/store_bytes",
                    "references/empty/p50_ms",
                ),
            ],
        },
    ]
}

impl Curve {
    fn left_out_words(&self) -> String {
        match self.left_out {
            1 => "1 point at or below 0 is not drawn".to_owned(),
            several => format!("{several} points at or below 0 are not drawn"),
        }
    }
}

impl Lines {
    fn curve(&self, name: &'static str, case: &str, aspect: &str, across: &str, up: &str) -> Curve {
        let mut points = self.points(case, aspect, across, up);
        let known = points.len();
        points.retain(|(across, up)| *across > 0.0 && *up > 0.0);
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let left_out = known - points.len();
        Curve { name, points, left_out }
    }
}
