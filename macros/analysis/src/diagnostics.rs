//! The sink that every stage reports to, so that one compile shows every mistake.
//! Absent on purpose: the wording, which is in `message`, and the decision what to emit instead, which is in `fallback`.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

use crate::message::Message;

/// Mistakes found so far, in the order of the source as far as each stage walks it.
#[derive(Default)]
pub struct Diagnostics {
    errors: Vec<syn::Error>,
}

impl Diagnostics {
    /// Reports `message` under exactly these tokens. `values` fill `{0}`, `{1}` … of the text.
    pub fn at(&mut self, tokens: &impl ToTokens, message: &Message, values: &[&str]) {
        self.errors
            .push(syn::Error::new_spanned(tokens, message.render(values)));
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

    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// What was reported, as text.
    #[cfg(test)]
    pub fn into_messages(self) -> Vec<String> {
        self.errors.iter().map(ToString::to_string).collect()
    }

    /// One `compile_error!` for each mistake; nothing when there was none.
    pub fn into_tokens(self) -> TokenStream {
        self.errors.iter().map(syn::Error::to_compile_error).collect()
    }
}
