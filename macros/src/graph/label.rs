//! Code as short text: tokens written as a person would, and how wide a text is about.
//! Absent on purpose: fonts. Widths are estimated for a common sans-serif, on the safe side.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;

/// What is written, in one line.
pub(crate) fn text(tokens: &impl ToTokens) -> String {
    let mut written = Written::default();
    written.stream(tokens.to_token_stream());
    written.text
}

/// The same, cut to `most` characters.
pub(crate) fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// About how many pixels wide `text` is in letters of 13 pixels.
pub(crate) fn width(text: &str) -> i32 {
    let tenths: i32 = text.chars().map(tenths).sum();
    (tenths + 9) / 10
}

fn tenths(character: char) -> i32 {
    match character {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 42,
        'f' | 'r' | 't' | 'I' | ' ' | '(' | ')' | '[' | ']' | '{' | '}' | '/' | '"' => 52,
        'm' | 'w' | 'M' | 'W' | '@' | '…' | '%' => 115,
        'A'..='Z' | '&' | '<' | '>' | '=' | '+' | '~' => 95,
        other if other.is_ascii() => 79,
        // Letters of other scripts may be as wide as they are high.
        other if (other as u32) < 0x2000 => 90,
        _ => 135,
    }
}

#[derive(Default)]
struct Written {
    text: String,
    /// What came last, as far as it decides on a space.
    last: Last,
    /// The last punctuation so far: `::`, `=>`.
    punctuation: String,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Nothing,
    Word,
    /// Punctuation that holds on to what follows: `.`, `::`, `&`, `!` before a value.
    Tight,
    /// Punctuation with spaces around it.
    Operator,
    /// `,` and `;`
    Separator,
}

/// Words after which an operator begins a value.
const KEYWORDS: [&str; 11] = [
    "in", "if", "match", "return", "let", "as", "mut", "ref", "else", "for", "while",
];

impl Written {
    fn stream(&mut self, stream: TokenStream) {
        let mut trees = stream.into_iter().peekable();
        while let Some(tree) = trees.next() {
            match tree {
                TokenTree::Group(group) => self.group(group.delimiter(), group.stream()),
                TokenTree::Ident(ident) => self.word(&ident.to_string()),
                TokenTree::Literal(literal) => self.word(&literal.to_string()),
                TokenTree::Punct(punct) => {
                    self.punctuation.push(punct.as_char());
                    let goes_on = punct.spacing() == Spacing::Joint
                        && matches!(trees.peek(), Some(TokenTree::Punct(next)) if joins(&self.punctuation, next.as_char()));
                    let lifetime = punct.as_char() == '\'';
                    if lifetime {
                        self.space_before_word();
                        self.text.push('\'');
                        self.last = Last::Tight;
                        self.punctuation.clear();
                    } else if !goes_on {
                        let whole = std::mem::take(&mut self.punctuation);
                        self.operator(&whole);
                    }
                }
            }
        }
    }

    fn group(&mut self, delimiter: Delimiter, inner: TokenStream) {
        let (open, close) = match delimiter {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::None => ("", ""),
        };
        if delimiter == Delimiter::None {
            return self.stream(inner);
        }
        let called = self.last == Last::Word && delimiter != Delimiter::Brace && !self.ends_in_keyword();
        if !called {
            self.space_before_word();
        }
        if delimiter == Delimiter::Brace && inner.is_empty() {
            self.text.push_str("{}");
        } else if delimiter == Delimiter::Brace {
            self.text.push_str("{ ");
            self.last = Last::Tight;
            self.stream(inner);
            self.text.push_str(" }");
        } else {
            self.text.push_str(open);
            self.last = Last::Tight;
            self.stream(inner);
            self.text.push_str(close);
        }
        self.last = Last::Word;
    }

    fn word(&mut self, word: &str) {
        self.space_before_word();
        self.text.push_str(word);
        self.last = Last::Word;
    }

