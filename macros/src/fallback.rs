//! What is emitted when something was reported: the user's item all the same, so that editors keep working and nothing
//! else in the crate breaks because of it.
//! Absent on purpose: the errors themselves, which the caller puts in front.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{ItemFn, Lifetime, ReturnType, TypeReference, parse_quote};

use crate::args::{Args, Attribute};
use crate::expand::workflow::Soundness;
use crate::expand::{durable, workflow};
use crate::graph::Description;
use crate::krate::Krate;
use crate::model::{self, Parameter};

/// `function`, its body rewritten as far as it goes, looking as sound as possible from outside.
pub(crate) fn function(
    mut function: ItemFn,
    attribute: Attribute,
    args: &Args,
    krate: &Krate,
    soundness: Soundness,
) -> TokenStream {
    repair(&mut function, attribute);
    // What stands in for a refused expression never returns, and may leave variables unused. A checkpoint that is not
    // awaited is reported already.
    function.attrs.push(parse_quote!(#[allow(
        unreachable_code,
        unused_variables,
        unused_mut,
        unused_assignments,
        unused_must_use,
        dead_code
    )]));
    let method = model::parameters(&function.sig)
        .iter()
        .any(|parameter| matches!(parameter, Parameter::Receiver(_)));
    match attribute {
        Attribute::Durable => durable::expand(&function, krate),
        // Inside an `impl` no struct may stand. Nobody outside can mean this as a workflow yet.
        Attribute::Workflow if method => function.into_token_stream(),
        Attribute::Workflow => workflow::expand(&function, args, krate, soundness, &Description::default()),
    }
}

/// Takes away what an async function of ours cannot be.
fn repair(function: &mut ItemFn, attribute: Attribute) {
    let signature = &mut function.sig;
    signature.asyncness.get_or_insert_with(Default::default);
    signature.constness = None;
    signature.abi = None;
    signature.variadic = None;
    if let ReturnType::Type(_, output) = &mut signature.output
        && attribute == Attribute::Workflow
    {
        Unborrowed.visit_type_mut(output);
    }
}

/// A returned reference without anything to borrow from, which was reported, becomes one that the compiler accepts.
struct Unborrowed;

impl VisitMut for Unborrowed {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        reference.lifetime = Some(parse_quote!('static));
        visit_mut::visit_type_reference_mut(self, reference);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        *lifetime = parse_quote!('static);
    }
}
