//! Other people's macros whose arguments are expressions: what workflow code may wait in, and what lints look into.
//! Absent on purpose: what the macros mean. Arguments are split at commas; what is no expression stays as it is.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Macro, Pat, Token};

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

/// Macros whose arguments may never be evaluated: a logger that is off, a build without debug assertions.
const LAZY: &[&str] = &[
    "debug",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "debug_span",
    "error",
    "error_span",
    "event",
    "info",
    "info_span",
    "log",
    "span",
    "trace",
    "trace_span",
    "warn",
    "warn_span",
];

/// How a macro hides what it waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    /// Nobody can see what becomes of its contents.
    FromUs,
    /// Whether its arguments are evaluated at all depends on more than the journal.
    FromReplay,
}

/// Whether workflow code waits inside this macro where it must not.
pub fn hides(mac: &Macro) -> Option<Hidden> {
    let others_wait = |piece: &Piece| matches!(piece, Piece::Other(other) if waits(other.clone()));
    if !waits(mac.tokens.clone()) {
        None
    } else if is_listed(mac, LAZY) {
        Some(Hidden::FromReplay)
    } else {
        (!is_known(mac) || pieces(mac).iter().any(others_wait)).then_some(Hidden::FromUs)
    }
}

fn is_listed(mac: &Macro, names: &[&str]) -> bool {
    let last = mac.path.segments.last();
    last.is_some_and(|last| names.binary_search(&last.ident.to_string().as_str()).is_ok())
}

pub fn is_known(mac: &Macro) -> bool {
    is_listed(mac, KNOWN)
}

/// All pieces in order, separators included, so that writing them out again gives the same macro call.
pub fn pieces(mac: &Macro) -> Vec<Piece> {
    // Only the first argument of `matches!` is an expression; `Some(1)` among the patterns would look like one.
    let patterns_follow = is_listed(mac, &["matches"]);
    let parse = |input: ParseStream<'_>| {
        let mut pieces = Vec::new();
        while !input.is_empty() {
            if is_separator(input) {
                pieces.push(Piece::Other(input.parse::<TokenTree>()?.into()));
                if patterns_follow {
                    pieces.extend(guarded_pattern(input)?);
                }
            } else {
                pieces.push(piece(input)?);
            }
        }
        Ok(pieces)
    };
    parse
        .parse2(mac.tokens.clone())
        .unwrap_or_else(|_| vec![Piece::Other(mac.tokens.clone())])
}

fn is_separator(input: ParseStream<'_>) -> bool {
    input.peek(Token![,]) || input.peek(Token![;])
}

/// An expression, maybe behind a field name or a sigil of tracing; or whatever stands before the next separator.
fn piece(input: ParseStream<'_>) -> syn::Result<Piece> {
    let mut before = TokenStream::new();
    let mut may_begin = true;
    while !input.is_empty() && !is_separator(input) {
        if may_begin && let Some(expression) = whole_expression(input) {
            return Ok(Piece::Expression { before, expression });
        }
        let tree: TokenTree = input.parse()?;
        may_begin = matches!(&tree, TokenTree::Punct(punct) if matches!(punct.as_char(), '=' | '%' | '?' | ':'));
        before.extend([tree]);
    }
    Ok(Piece::Other(before))
}

/// An expression that goes on to the next separator. Read by a parser, since `f::<A, B>()` has a comma inside.
fn whole_expression(input: ParseStream<'_>) -> Option<Expr> {
    let ahead = input.fork();
    let expression = ahead.parse().ok()?;
    (ahead.is_empty() || is_separator(&ahead)).then(|| {
        input.advance_to(&ahead);
        expression
    })
}

/// `pattern if guard`: the guard is an expression too.
fn guarded_pattern(input: ParseStream<'_>) -> syn::Result<Vec<Piece>> {
    let ahead = input.fork();
    let mut pieces = Vec::new();
    if let Ok(pattern) = Pat::parse_multi_with_leading_vert(&ahead)
        && let Ok(keyword) = ahead.parse::<Token![if]>()
        && let Some(expression) = whole_expression(&ahead)
    {
        input.advance_to(&ahead);
        let before = quote!(#pattern #keyword);
        pieces.push(Piece::Expression { before, expression });
    }
    pieces.push(Piece::Other(input.parse()?));
    Ok(pieces)
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
        assert!(KNOWN.is_sorted() && LAZY.is_sorted());
    }

    #[test]
    fn a_wait_is_hidden_where_nobody_can_guard_it_or_it_may_not_be_reached() {
        let hidden = |source: &str| hides(&syn::parse_str(source).expect("a macro call"));
        assert!(hidden("json!({ \"a\": a.await })") == Some(Hidden::FromUs));
        assert!(hidden("assert!(a b.await)") == Some(Hidden::FromUs));
        assert!(hidden("tracing::info!(x = a.await, \"text\")") == Some(Hidden::FromReplay));
        assert!(hidden("info!(\"{}\", now!())") == Some(Hidden::FromReplay));
        assert!(hidden("debug_assert!(a.await)") == Some(Hidden::FromReplay));
        assert!(hidden("assert!(a.await, \"{}\", b)").is_none());
        assert!(hidden("info!(x, \"text\")").is_none());
    }

    #[test]
    fn nothing_is_lost_when_a_call_is_taken_apart_and_written_again() {
        for source in [
            r#"format!("{} {x}", a.await, x = b.await)"#,
            "vec![f(x).await; 3]",
            "matches!(x.await, Some(1) | None if y)",
            r#"info!(target: "t", user.id = %id.await, ?order, "text {}", c)"#,
            "println!()",
            "vec![f::<A, B>(x).await, |a, b| a + b]",
            "matches!(x, Some(1) | None if y.await,)",
        ] {
            let mac: Macro = syn::parse_str(source).expect("a macro call");
            assert_eq!(
                read_back(source).1.replace(' ', ""),
                mac.tokens.to_string().replace(' ', "")
            );
        }
    }

    #[test]
    fn expressions_are_found_behind_names_and_sigils_and_patterns_are_left_alone() {
        assert_eq!(
            read_back(r#"info!(user.id = %id.await, ?order)"#).0,
            ["id . await", "order"]
        );
        assert_eq!(read_back("matches!(x.await, Some(1))").0, ["x . await"]);
        assert_eq!(read_back("matches!(x, Some(y) if y.await)").0, ["x", "y . await"]);
        assert_eq!(
            read_back("vec![f::<A, B>().await, |a, b| a]").0,
            ["f :: < A , B > () . await", "| a , b | a"]
        );
        assert_eq!(read_back("vec![a.await; 3]").0, ["a . await", "3"]);
    }
}
