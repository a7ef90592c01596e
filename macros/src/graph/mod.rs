//! What a workflow's checkpoints are and how control flows between them: as data, as a picture, and as the shape that later
//! versions are compared with.
//!
//! `extract` reads the structure (`model`) out of the body before it is rewritten. Of that, `flat` makes nodes and edges,
//! `mermaid` text, `layout` and `svg` the picture, `shape` the canonical text; `emit` writes it all into the generated
//! code as constants. `label` is how code reads as short text.
//!
//! Everything is made when the function is compiled, so that it costs nothing at run time and there is one renderer.
//! Absent on purpose: what helpers do inside, which this function's macro cannot see.

mod emit;
mod extract;
mod flat;
mod label;
mod layout;
mod mermaid;
mod model;
mod shape;
mod svg;

#[cfg(test)]
mod tests;

use syn::ItemFn;
use syn::ext::IdentExt;

use crate::args::{Args, Attribute};
use steadfast_analysis::names::Names;

/// A picture with more nodes than that helps nobody. Its Mermaid text is still there.
const PICTURE_NODES_MAX: usize = 150;

/// What the macro knows about a function's checkpoints.
#[derive(Default)]
pub(crate) struct Description {
    flat: flat::Flat,
    mermaid: String,
    svg: Option<String>,
    shape: String,
    /// Paths of helpers as written, each once, and whether a link to it is sure to lead there.
    helpers: Vec<(String, bool)>,
}

/// Describes a function as it was written.
pub(crate) fn describe(function: &ItemFn, attribute: Attribute, args: &Args, names: &Names) -> Description {
    let structure = extract::extract(&function.block, names);
    let (name, version) = (function.sig.ident.unraw().to_string(), args.version());
    let flat = flat::flatten(&name, extract::line(&function.sig.ident), &structure);
    let title = if version > 1 {
        format!("{name}, version {version}")
    } else {
        name
    };
    let mut helpers: Vec<(String, bool)> = Vec::new();
    for node in flat.nodes.iter().filter(|node| node.kind == "Helper") {
        if !helpers.iter().any(|(known, _)| *known == node.label) {
            helpers.push((node.label.clone(), names.is_durable_beside(&node.label)));
        }
    }
    Description {
        mermaid: mermaid::mermaid(&flat),
        svg: (flat.nodes.len() <= PICTURE_NODES_MAX).then(|| layout::picture(&title, &structure)),
        shape: match attribute {
            Attribute::Workflow => shape::shape(function, args, &structure),
            Attribute::Durable => String::new(),
        },
        flat,
        helpers,
    }
}
