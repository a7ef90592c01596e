//! The path under which the user's crate knows Steadfast, and names in it.
//! Absent on purpose: any relative path. Generated code must not depend on what the user imported or shadowed.

use proc_macro_crate::FoundCrate;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};

/// `::steadfast`, the name a dependency was renamed to, or what `crate = …` says.
pub(crate) struct Krate(syn::Path);

impl Krate {
    /// The path given with `crate = …`, else what the user's Cargo.toml says.
    pub(crate) fn new(given: Option<syn::Path>) -> Self {
        Self(given.unwrap_or_else(Self::from_manifest))
    }

    fn from_manifest() -> syn::Path {
        let name = match proc_macro_crate::crate_name("steadfast") {
            Ok(FoundCrate::Name(name)) => name,
            // Its own tests, examples and doc examples know it by its plain name, and so does whoever has no manifest.
            Ok(FoundCrate::Itself) | Err(_) => "steadfast".to_owned(),
        };
        let ident = Ident::new(&name, Span::mixed_site());
        syn::parse_quote!(::#ident)
    }

    /// The crate's path, every token at `span`: what the compiler says about it then points there.
    pub(crate) fn at(&self, span: Span) -> TokenStream {
        respan(self.0.to_token_stream(), span)
    }

    /// `::steadfast::__private::name`, every token at `span`.
    pub(crate) fn private(&self, name: &str, span: Span) -> TokenStream {
        let (krate, name) = (&self.0, Ident::new(name, span));
        respan(quote!(#krate::__private::#name), span)
    }

    /// The same over the whole of `tokens`, so that the compiler underlines all of them and not only the first.
    pub(crate) fn private_over(&self, name: &str, tokens: &impl ToTokens) -> TokenStream {
        let path = &self.0;
        let (path, last) = (
            respan(quote!(#path::__private::), steadfast_analysis::start(tokens)),
            Ident::new(name, end(tokens)),
        );
        quote!(#path #last)
    }
}

/// The same tokens, all at one place.
fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    let moved = |tree: TokenTree| match tree {
        TokenTree::Group(group) => {
            let mut moved = Group::new(group.delimiter(), respan(group.stream(), span));
            moved.set_span(span);
            TokenTree::Group(moved)
        }
        mut other => {
            other.set_span(span);
            other
        }
    };
    tokens.into_iter().map(moved).collect()
}

/// Where `tokens` end.
pub(crate) fn end(tokens: &impl ToTokens) -> Span {
    tokens
        .to_token_stream()
        .into_iter()
        .last()
        .map_or_else(Span::call_site, |last| match last {
            TokenTree::Group(group) => group.span_close(),
            other => other.span(),
        })
}
