//! Looks for calls in tokens that nobody can parse: the contents of macros that Steadfast does not know.
//! Absent on purpose: what stands in literals, and names without a path, which there can mean anything.

use proc_macro2::{Delimiter, Ident, Spacing, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::{Path, PathSegment, Token};

/// A call that the tokens plainly contain.
pub(super) enum Call {
    /// `path::of(…)`, of at least two names.
    Function(Path),
    /// `name!(…)`
    Macro(Path),
}

/// Macros that make text or code out of their contents, and run none of it here.
const QUOTING: &[&str] = &[
    "concat",
    "macro_rules",
    "parse_quote",
    "quote",
    "quote_spanned",
    "stringify",
];

pub(super) fn quotes(path: &Path) -> bool {
    path.segments
        .last()
        .is_some_and(|last| QUOTING.iter().any(|name| last.ident == name))
}

pub(super) fn calls(tokens: TokenStream) -> Vec<Call> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        match tree {
            TokenTree::Group(group) => found.extend(calls(group.stream())),
            TokenTree::Ident(first) if begins(&trees, at) => {
                let (path, end) = path(&trees, first, at);
                at = end;
                if let Some(call) = call(path, &trees, end) {
                    // What a quoting macro is given is no code of this place.
                    at += usize::from(matches!(&call, Call::Macro(path) if quotes(path))) * 2;
                    found.push(call);
                }
                continue;
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        at += 1;
    }
    found
}

/// Whether an identifier can begin a path that is called: it is no field, method, lifetime, or name being declared.
fn begins(trees: &[TokenTree], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| trees.get(before));
    match before {
        Some(TokenTree::Punct(punct)) => match punct.as_char() {
            '\'' | '$' => false,
            // A range may stand before a call, a dot alone makes it a method.
            '.' => is_punct(trees, at.wrapping_sub(2), '.'),
            _ => true,
        },
        Some(TokenTree::Ident(word)) => !["fn", "struct", "enum", "mod", "trait", "type", "use", "impl"]
            .iter()
            .any(|declares| word == declares),
        _ => true,
    }
}

/// The path that begins at `first`, and where the tokens go on after it.
fn path(trees: &[TokenTree], first: &Ident, start: usize) -> (Path, usize) {
    let leading = start >= 2 && is_separator(trees, start - 2);
    let mut segments: Punctuated<PathSegment, Token![::]> = Punctuated::new();
    segments.push(first.clone().into());
    let mut at = start + 1;
    while is_separator(trees, at) {
        match trees.get(at + 2) {
            Some(TokenTree::Ident(name)) => {
                segments.push(name.clone().into());
                at += 3;
            }
            Some(TokenTree::Punct(punct)) if punct.as_char() == '<' => at = after_generics(trees, at + 2),
            _ => break,
        }
    }
    let path = Path {
        leading_colon: leading.then(Default::default),
        segments,
    };
    (path, at)
}

fn after_generics(trees: &[TokenTree], start: usize) -> usize {
    let mut depth = 0;
    for (at, tree) in trees.iter().enumerate().skip(start) {
        if let TokenTree::Punct(punct) = tree {
            match punct.as_char() {
                '<' => depth += 1,
                '>' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at + 1;
            }
        }
    }
    trees.len()
}

fn call(path: Path, trees: &[TokenTree], end: usize) -> Option<Call> {
    match trees.get(end) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis && path.segments.len() > 1 => {
            Some(Call::Function(path))
        }
        Some(TokenTree::Punct(punct)) if punct.as_char() == '!' => {
            matches!(trees.get(end + 1), Some(TokenTree::Group(_))).then_some(Call::Macro(path))
        }
        _ => None,
    }
}

fn is_separator(trees: &[TokenTree], at: usize) -> bool {
    let joint = matches!(trees.get(at), Some(TokenTree::Punct(punct)) if punct.spacing() == Spacing::Joint);
    joint && is_punct(trees, at, ':') && is_punct(trees, at + 1, ':')
}

fn is_punct(trees: &[TokenTree], at: usize, character: char) -> bool {
    matches!(trees.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == character)
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;

    fn found(source: &str) -> Vec<String> {
        let calls = calls(source.parse().expect("tokens"));
        let text = |path: Path| path.to_token_stream().to_string().replace(' ', "");
        calls
            .into_iter()
            .map(|call| match call {
                Call::Function(path) => text(path),
                Call::Macro(path) => format!("{}!", text(path)),
            })
            .collect()
    }

    #[test]
    fn calls_are_found_in_any_tokens() {
        assert_eq!(found("let x => Instant::now()"), ["Instant::now"]);
        assert_eq!(found("a: { b(::rand::random::<u8>()) }"), ["::rand::random"]);
        assert_eq!(found("x => println!(\"{}\", a::b())"), ["println!", "a::b"]);
        assert_eq!(found("0..f::g() , #[x] a::c::d ( )"), ["f::g", "a::c::d"]);
    }

    #[test]
    fn what_is_no_call_is_left_alone() {
        for source in [
            "\"Instant::now()\"",
            "x.now() , now() , now",
            "Instant::now",
            "fn now::x()",
            "a != (b)",
            "use std::time::Instant;",
            "'a now::b",
        ] {
            assert_eq!(found(source), Vec::<String>::new(), "{source}");
        }
        assert_eq!(found("stringify!(Instant::now())"), ["stringify!"]);
    }
}
