//! Rules that are about no path: what is written where, whatever it is called.
//! Absent on purpose: their words, which are in the table.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, ExprLit, Item, Lit, Macro, Stmt, Type};

use crate::code::known::{self, Piece};
use crate::lint::table::{ADDRESS_OR_HASH, Rule, UNSAFE_OR_EXIT};
use crate::names::{Names, statics};

/// The rule that an expression breaks by its form, the place, and what to call it.
pub(super) fn broken(expression: &Expr) -> Option<(&'static Rule, TokenStream, String)> {
    match expression {
        Expr::Unsafe(block) => Some((
            UNSAFE_OR_EXIT,
            block.unsafe_token.to_token_stream(),
            "unsafe".to_owned(),
        )),
        Expr::RawAddr(address) => Some((ADDRESS_OR_HASH, address.to_token_stream(), "&raw".to_owned())),
        Expr::Cast(cast) => {
            let (as_token, kind) = (&cast.as_token, &cast.ty);
            let place = quote::quote!(#as_token #kind);
            match &**kind {
                Type::Ptr(pointer) => {
                    let kind = if pointer.mutability.is_some() {
                        "as *mut"
                    } else {
                        "as *const"
                    };
                    Some((ADDRESS_OR_HASH, place, kind.to_owned()))
                }
                Type::Path(number) if gives_pointer(&cast.expr) => {
                    Some((ADDRESS_OR_HASH, place, format!("as {}", super::written(number))))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// `list.as_ptr()`, which as a number is an address.
fn gives_pointer(value: &Expr) -> bool {
    match value {
        Expr::MethodCall(call) => call.args.is_empty() && (call.method == "as_ptr" || call.method == "as_mut_ptr"),
        Expr::Paren(paren) => gives_pointer(&paren.expr),
        _ => false,
    }
}

/// A static of the function's own that can change.
pub(super) fn changing_static(statement: &Stmt, names: &Names) -> Option<(TokenStream, String)> {
    match statement {
        Stmt::Item(Item::Static(item)) if statics::is_changing(item, names) => {
            Some((item.ident.to_token_stream(), format!("static {}", item.ident)))
        }
        _ => None,
    }
}

/// The text of a formatting macro that prints an address: the first text among the arguments that can be one.
pub(super) fn formats_address(mac: &Macro) -> Option<TokenStream> {
    let name = mac.path.segments.last()?.ident.to_string();
    let before = match name.as_str() {
        "matches" | "vec" | "dbg" => return None,
        "assert" | "debug_assert" | "write" | "writeln" | "ensure" => 1,
        "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => 2,
        _ => 0,
    };
    let arguments = known::pieces(mac).into_iter().filter_map(|piece| match piece {
        Piece::Expression { expression, .. } => Some(expression),
        Piece::Other(_) => None,
    });
    let mut texts = arguments.skip(before).filter_map(|argument| match argument {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text), ..
        }) => Some(text),
        _ => None,
    });
    texts
        .next()
        .filter(|text| has_pointer_format(&text.value()))
        .map(ToTokens::into_token_stream)
}

/// `{:p}`, `{name:#p}`, and no `{{:p}}`.
fn has_pointer_format(text: &str) -> bool {
    let text = text.replace("{{", "");
    text.split('{').skip(1).any(|rest| {
        let argument = rest.split('}').next().unwrap_or_default();
        argument
            .split_once(':')
            .is_some_and(|(_, format)| format.trim_end().ends_with('p'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointer_formats_are_told_from_others() {
        for text in ["{:p}", "at {x:#p}", "{0:018p} and", "{:>20p}"] {
            assert!(has_pointer_format(text), "{text}");
        }
        for text in ["{}", "{p}", "{:?}", "{{:p}}", ":p", "{:p<5}", "{p:?}"] {
            assert!(!has_pointer_format(text), "{text}");
        }
    }
}
