//! Checks the signature. Absent on purpose: whether types can be stored or sent, which only the compiler knows.

use quote::ToTokens;
use syn::{GenericParam, Signature, Type};

use crate::args::Attribute;
use crate::model::{self, Mentions, Parameter};
use steadfast_analysis::bare;
use steadfast_analysis::diagnostics::Diagnostics;
use steadfast_analysis::message;

/// Inputs are stored as one tuple, and serde knows tuples up to a length.
const INPUTS_MAX: usize = 12;

pub(crate) fn check(signature: &Signature, attribute: Attribute, diagnostics: &mut Diagnostics) {
    qualifiers(signature, attribute, diagnostics);
    if attribute == Attribute::Workflow {
        generics(signature, diagnostics);
        parameters(signature, diagnostics);
        output(signature, diagnostics);
    }
}

fn qualifiers(signature: &Signature, attribute: Attribute, diagnostics: &mut Diagnostics) {
    let name = [attribute.name()];
    if signature.asyncness.is_none() {
        diagnostics.at(&signature.fn_token, &message::NOT_ASYNC, &name);
    }
    if let Some(constness) = &signature.constness {
        diagnostics.at(constness, &message::CONST_FN, &name);
    }
    if let Some(unsafety) = &signature.unsafety {
        diagnostics.at(unsafety, &message::UNSAFE_FN, &name);
    }
    if let Some(abi) = &signature.abi {
        diagnostics.at(abi, &message::EXTERN_FN, &name);
    }
    if let Some(variadic) = &signature.variadic {
        diagnostics.at(variadic, &message::VARIADIC, &name);
    }
}

/// Lifetimes are fine: `&'a Shop` is state like `&Shop`.
fn generics(signature: &Signature, diagnostics: &mut Diagnostics) {
    let generic = signature.generics.params.iter().find(|parameter| match parameter {
        GenericParam::Type(_) | GenericParam::Const(_) => true,
        GenericParam::Lifetime(_) => false,
    });
    if let Some(generic) = generic {
        diagnostics.at(generic, &message::WORKFLOW_GENERIC, &[]);
    }
}

fn parameters(signature: &Signature, diagnostics: &mut Diagnostics) {
    let mut inputs = 0;
    for parameter in model::parameters(signature) {
        match parameter {
            Parameter::Receiver(receiver) => diagnostics.at(&receiver.self_token, &message::WORKFLOW_SELF, &[]),
            Parameter::State { reference, .. } => state(reference, signature, diagnostics),
            Parameter::Input { attributes, kind } => {
                inputs += 1;
                if inputs == INPUTS_MAX + 1 {
                    diagnostics.at(kind, &message::TOO_MANY_INPUTS, &[]);
                }
                if let Some(condition) = attributes.iter().find(|attribute| attribute.path().is_ident("cfg")) {
                    diagnostics.at(condition, &message::CONDITIONAL_INPUT, &[]);
                }
                input(kind, signature, diagnostics);
            }
        }
    }
}

fn state(reference: &syn::TypeReference, signature: &Signature, diagnostics: &mut Diagnostics) {
    let target = bare(&reference.elem);
    if let Some(mutability) = &reference.mutability {
        diagnostics.at(mutability, &message::MUTABLE_STATE, &[&written(target)]);
    }
    let mentions = Mentions::of(target, signature);
    if let Some(impl_trait) = &mentions.impl_trait {
        diagnostics.at(impl_trait, &message::WORKFLOW_IMPL_TRAIT, &[]);
        return;
    }
    if matches!(target, Type::TraitObject(_)) {
        diagnostics.at(target, &message::UNNAMED_STATE, &[]);
    } else if let Some(owned) = owned_form(target) {
        let values = [written(target), owned];
        diagnostics.at(
            target,
            &message::UNNAMED_TEXT_OR_LIST,
            &values.each_ref().map(String::as_str),
        );
    } else if let Some(lifetime) = &mentions.lifetime {
        diagnostics.at(lifetime, &message::BORROWING_STATE, &[]);
    }
}

/// What owns a `str` or a `[T]`.
fn owned_form(target: &Type) -> Option<String> {
    match target {
        Type::Slice(slice) => Some(format!("Vec<{}>", written(&slice.elem))),
        Type::Path(path) if path.path.is_ident("str") => Some("String".to_owned()),
        _ => None,
    }
}

fn input(kind: &Type, signature: &Signature, diagnostics: &mut Diagnostics) {
    let mentions = Mentions::of(kind, signature);
    if let Some(impl_trait) = &mentions.impl_trait {
        diagnostics.at(impl_trait, &message::WORKFLOW_IMPL_TRAIT, &[]);
    } else if let Some(borrow) = mentions.borrow() {
        diagnostics.at(borrow, &message::BORROWED_INPUT, &[]);
    }
}

fn output(signature: &Signature, diagnostics: &mut Diagnostics) {
    let Some(output) = model::output(signature) else {
        // Under the parentheses of the parameters: the return type would follow them.
        diagnostics.at_span(signature.paren_token.span.close(), &message::NO_RETURN_TYPE, &[]);
        return;
    };
    let mentions = Mentions::of(output, signature);
    if let Some(impl_trait) = &mentions.impl_trait {
        diagnostics.at(impl_trait, &message::WORKFLOW_IMPL_TRAIT, &[]);
    } else if let Some(borrow) = mentions.borrow() {
        diagnostics.at(borrow, &message::BORROWED_OUTPUT, &[]);
    } else if model::is_no_result(output) {
        diagnostics.at(output, &message::NO_RESULT, &[&written(output)]);
    }
}

/// A type as one would write it, for messages.
fn written(kind: &Type) -> String {
    kind.to_token_stream()
        .to_string()
        .replace(" < ", "<")
        .replace(" > ", ">")
        .replace(" >", ">")
        .replace(" :: ", "::")
}
