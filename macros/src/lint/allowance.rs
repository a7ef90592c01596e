//! `#[allow_nondeterminism(rule, reason = "…")]`
use syn::Attribute;

/// By the last segment, since it may be written with a path.
pub(crate) fn is_allowance(attribute: &Attribute) -> bool {
    attribute
        .path()
        .segments
        .last()
        .is_some_and(|last| last.ident == "allow_nondeterminism")
}
