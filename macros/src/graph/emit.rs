//! The description as generated code: two constants in the workflow's implementation, and a section of its documentation.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Attribute;

use crate::graph::Description;
use crate::krate::Krate;

impl Description {
    /// `fn graph()` and `fn shape()`, without where they are.
    pub(crate) fn functions(&self, name: &str, version: u32, krate: &Krate) -> TokenStream {
        let here = Span::mixed_site();
        let steadfast = krate.at(here);
        let (graph, shape) = (krate.private("graph", here), krate.private("shape", here));
        let (node, edge) = (krate.private("graph_node", here), krate.private("graph_edge", here));
        let nodes = self.flat.nodes.iter().map(|flat| {
            let kind = Ident::new(flat.kind, here);
            let (name, label) = (&flat.name, &flat.label);
            let line = u32::try_from(flat.line).unwrap_or(u32::MAX);
            let parent = option(flat.parent);
            quote!(#node(#steadfast::GraphNodeKind::#kind, #name, #label, #line, #parent))
        });
        let edges = self.flat.edges.iter().map(|flat| {
            let kind = Ident::new(flat.kind.variant(), here);
            let (from, to, label) = (flat.from, flat.to, &flat.label);
            quote!(#edge(#from, #to, #steadfast::GraphEdgeKind::#kind, #label))
        });
        let (mermaid, text) = (&self.mermaid, &self.shape);
        let svg = option(self.svg.as_ref());
        quote! {
            fn graph() -> #steadfast::Graph {
                const NODES: &[#steadfast::GraphNode] = &[#(#nodes),*];
                const EDGES: &[#steadfast::GraphEdge] = &[#(#edges),*];
                #graph(#name, NODES, EDGES, #mermaid, #svg)
            }

            fn shape() -> #steadfast::Shape {
                #shape(#name, #version, #text)
            }
        }
    }

    /// Attributes for the item that the user sees. They are there when it is being documented, and only then.
    pub(crate) fn documentation(&self) -> Vec<Attribute> {
        let Some(svg) = &self.svg else { return Vec::new() };
        // Nothing but a beginning and an end is no picture worth showing.
        if self.flat.nodes.len() <= 2 {
            return Vec::new();
        }
        let mut text = format!("\n\n# Checkpoints\n\n<div>\n{svg}</div>\n");
        let mut attributes = Vec::new();
        if !self.helpers.is_empty() {
            text.push_str("\nDurable functions in it: ");
            let listed = self.helpers.iter().map(|(path, linked)| {
                if *linked {
                    format!("[`{path}`](fn@{path})")
                } else {
                    format!("`{}`", path.replace('`', "'"))
                }
            });
            text.push_str(&listed.collect::<Vec<_>>().join(", "));
            text.push_str(".\n");
            attributes.push(syn::parse_quote!(#[cfg_attr(doc, allow(rustdoc::private_intra_doc_links))]));
        }
        attributes.push(syn::parse_quote!(#[cfg_attr(doc, doc = #text)]));
        attributes
    }
}

fn option(value: Option<impl quote::ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
