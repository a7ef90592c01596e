//! Texts that are made to be kept: which values they show with `{:?}`. Absent on purpose: printing and logging.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, Ident, LitStr, Macro};

use crate::code::known::{self, Piece};

const KEPT: &[&str] = &[
    "anyhow",
    "bail",
    "ensure",
    "eyre",
    "format",
    "format_args",
    "panic",
    "write",
    "writeln",
];

/// A value and where it is named: its own tokens, or the whole text around `{name:?}`.
pub(crate) struct Shown {
    pub value: Expr,
    pub place: TokenStream,
}

/// The values that a call of `format!` and its like shows by their `Debug`.
pub(crate) fn debug_arguments(mac: &Macro) -> Vec<Shown> {
    let keeps = mac
        .path
        .segments
        .last()
        .is_some_and(|last| KEPT.iter().any(|kept| last.ident == kept));
    if !keeps {
        return Vec::new();
    }
    let mut pieces = known::pieces(mac).into_iter().filter_map(|piece| match piece {
        // `name = value` reads as an assignment.
        Piece::Expression {
            expression: Expr::Assign(assign),
            ..
        } => Some((Some(assign.left.to_token_stream().to_string()), *assign.right)),
        Piece::Expression { expression, .. } => Some((None, expression)),
        Piece::Other(_) => None,
    });
    let Some(text) = pieces.by_ref().find_map(|(_, piece)| text(&piece)) else {
        return Vec::new();
    };
    let arguments: Vec<(Option<String>, Expr)> = pieces.collect();
    let named = |name: &str| {
        let argument = arguments.iter().find(|(known, _)| known.as_deref() == Some(name));
        match argument {
            Some((_, value)) => Some(shown(value)),
            None => syn::parse_str::<Ident>(name).ok().map(|ident| {
                let place = text.to_token_stream();
                let value = syn::parse_quote!(#ident);
                Shown { value, place }
            }),
        }
    };
    let found = debugged(&text.value())
        .into_iter()
        .filter_map(|argument| match argument {
            Argument::At(position) => arguments.get(position).map(|(_, value)| shown(value)),
            Argument::Named(name) => named(&name),
        });
    found.collect()
}

fn shown(value: &Expr) -> Shown {
    Shown {
        value: value.clone(),
        place: value.to_token_stream(),
    }
}

fn text(piece: &Expr) -> Option<LitStr> {
    match piece {
        Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Str(text) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

enum Argument {
    At(usize),
    Named(String),
}

/// The arguments of `{:?}`, `{0:#?}`, `{name:?}`.
fn debugged(text: &str) -> Vec<Argument> {
    let mut found = Vec::new();
    let mut next = 0;
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('{') {
        if let Some(escaped) = after.strip_prefix('{') {
            rest = escaped;
            continue;
        }
        let Some((placeholder, after)) = after.split_once('}') else {
            break;
        };
        let (name, format) = placeholder.split_once(':').unwrap_or((placeholder, ""));
        let argument = match name.trim() {
            "" => {
                next += 1;
                Argument::At(next - 1)
            }
            name => name
                .parse()
                .map_or_else(|_| Argument::Named(name.to_owned()), Argument::At),
        };
        if format.trim().ends_with('?') {
            found.push(argument);
        }
        rest = after;
    }
    found
}

/// Whether the name is among these tokens, or within one of their texts as in `"{name}"`.
pub(crate) fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Group(group) => mentions(group.stream(), name),
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Literal(literal) => literal.to_string().contains(&format!("{{{name}")),
        TokenTree::Punct(_) => false,
    })
}
