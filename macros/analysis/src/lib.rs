//! What can be said about workflow code from its source alone: how checkpoints are written, what its names mean, which
//! rules it breaks. The macros use it while they expand one function, the checker while it reads a whole crate.
//!
//! * `code`: what is workflow code, and the checkpoints in it
//! * `names`: which item a path means
//! * `check`: how checkpoints are written and named
//! * `lint`: what would be different on replay
//! * `diagnostics`, `message`: how mistakes are reported, and in which words
//!
//! An implementation detail of `steadfast`, without promises of its own. Absent on purpose: output, which is the macros',
//! and behaviour, which is the runtime's.

#[doc(hidden)]
pub mod check;
#[doc(hidden)]
pub mod code;
#[doc(hidden)]
pub mod diagnostics;
#[doc(hidden)]
pub mod lint;
#[doc(hidden)]
pub mod message;
#[doc(hidden)]
pub mod names;

use proc_macro2::{Span, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Type};

/// Where `tokens` begin: one token of the user's, so that the compiler takes what we put there for the user's code.
#[doc(hidden)]
pub fn start(tokens: &impl ToTokens) -> Span {
    tokens
        .to_token_stream()
        .into_iter()
        .next()
        .map_or_else(Span::call_site, |first| match first {
            TokenTree::Group(group) => group.span_open(),
            other => other.span(),
        })
}

/// Whether an attribute has this name; by the last segment, since it may be written with a path.
#[doc(hidden)]
pub fn is_named(attribute: &Attribute, name: &str) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|last| last.ident == name)
}

/// Whether an attribute is one of those whose functions are workflow code, or as strict.
#[doc(hidden)]
pub fn is_ours(attribute: &Attribute) -> bool {
    ["workflow", "durable", "deterministic"]
        .iter()
        .any(|ours| is_named(attribute, ours))
}

/// The type without the parentheses and invisible groups around it, which `macro_rules!` leaves.
#[doc(hidden)]
pub fn bare(kind: &Type) -> &Type {
    match kind {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        other => other,
    }
}
