//! The graph as text for Mermaid, which draws it in many places that take Markdown.

use std::fmt::Write;

use crate::graph::flat::{Flat, FlatNode, Way};
use crate::graph::label::short;

/// More than any label needs to be told from others; the rest is in the source.
const LABEL_MAX: usize = 48;

pub(crate) fn mermaid(flat: &Flat) -> String {
    let mut text = String::from("flowchart TD\n");
    within(flat, None, 1, &mut text);
    for edge in &flat.edges {
        // Mermaid has no edges between a frame and what is in it.
        if is_around(flat, edge.from, edge.to) || edge.kind == Way::Error {
            continue;
        }
        let to = if edge.kind == Way::LoopBack {
            first_inside(flat, edge.to)
        } else {
            edge.to
        };
        if is_around(flat, edge.to, edge.from) && edge.kind != Way::LoopBack {
            continue;
        }
        let (from, arrow) = (edge.from, if edge.kind == Way::LoopBack { "-.->" } else { "-->" });
        let _ = if edge.label.is_empty() {
            writeln!(text, "    n{from} {arrow} n{to}")
        } else {
            writeln!(text, "    n{from} {arrow}|\"{}\"| n{to}", escaped(&edge.label))
        };
    }
    classes(flat, &mut text);
    text
}

/// The nodes in one frame, or outside of all.
fn within(flat: &Flat, parent: Option<usize>, depth: usize, text: &mut String) {
    let indent = "    ".repeat(depth);
    let inside = flat.nodes.iter().enumerate().filter(|(_, node)| node.parent == parent);
    for (number, node) in inside {
        if node.kind == "Failed" && !is_reached(flat, number) {
            continue;
        }
        let label = escaped(&node.label);
        if flat.nodes.iter().any(|inner| inner.parent == Some(number)) {
            let _ = writeln!(text, "{indent}subgraph n{number}[\"{label}\"]");
            within(flat, Some(number), depth + 1, text);
            let _ = writeln!(text, "{indent}end");
        } else {
            let (open, close) = shape(node);
            let _ = writeln!(text, "{indent}n{number}{open}\"{label}\"{close}");
        }
    }
}

fn shape(node: &FlatNode) -> (&'static str, &'static str) {
    match node.kind {
        "Start" | "Sleep" => ("([", "])"),
        "End" | "Failed" => ("((", "))"),
        "Signal" => ("{{", "}}"),
        "Branch" | "Patched" => ("{", "}"),
        "Helper" => ("[[", "]]"),
        "Join" | "TryJoin" | "Race" | "Each" | "Loop" => ("[", "]"),
        _ => ("(", ")"),
    }
}

/// The colours of the picture in the documentation, and a red rim where an error ends the workflow.
fn classes(flat: &Flat, text: &mut String) {
    const CLASSES: [(&str, &str, &str); 5] = [
        ("Step", "step", "fill:#e3efff,stroke:#3b7dd8,color:#1c2733"),
        ("Sleep", "sleep", "fill:#fff3d6,stroke:#c98a1b,color:#1c2733"),
        ("Signal", "signal", "fill:#ece6ff,stroke:#7a5bd0,color:#1c2733"),
        ("Helper", "helper", "fill:#dff5ec,stroke:#2f9e77,color:#1c2733"),
        ("Failed", "failed", "fill:#ffe3e3,stroke:#cf4545,color:#1c2733"),
    ];
    let mut class = |name: &str, style: &str, members: Vec<String>| {
        if !members.is_empty() {
            let _ = writeln!(
                text,
                "    classDef {name} {style}\n    class {} {name}",
                members.join(",")
            );
        }
    };
    for (kind, name, style) in CLASSES {
        let members = flat.nodes.iter().enumerate();
        let members = members.filter(|(number, node)| node.kind == kind && is_reached(flat, *number));
        class(name, style, members.map(|(number, _)| format!("n{number}")).collect());
    }
    let mut fallible: Vec<usize> = Vec::new();
    for edge in flat.edges.iter().filter(|edge| edge.kind == Way::Error) {
        fallible.push(edge.from);
    }
    fallible.dedup();
    class(
        "fallible",
        "stroke:#cf4545,stroke-width:2px",
        fallible.iter().map(|number| format!("n{number}")).collect(),
    );
}

/// A red rim says what fails by `?`: where there is no other way to the failure, it is not drawn.
fn is_reached(flat: &Flat, number: usize) -> bool {
    let failed = flat.nodes.get(number).is_some_and(|node| node.kind == "Failed");
    !failed
        || flat
            .edges
            .iter()
            .any(|edge| edge.to == number && edge.kind != Way::Error)
}

fn is_around(flat: &Flat, outer: usize, inner: usize) -> bool {
    let mut parent = flat.nodes.get(inner).and_then(|node| node.parent);
    while let Some(number) = parent {
        if number == outer {
            return true;
        }
        parent = flat.nodes.get(number).and_then(|node| node.parent);
    }
    false
}

/// Where a round of a loop begins.
fn first_inside(flat: &Flat, number: usize) -> usize {
    let first = flat.nodes.iter().position(|node| node.parent == Some(number));
    first.unwrap_or(number)
}

/// Mermaid writes what has a meaning to it, or to HTML, as entities with `#`.
fn escaped(label: &str) -> String {
    let mut escaped = String::new();
    for character in short(label, LABEL_MAX).chars() {
        match character {
            '"' => escaped.push_str("#quot;"),
            '#' => escaped.push_str("#35;"),
            '<' => escaped.push_str("#lt;"),
            '>' => escaped.push_str("#gt;"),
            '&' => escaped.push_str("#amp;"),
            '`' => escaped.push_str("#96;"),
            other => escaped.push(other),
        }
    }
    escaped
}
