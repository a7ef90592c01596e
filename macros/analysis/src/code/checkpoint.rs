//! The checkpoint macros: how each is written.
//! Absent on purpose: any judgement on names (`check`), and the calls they stand for (the macros).

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Block, Expr, ExprClosure, Token};

use crate::names::{Meaning, Names};

/// One of the macros, told by the last segment of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Step,
    Sleep,
    Signal,
    Join,
    TryJoin,
    Race,
    Now,
    Random,
    Uuid,
    Patched,
    Retired,
    Removed,
}

impl Kind {
    pub const ALL: [Self; 12] = [
        Self::Step,
        Self::Sleep,
        Self::Signal,
        Self::Join,
        Self::TryJoin,
        Self::Race,
        Self::Now,
        Self::Random,
        Self::Uuid,
        Self::Patched,
        Self::Retired,
        Self::Removed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Sleep => "sleep",
            Self::Signal => "signal",
            Self::Join => "join",
            Self::TryJoin => "try_join",
            Self::Race => "race",
            Self::Now => "now",
            Self::Random => "random",
            Self::Uuid => "uuid",
            Self::Patched => "patched",
            Self::Retired => "retired",
            Self::Removed => "removed",
        }
    }

    /// By the last segment, so that `steadfast::step!` and a renamed crate's `sf::step!` are found too. What comes from
    /// another well-known crate, by its path or by a `use` in sight, is not one of ours, nor is a `macro_rules!` in sight.
    pub fn of(path: &syn::Path, names: &Names) -> Option<Self> {
        let kind = Self::named(&path.segments.last()?.ident)?;
        if names.declares_macro(path) {
            return None;
        }
        match names.meaning(path) {
            Meaning::Foreign(path) | Meaning::Unknown(path) if path.len() > 1 => {
                let foreign = path.first().is_some_and(|first| FOREIGN.contains(&first.as_str()));
                (!foreign).then_some(kind)
            }
            Meaning::Foreign(_) | Meaning::Unknown(_) | Meaning::Own => Some(kind),
        }
    }

    /// By its bare name.
    pub fn named(name: &syn::Ident) -> Option<Self> {
        let name = name.unraw();
        Self::ALL.into_iter().find(|kind| name == kind.name())
    }

    /// How it is written, for messages.
    pub fn usage(self) -> &'static str {
        match self {
            Self::Step => "step!(\"name\", future)` or `step!(\"name\", { … })",
            Self::Sleep => "sleep!(\"name\", duration)",
            Self::Signal => "signal!(\"name\")",
            Self::Join => "join!(first, second)",
            Self::TryJoin => "try_join!(first, second)",
            Self::Race => "race!(first, second)",
            Self::Now => "now!()",
            Self::Random => "random!()` or `random!(low..high)",
            Self::Uuid => "uuid!()",
            Self::Patched => "patched!(\"change\")",
            Self::Retired => "retired!(\"change\")",
            Self::Removed => "removed!(\"step\")`, `removed!(sleep \"name\")` or `removed!(signal \"name\")",
        }
    }
}

/// Crates with macros of the same names, which are told apart by their path.
const FOREIGN: [&str; 9] = [
    "tokio",
    "futures",
    "futures_util",
    "futures_lite",
    "futures_concurrency",
    "async_std",
    "smol",
    "monoio",
    "macro_rules_attribute",
];

/// Both are tuples, and the runtime has that many implementations.
pub const JOIN_MAX: usize = 12;
pub const RACE_BRANCHES: std::ops::RangeInclusive<usize> = 2..=8;

/// A checkpoint macro that was understood.
pub enum Checkpoint {
    Step {
        name: Expr,
        body: Body,
    },
    Sleep {
        name: Expr,
        deadline: Expr,
    },
    Signal {
        name: Expr,
    },
    Group {
        kind: Kind,
        branches: Vec<Expr>,
    },
    Recorded {
        kind: Kind,
        range: Option<Expr>,
    },
    Change {
        kind: Kind,
        id: Expr,
    },
    /// In the place of a step, a sleep or a wait for a signal.
    Removed {
        of: Kind,
        name: Expr,
    },
}

/// What a step runs. It is not workflow code, and stays as the author wrote it.
pub enum Body {
    /// `{ … }` or `async { … }`
    Block(Block),
    /// `|attempt| …`
    Closure(ExprClosure),
    /// Any other expression: the future itself.
    Future(Expr),
}

