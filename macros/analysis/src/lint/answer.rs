//! What a method call on something of a visible type visibly gives. Absent on purpose: methods that nobody asks about.

use syn::{ExprMethodCall, GenericArgument, Type};

use crate::lint::float_branch;
use crate::lint::types::{Types, inside, last_argument, peel};

pub(crate) fn of(call: &ExprMethodCall, types: &Types) -> Option<Type> {
    let receiver = || types.of(&call.receiver);
    match call.method.to_string().as_str() {
        "clone" | "cloned" | "copied" | "to_owned" | "as_ref" | "as_mut" | "as_deref" | "by_ref" | "into_owned" => {
            receiver()
        }
        "collect" | "sum" | "product" | "parse" => turbofish(call),
        "unwrap" | "expect" | "unwrap_or" | "unwrap_or_else" | "unwrap_or_default" => inside(peel(&receiver()?)),
        "get" | "get_mut" => {
            let held = last_argument(peel(&receiver()?))?;
            Some(syn::parse_quote!(Option<#held>))
        }
        "or_default" | "or_insert" | "or_insert_with" => match &*call.receiver {
            syn::Expr::MethodCall(entry) if entry.method == "entry" => last_argument(peel(&types.of(&entry.receiver)?)),
            _ => None,
        },
        method if float_branch::gives_a_float(method) => receiver().filter(float_branch::is_float),
        _ => None,
    }
}

/// `T` of `.collect::<T>()`.
pub(crate) fn turbofish(call: &ExprMethodCall) -> Option<Type> {
    call.turbofish
        .as_ref()?
        .args
        .iter()
        .find_map(|argument| match argument {
            GenericArgument::Type(kind) => Some(kind.clone()),
            _ => None,
        })
}
