//! `#[allow_nondeterminism(rule, reason = "…")]` on a statement or a function: one rule, silenced there, for a reason.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream, Parser};
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, Ident, Item, LitStr, Meta, Stmt, Token};

use crate::diagnostics::Diagnostics;
use crate::lint::table::RULES;
use crate::message;

/// An allowance in force.
pub struct Allowance {
    rule: Ident,
    used: bool,
}

pub fn is_allowance(attribute: &Attribute) -> bool {
    crate::is_named(attribute, "allow_nondeterminism")
}

struct Arguments {
    rule: Ident,
    reason: Option<LitStr>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let rule = input.parse()?;
        let mut reason = None;
        if input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let key: Ident = input.parse()?;
            if key != "reason" {
                return Err(syn::Error::new_spanned(key, "expected `reason`"));
            }
            input.parse::<Token![=]>()?;
            reason = Some(input.parse()?);
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(Self { rule, reason })
    }
}

impl Allowance {
    /// The allowances on a statement. A malformed one still counts, so that one mistake gives one error.
    pub fn on(statement: &Stmt, diagnostics: &mut Diagnostics) -> Vec<Self> {
        Self::of(attributes(statement), diagnostics)
    }

    /// The allowances among these attributes.
    pub fn of(attributes: &[Attribute], diagnostics: &mut Diagnostics) -> Vec<Self> {
        attributes
            .iter()
            .filter(|attribute| is_allowance(attribute))
            .filter_map(|attribute| match &attribute.meta {
                Meta::List(list) => Self::read(list.tokens.clone(), &attribute.meta, diagnostics),
                Meta::Path(_) | Meta::NameValue(_) => Self::read(TokenStream::new(), &attribute.meta, diagnostics),
            })
            .collect()
    }

    /// Reads what is between the parentheses; `place` is what to show if that is wrong.
    pub fn read(arguments: TokenStream, place: &impl ToTokens, diagnostics: &mut Diagnostics) -> Option<Self> {
        let Ok(Arguments { rule, reason }) = Arguments::parse.parse2(arguments) else {
            diagnostics.at(place, &message::ALLOW_MALFORMED, &[]);
            return None;
        };
        let name = rule.to_string();
        if !RULES.iter().any(|known| known.id == name) {
            let known: Vec<String> = RULES.iter().map(|rule| format!("`{}`", rule.id)).collect();
            diagnostics.at(&rule, &message::ALLOW_UNKNOWN_RULE, &[&name, &known.join(", ")]);
            return None;
        }
        if reason.is_none_or(|reason| reason.value().trim().is_empty()) {
            diagnostics.at(place, &message::ALLOW_WITHOUT_REASON, &[&name]);
            return Some(Self { rule, used: true });
        }
        Some(Self { rule, used: false })
    }

    /// True if it silences `rule`, which it remembers.
    pub fn covers(&mut self, rule: &str) -> bool {
        let covers = self.rule == rule;
        self.used |= covers;
        covers
    }

    /// The rule that nothing here breaks.
    pub fn unused(&self) -> Option<&Ident> {
        (!self.used).then_some(&self.rule)
    }

    /// Reports an allowance that nothing needed.
    pub fn retire(&self, diagnostics: &mut Diagnostics) {
        if let Some(rule) = self.unused() {
            diagnostics.at(rule, &message::ALLOW_UNUSED, &[&rule.to_string()]);
        }
    }
}

/// The attributes at the start of a statement, which syn hands to its leftmost expression.
pub(crate) fn attributes(statement: &Stmt) -> &[Attribute] {
    match statement {
        Stmt::Local(local) => &local.attrs,
        Stmt::Macro(call) => &call.attrs,
        Stmt::Expr(expression, _) => leftmost(expression),
        Stmt::Item(Item::Static(item)) => &item.attrs,
        Stmt::Item(_) => &[],
    }
}

/// Reports allowances on anything but a statement, which would silence nothing.
pub(super) fn misplaced(block: &Block, diagnostics: &mut Diagnostics) {
    Misplaced {
        placed: Vec::new(),
        diagnostics,
    }
    .visit_block(block);
}

struct Misplaced<'ast, 'd> {
    /// Those on statements around the current place.
    placed: Vec<&'ast Attribute>,
    diagnostics: &'d mut Diagnostics,
}

impl<'ast> Visit<'ast> for Misplaced<'ast, '_> {
    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let before = self.placed.len();
        self.placed.extend(attributes(statement));
        visit::visit_stmt(self, statement);
        self.placed.truncate(before);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        let placed = self.placed.iter().any(|placed| std::ptr::eq(*placed, attribute));
        if is_allowance(attribute) && !placed {
            self.diagnostics.at(&attribute.meta, &message::ALLOW_MISPLACED, &[]);
        }
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}

fn leftmost(expression: &Expr) -> &[Attribute] {
    match expression {
        Expr::Assign(assign) => leftmost(&assign.left),
        Expr::Binary(binary) => leftmost(&binary.left),
        Expr::Cast(cast) => leftmost(&cast.expr),
        Expr::Array(e) => &e.attrs,
        Expr::Async(e) => &e.attrs,
        Expr::Closure(e) => &e.attrs,
        Expr::Const(e) => &e.attrs,
        Expr::Continue(e) => &e.attrs,
        Expr::Field(e) => &e.attrs,
        Expr::Group(e) => &e.attrs,
        Expr::Index(e) => &e.attrs,
        Expr::Let(e) => &e.attrs,
        Expr::Lit(e) => &e.attrs,
        Expr::Paren(e) => &e.attrs,
        Expr::Range(e) => &e.attrs,
        Expr::RawAddr(e) => &e.attrs,
        Expr::Reference(e) => &e.attrs,
        Expr::Repeat(e) => &e.attrs,
        Expr::TryBlock(e) => &e.attrs,
        Expr::Unary(e) => &e.attrs,
        Expr::Await(e) => &e.attrs,
        Expr::Block(e) => &e.attrs,
        Expr::Break(e) => &e.attrs,
        Expr::Call(e) => &e.attrs,
        Expr::ForLoop(e) => &e.attrs,
        Expr::If(e) => &e.attrs,
        Expr::Loop(e) => &e.attrs,
        Expr::Macro(e) => &e.attrs,
        Expr::Match(e) => &e.attrs,
        Expr::MethodCall(e) => &e.attrs,
        Expr::Path(e) => &e.attrs,
        Expr::Return(e) => &e.attrs,
        Expr::Struct(e) => &e.attrs,
        Expr::Try(e) => &e.attrs,
        Expr::Tuple(e) => &e.attrs,
        Expr::Unsafe(e) => &e.attrs,
        Expr::While(e) => &e.attrs,
        _ => &[],
    }
}
