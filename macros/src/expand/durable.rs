//! `#[durable] async fn helper(…) -> T` becomes `fn helper(…) -> impl DurableFuture<Output = T>`.
//!
//! The `impl` token belongs to this crate, which is of edition 2024: so it captures every lifetime in scope as an
//! `async fn` does, in crates of every edition, and inside an `impl` whose generics the macro cannot see.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Attribute, FnArg, ItemFn, Pat, Signature};

use crate::krate::Krate;
use crate::model::{self, Mentions, argument, plain_name};

/// `function` has a rewritten body.
pub(crate) fn expand(function: &ItemFn, krate: &Krate) -> TokenStream {
    let ItemFn {
        attrs: attributes,
        vis: visibility,
        sig: signature,
        block,
    } = function;
    let here = Span::mixed_site();
    let steadfast = krate.at(here);
    let output = model::output(signature).map_or_else(|| quote!(()), ToTokens::to_token_stream);
    let declared = declared(signature);
    let name = signature.ident.unraw().to_string();
    let helper = krate.private("helper", signature.ident.span());
    let (inputs, owned) = parameters(signature);
    let (ident, generics, bounds) = (&signature.ident, &signature.generics, &signature.generics.where_clause);
    let statements = &block.stmts;
    let body = quote_spanned!(block.brace_token.span.join()=> { #declared #owned #(#statements)* });
    quote! {
        #(#attributes)*
        // Real async functions own their parameters too.
        #[allow(clippy::needless_pass_by_value)]
        #visibility fn #ident #generics (#inputs) -> impl #steadfast::DurableFuture<Output = #output> #bounds {
            #helper(#name, async move #body)
        }
    }
}

/// Fixes the type of the async block, so that `?` and coercions work as in an `async fn`: a `return` of the declared
/// type that never happens.
fn declared(signature: &Signature) -> TokenStream {
    match model::output(signature) {
        Some(output) if Mentions::of(output, signature).impl_trait.is_none() => {
            quote_spanned! {steadfast_analysis::start(output)=>
                if let ::core::option::Option::Some(__declared) = ::core::option::Option::None::<#output> {
                    return __declared;
                }
            }
        }
        _ => TokenStream::new(),
    }
}

/// The parameters under plain names, and the statements that move them into the future under the user's patterns. So
/// every parameter lives as long as the future, used or not.
fn parameters(signature: &Signature) -> (TokenStream, TokenStream) {
    let mut inputs = signature.inputs.clone();
    let mut owned = TokenStream::new();
    for (index, parameter) in inputs.iter_mut().enumerate() {
        let FnArg::Typed(typed) = parameter else { continue };
        let configuration: Vec<Attribute> = typed
            .attrs
            .iter()
            .filter(|attribute| attribute.path().is_ident("cfg"))
            .cloned()
            .collect();
        let pattern = (*typed.pat).clone();
        // A plain name stays, since editors show it where the function is called.
        let (name, whole) = match plain_name(&pattern) {
            Some(plain) if !plain.ident.to_string().starts_with('_') => (plain.ident.clone(), None),
            // A pattern may leave parts behind: first the whole value goes into the future.
            _ => {
                let name = argument(index);
                (name.clone(), Some(quote!(#(#configuration)* let #name = #name;)))
            }
        };
        owned.extend(quote! {
            #whole
            #(#configuration)*
            #[allow(clippy::no_effect_underscore_binding)]
            let #pattern = #name;
        });
        *typed.pat = Pat::Verbatim(name.to_token_stream());
    }
    (inputs.to_token_stream(), owned)
}
