//! Other people's macros whose arguments are expressions: what workflow code may wait in, and what lints look into.
//! Absent on purpose: what the macros mean. Arguments are split at commas; what is no expression stays as it is.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, Macro};

use crate::code::checkpoint::Kind;

/// By the last segment of the path, as `std::format!` and `tracing::info!` are written too.
const KNOWN: &[&str] = &[
    "anyhow",
    "assert",
    "assert_eq",
    "assert_ne",
    "bail",
    "dbg",
    "debug",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "debug_span",
    "ensure",
    "eprint",
    "eprintln",
    "error",
    "error_span",
    "event",
    "eyre",
    "format",
    "format_args",
    "info",
    "info_span",
    "log",
    "matches",
    "panic",
    "print",
    "println",
    "span",
    "todo",
    "trace",
    "trace_span",
    "unimplemented",
    "unreachable",
    "vec",
    "warn",
    "warn_span",
    "write",
    "writeln",
];

/// One piece between two commas (or the `;` of `vec![value; count]`).
// Short-lived, and nearly all of them are expressions.
#[allow(clippy::large_enum_variant)]
pub enum Piece {
    /// What stands before the expression: `name =`, `%`, `?`; often nothing.
    Expression { before: TokenStream, expression: Expr },
    /// A pattern, a format string's oddity, a separator: anything else.
    Other(TokenStream),
}

pub fn is_known(mac: &Macro) -> bool {
    mac.path
        .segments
        .last()
        .is_some_and(|last| KNOWN.binary_search(&last.ident.to_string().as_str()).is_ok())
}

/// All pieces in order, separators included, so that writing them out again gives the same macro call.
pub fn pieces(mac: &Macro) -> Vec<Piece> {
    // Only the first argument of `matches!` is an expression; `Some(1)` among the patterns would look like one.
    let patterns_follow = mac.path.segments.last().is_some_and(|last| last.ident == "matches");
    let mut pieces = Vec::new();
    let mut piece = TokenStream::new();
    let mut trees = mac.tokens.clone().into_iter();
    while let Some(tree) = trees.next() {
        if matches!(&tree, TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';')) {
            pieces.push(read(std::mem::take(&mut piece)));
            pieces.push(Piece::Other(tree.into()));
            if patterns_follow {
                pieces.push(Piece::Other(trees.by_ref().collect()));
            }
        } else {
            piece.extend([tree]);
        }
    }
    pieces.push(read(piece));
    pieces
}

/// An expression, maybe behind a field name or a sigil of tracing.
fn read(piece: TokenStream) -> Piece {
    if let Ok(expression) = syn::parse2(piece.clone()) {
        return Piece::Expression {
            before: TokenStream::new(),
            expression,
        };
    }
    let mut before = TokenStream::new();
    let mut trees = piece.clone().into_iter();
    while let Some(tree) = trees.next() {
        let ends_prefix = matches!(&tree, TokenTree::Punct(punct) if matches!(punct.as_char(), '=' | '%' | '?' | ':'));
        before.extend([tree]);
        if ends_prefix && let Ok(expression) = syn::parse2(trees.clone().collect()) {
            return Piece::Expression { before, expression };
        }
    }
    Piece::Other(piece)
}

impl ToTokens for Piece {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Expression { before, expression } => {
                before.to_tokens(tokens);
                expression.to_tokens(tokens);
            }
            Self::Other(other) => other.to_tokens(tokens),
        }
    }
}

/// True when these tokens hold an `.await` or one of our macros.
pub fn waits(tokens: TokenStream) -> bool {
    let mut before: Option<TokenTree> = None;
    tokens.into_iter().any(|tree| {
        let found = match &tree {
            TokenTree::Group(group) => waits(group.stream()),
            TokenTree::Ident(ident) => ident == "await" && is_punct(before.as_ref(), '.'),
            TokenTree::Punct(punct) if punct.as_char() == '!' => match &before {
                Some(TokenTree::Ident(name)) => Kind::named(name).is_some(),
                _ => false,
            },
            TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        };
        before = Some(tree);
        found
    })
}

fn is_punct(tree: Option<&TokenTree>, character: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(source: &str) -> (Vec<String>, String) {
        let mac: Macro = syn::parse_str(source).expect("a macro call");
        let pieces = pieces(&mac);
        let expressions = pieces.iter().filter_map(|piece| match piece {
            Piece::Expression { expression, .. } => Some(expression.to_token_stream().to_string()),
            Piece::Other(_) => None,
        });
        let written: TokenStream = pieces.iter().map(ToTokens::to_token_stream).collect();
        (expressions.collect(), written.to_string())
    }

    #[test]
    fn the_names_are_sorted_for_the_search() {
        assert!(KNOWN.is_sorted());
    }

    #[test]
    fn nothing_is_lost_when_a_call_is_taken_apart_and_written_again() {
        for source in [
            r#"format!("{} {x}", a.await, x = b.await)"#,
            "vec![f(x).await; 3]",
            "matches!(x.await, Some(1) | None if y)",
            r#"info!(target: "t", user.id = %id.await, ?order, "text {}", c)"#,
            "println!()",
        ] {
            let mac: Macro = syn::parse_str(source).expect("a macro call");
            assert_eq!(read_back(source).1, mac.tokens.to_string());
        }
    }

    #[test]
    fn expressions_are_found_behind_names_and_sigils_and_patterns_are_left_alone() {
        assert_eq!(
            read_back(r#"info!(user.id = %id.await, ?order)"#).0,
            ["id . await", "order"]
        );
        assert_eq!(read_back("matches!(x.await, Some(1))").0, ["x . await"]);
        assert_eq!(read_back("vec![a.await; 3]").0, ["a . await", "3"]);
    }
}