    fn space_before_word(&mut self) {
        match self.last {
            Last::Nothing | Last::Tight => {}
            Last::Word | Last::Operator | Last::Separator => self.text.push(' '),
        }
    }

    fn operator(&mut self, operator: &str) {
        let after_value = self.last == Last::Word && !self.ends_in_keyword();
        match operator {
            "." | "::" => {
                if !after_value {
                    self.space_before_word();
                }
                self.text.push_str(operator);
                self.last = Last::Tight;
            }
            "?" => self.text.push('?'),
            "," | ";" => {
                self.text.push_str(operator);
                self.last = Last::Separator;
            }
            ":" => {
                self.text.push(':');
                self.last = Last::Operator;
            }
            // `name!(…)` and `Vec<T>`: macros and types are written tight.
            "!" if after_value => {
                self.text.push('!');
                self.last = Last::Word;
            }
            "<" | ">" if self.in_type(operator) => {
                if self.last == Last::Separator {
                    let written = self.text.trim_end_matches(',').len();
                    self.text.truncate(written);
                }
                self.text.push_str(operator);
                self.last = if operator == "<" { Last::Tight } else { Last::Word };
            }
            ".." | "..=" => {
                self.text.push_str(operator);
                self.last = Last::Tight;
            }
            "&" | "*" | "-" | "!" | "&&" if !after_value => {
                self.space_before_word();
                self.text.push_str(operator);
                self.last = Last::Tight;
            }
            "|" if !after_value => {
                self.space_before_word();
                self.text.push_str(operator);
                self.last = Last::Tight;
            }
            other => {
                if self.last != Last::Nothing && self.last != Last::Tight {
                    self.text.push(' ');
                }
                self.text.push_str(other);
                self.last = Last::Operator;
            }
        }
    }

    /// A guess: `<` after a name that begins with a capital, or after `::`, opens generics, and `>` closes what is open.
    fn in_type(&self, operator: &str) -> bool {
        let word = self
            .text
            .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .unwrap_or_default();
        match operator {
            "<" => word.starts_with(char::is_uppercase) && self.last == Last::Word || self.text.ends_with("::"),
            _ => self.text.matches('<').count() > self.text.matches('>').count() && !self.text.contains(" < "),
        }
    }

    fn ends_in_keyword(&self) -> bool {
        let word = self
            .text
            .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
            .next()
            .unwrap_or_default();
        KEYWORDS.contains(&word)
    }
}

/// Whether `so_far` and `next` are one operator.
fn joins(so_far: &str, next: char) -> bool {
    matches!(
        (so_far, next),
        (":", ':')
            | (
                "=" | "!" | "<" | ">" | "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^",
                '='
            )
            | ("=" | "-", '>')
            | ("&", '&')
            | ("|", '|')
            | (".", '.')
            | ("..", '=' | '.')
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(source: &str) -> String {
        text(&source.parse::<TokenStream>().expect("tokens"))
    }

    #[test]
    fn code_is_written_as_a_person_would() {
        for source in [
            "order.total > 100",
            "&order.lines",
            "map_concurrent(&order.lines, 3)",
            "Ok(Approval { approved: true })",
            "Ok(_) | Err(Elapsed)",
            "!matches!(x, Some(1..=3))",
            "Race2::First(reason)",
            "a && !b || *c == -1",
            "for (place, line) in lines.iter().enumerate()",
            "if let Some(x) = y? { f(x)?.g() }",
            "Result<Vec<u32>, BoxError>",
            "BTreeMap<String, &'static str>",
            "(u32, String)",
            "Vec::<u8>::new()",
            "while count < 3",
            "[u8; 4]",
        ] {
            assert_eq!(written(source), source);
        }
        assert_eq!(written("BTreeMap<\n    String,\n    u8,\n>"), "BTreeMap<String, u8>");
    }

    #[test]
    fn long_texts_end_in_an_ellipsis() {
        assert_eq!(short("a long condition", 7), "a long…");
        assert_eq!(short("short", 7), "short");
        assert!(width("WWWW") > width("iiii"));
    }
}