impl Checkpoint {
    /// Reads the tokens between the macro's parentheses.
    pub fn parse(kind: Kind, tokens: TokenStream) -> syn::Result<Self> {
        let parse = |input: ParseStream<'_>| match kind {
            Kind::Step => {
                let (name, body) = named_with(input)?;
                Ok(Self::Step {
                    name,
                    body: Body::new(body),
                })
            }
            Kind::Sleep => named_with(input).map(|(name, deadline)| Self::Sleep { name, deadline }),
            Kind::Signal => sole(input).map(|name| Self::Signal { name }),
            Kind::Join | Kind::TryJoin | Kind::Race => {
                let branches = Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
                Ok(Self::Group {
                    kind,
                    branches: branches.into_iter().collect(),
                })
            }
            Kind::Random if !input.is_empty() => Ok(Self::Recorded {
                kind,
                range: Some(input.parse()?),
            }),
            Kind::Now | Kind::Random | Kind::Uuid => Ok(Self::Recorded { kind, range: None }),
            Kind::Patched | Kind::Retired => sole(input).map(|id| Self::Change { kind, id }),
            Kind::Removed => {
                let of = removed_kind(input)?;
                sole(input).map(|name| Self::Removed { of, name })
            }
        };
        parse.parse2(tokens)
    }

    /// True if the call it stands for has a chance to compile: otherwise `check` has reported it.
    pub fn fits(&self) -> bool {
        match self {
            Self::Step {
                body: Body::Closure(closure),
                ..
            } => closure.inputs.len() == 1,
            Self::Group {
                kind: Kind::Race,
                branches,
            } => RACE_BRANCHES.contains(&branches.len()),
            Self::Group { branches, .. } => branches.len() <= JOIN_MAX,
            Self::Step { .. }
            | Self::Sleep { .. }
            | Self::Signal { .. }
            | Self::Recorded { .. }
            | Self::Change { .. }
            | Self::Removed { .. } => true,
        }
    }

    /// The parts that are workflow code themselves. A step's body is not.
    pub fn workflow_parts(&self) -> Vec<&Expr> {
        match self {
            Self::Step { name, body: _ } | Self::Signal { name } => vec![name],
            Self::Sleep { name, deadline } => vec![name, deadline],
            Self::Group { branches, .. } => branches.iter().collect(),
            Self::Recorded { range, .. } => range.iter().collect(),
            Self::Change { id: name, .. } | Self::Removed { name, .. } => vec![name],
        }
    }

    pub fn name_mut(&mut self) -> Option<&mut Expr> {
        match self {
            Self::Step { name, .. }
            | Self::Sleep { name, .. }
            | Self::Signal { name }
            | Self::Change { id: name, .. }
            | Self::Removed { name, .. } => Some(name),
            Self::Group { .. } | Self::Recorded { .. } => None,
        }
    }

    pub fn workflow_parts_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Self::Step { name, body: _ } | Self::Signal { name } => vec![name],
            Self::Sleep { name, deadline } => vec![name, deadline],
            Self::Group { branches, .. } => branches.iter_mut().collect(),
            Self::Recorded { range, .. } => range.iter_mut().collect(),
            Self::Change { id: name, .. } | Self::Removed { name, .. } => vec![name],
        }
    }
}

/// One value with an optional comma after it.
fn sole(input: ParseStream<'_>) -> syn::Result<Expr> {
    let value = input.parse()?;
    input.parse::<Option<Token![,]>>()?;
    Ok(value)
}

/// What the checkpoint was that is gone: a step, unless it says otherwise.
fn removed_kind(input: ParseStream<'_>) -> syn::Result<Kind> {
    let is_word = input.peek(syn::Ident) && input.peek2(syn::LitStr);
    if !is_word {
        return Ok(Kind::Step);
    }
    let word: syn::Ident = input.parse()?;
    match Kind::named(&word) {
        Some(kind @ (Kind::Sleep | Kind::Signal)) => Ok(kind),
        _ => Err(syn::Error::new(word.span(), "neither `sleep` nor `signal`")),
    }
}

/// `name, value` with an optional comma after it.
fn named_with<T: Parse>(input: ParseStream<'_>) -> syn::Result<(Expr, T)> {
    let name = input.parse()?;
    if input.is_empty() {
        // So that the error says that it is about the end.
        return Err(input.error("expected a comma and a value"));
    }
    input.parse::<Token![,]>()?;
    let value = input.parse()?;
    input.parse::<Option<Token![,]>>()?;
    Ok((name, value))
}

impl Body {
    pub fn visit<'ast>(&'ast self, visitor: &mut impl Visit<'ast>) {
        match self {
            Self::Block(block) => visitor.visit_block(block),
            Self::Closure(closure) => visitor.visit_expr_closure(closure),
            Self::Future(future) => visitor.visit_expr(future),
        }
    }

    pub fn visit_mut(&mut self, visitor: &mut impl VisitMut) {
        match self {
            Self::Block(block) => visitor.visit_block_mut(block),
            Self::Closure(closure) => visitor.visit_expr_closure_mut(closure),
            Self::Future(future) => visitor.visit_expr_mut(future),
        }
    }

    fn new(body: Expr) -> Self {
        match body {
            Expr::Block(block) if block.label.is_none() && block.attrs.is_empty() => Self::Block(block.block),
            // Without `move`: a body borrows, since a later attempt needs the same values again.
            Expr::Async(block) if block.attrs.is_empty() => Self::Block(block.block),
            Expr::Closure(closure) => Self::Closure(closure),
            other => Self::Future(other),
        }
    }
}
