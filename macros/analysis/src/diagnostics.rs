//! The sink that every stage reports to, so that one compile shows every mistake.
//! Absent on purpose: the wording, which is in `message`, and the decision what to emit instead, which is in `fallback`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};

use crate::lint::table::{Level, Rule};
use crate::message::Message;

/// Mistakes found so far, in the order of the source as far as each stage walks it.
#[derive(Default)]
pub struct Diagnostics {
    errors: Vec<syn::Error>,
    /// Each with the rule that it comes from.
    warnings: Vec<(&'static str, syn::Error)>,
    broken: Vec<Broken>,
}

/// A rule that was broken, for whoever reports it in a way of their own.
#[derive(Clone, Debug)]
pub struct Broken {
    pub rule: &'static str,
    pub level: Level,
    /// The whole message, rendered, and the place.
    pub error: syn::Error,
}

impl Diagnostics {
    /// Reports `message` under exactly these tokens. `values` fill `{0}`, `{1}` … of the text.
    pub fn at(&mut self, tokens: &impl ToTokens, message: &Message, values: &[&str]) {
        self.errors
            .push(syn::Error::new_spanned(tokens, message.render(values)));
    }

    /// Reports a broken rule, as its level says.
    pub fn breaks(&mut self, rule: &Rule, tokens: &impl ToTokens, values: &[&str]) {
        let error = syn::Error::new_spanned(tokens, rule.message.render(values));
        self.broken.push(Broken {
            rule: rule.id,
            level: rule.level,
            error: error.clone(),
        });
        match rule.level {
            Level::Error => self.errors.push(error),
            Level::Warning => self.warnings.push((rule.id, error)),
        }
    }

    /// The rules that were broken so far, which are among the mistakes and warnings too.
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// The same for a place that has a span but no tokens of its own.
    pub fn at_span(&mut self, span: Span, message: &Message, values: &[&str]) {
        self.errors.push(syn::Error::new(span, message.render(values)));
    }

    /// Takes over what syn found while parsing.
    pub fn adopt(&mut self, error: syn::Error) {
        self.errors.extend(error);
    }

    pub fn len(&self) -> usize {
        self.errors.len()
    }

    /// Whether nothing keeps the code from compiling.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// What was reported, as text.
    #[cfg(test)]
    pub fn into_messages(self) -> Vec<String> {
        self.errors
            .iter()
            .chain(self.warnings.iter().map(|(_, warning)| warning))
            .map(ToString::to_string)
            .collect()
    }

    /// One `compile_error!` for each mistake; nothing when there was none.
    pub fn into_tokens(self) -> TokenStream {
        self.errors.iter().map(syn::Error::to_compile_error).collect()
    }

    /// An item for inside a function that makes the compiler warn. A macro on stable Rust has no warnings of its own: it
    /// uses something deprecated whose note is the message, at the first of the user's tokens. It has the rule's name,
    /// which the compiler prints in front of the message.
    pub fn warnings(&self) -> TokenStream {
        let warnings = self.warnings.iter().map(|(rule, warning)| {
            let (note, name) = (warning.to_string(), Ident::new(rule, warning.span()));
            quote_spanned! {warning.span()=>
                const _: () = {
                    #[deprecated(note = #note)]
                    #[allow(non_upper_case_globals)]
                    const #name: () = ();
                    #name
                };
            }
        });
        warnings.collect()
    }
}
