//! `#[workflow] async fn fulfil(…)` becomes `struct fulfil;`, which implements `Workflow`.
//!
//! The user's code stays an `async fn`, so that the compiler speaks about it as such. It is an associated function of
//! the struct: there it shadows nothing that the user's code may want to name.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, ItemFn, Type};

use crate::args::Args;
use crate::graph::Description;
use crate::krate::{self, Krate};
use crate::model::{self, Attributes, Mentions, Parameter, argument};

/// Whether the function's signature is one that the runtime can call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Soundness {
    Sound,
    /// Reported: all that is left to do is to look like a workflow from outside.
    Refused,
}

impl Soundness {
    pub(crate) fn of(sound: bool) -> Self {
        if sound { Self::Sound } else { Self::Refused }
    }
}

/// `function` has a rewritten body.
pub(crate) fn expand(
    function: &ItemFn,
    args: &Args,
    krate: &Krate,
    soundness: Soundness,
    description: &Description,
) -> TokenStream {
    let attributes = Attributes::sort(&function.attrs);
    let (shown, everywhere) = (&attributes.shown, &attributes.everywhere);
    let (visibility, name) = (&function.vis, &function.sig.ident);
    let code = code(function, &attributes);
    let description = description.functions(&args.name_or(name), args.version(), krate);
    let implementation = implementation(function, args, krate, soundness, &description);
    // Whoever deprecates a workflow need not hear of it here; what its code uses is another matter.
    let deprecated = shown.iter().any(|attribute| attribute.path().is_ident("deprecated"));
    let named = deprecated.then(|| quote!(#[allow(deprecated)]));
    quote! {
        #(#shown)*
        #(#everywhere)*
        #[allow(non_camel_case_types)]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #visibility struct #name;

        #(#everywhere)*
        #named
        impl #name {
            #code
        }

        #(#everywhere)*
        #[automatically_derived]
        #[allow(deprecated)]
        #implementation
    }
}

/// The function with the user's code.
fn code(function: &ItemFn, attributes: &Attributes) -> TokenStream {
    let (others, signature, block) = (&attributes.code, &function.sig, &function.block);
    quote! {
        #(#others)*
        // How a workflow takes its parameters, and that it is async, is our rule and not the author's taste.
        #[allow(
            clippy::needless_pass_by_value,
            clippy::new_ret_no_self,
            clippy::trivially_copy_pass_by_ref,
            clippy::unused_async,
            clippy::wrong_self_convention
        )]
        #[doc(hidden)]
        #signature #block
    }
}

fn implementation(
    function: &ItemFn,
    args: &Args,
    krate: &Krate,
    soundness: Soundness,
    description: &TokenStream,
) -> TokenStream {
    let name = &function.sig.ident;
    let (stored_name, version) = (args.name_or(name), args.version());
    let here = Span::mixed_site();
    let steadfast = krate.at(here);
    let (value, error) = outcome(function, krate);
    let input = input(function, krate);
    let at_input = steadfast_analysis::start(&input);
    let (taken_input, taken_states) = (quote_spanned!(at_input=> __input), quote!(__states));
    let (states, run) = match soundness {
        Soundness::Sound => (states(function, krate), run(function, at_input, krate)),
        Soundness::Refused => (
            quote!(::std::vec::Vec::new()),
            quote!({
                let _ = (#taken_input, #taken_states);
                ::core::todo!()
            }),
        ),
    };
    let (state_type, all_states, run_type) = (
        krate.private("StateType", here),
        krate.private("States", at_input),
        krate.private("Run", at_input),
    );
    // At the input, so that the compiler does not say a second time what is wrong with it.
    let signature = quote_spanned! {at_input=>
        fn run<'states>(#taken_input: Self::Input, #taken_states: &'states #all_states) -> #run_type<'states>
    };
    let input_type = quote_spanned!(at_input=> type Input = #input;);
    quote_spanned! {at_input=>
        impl #steadfast::Workflow for #name {
            const NAME: &'static str = #stored_name;
            const VERSION: u32 = #version;
            #input_type
            type Output = #value;
            type Error = #error;

            fn states() -> ::std::vec::Vec<#state_type> {
                #states
            }

            #signature #run

            #description
        }
    }
}

/// The output and error types, told from the return type by the runtime, since the macro cannot look through an alias.
fn outcome(function: &ItemFn, krate: &Krate) -> (TokenStream, TokenStream) {
    let signature = &function.sig;
    let sound = |output: &&Type| {
        let mentions = Mentions::of(output, signature);
        mentions.nothing() && mentions.borrow().is_none() && !model::is_no_result(output)
    };
    match model::output(signature).filter(sound) {
        Some(output) => {
            let span = steadfast_analysis::start(output);
            let result = krate.private("WorkflowResult", span);
            (
                quote_spanned!(span=> <#output as #result>::Value),
                quote_spanned!(span=> <#output as #result>::Error),
            )
        }
        None => {
            let steadfast = krate.at(Span::mixed_site());
            (quote!(()), quote!(#steadfast::BoxError))
        }
    }
}

/// None: `()`. One: its type. Several: a tuple.
fn input(function: &ItemFn, krate: &Krate) -> TokenStream {
    let nameable = |kind: &&Type| {
        let mentions = Mentions::of(kind, &function.sig);
        mentions.nothing() && mentions.borrow().is_none()
    };
    let inputs = model::parameters(&function.sig)
        .into_iter()
        .filter_map(|parameter| match parameter {
            Parameter::Input { kind, .. } => Some(kind),
            Parameter::State { .. } | Parameter::Receiver(_) => None,
        });
    // Each on its own, so that the compiler says which of them cannot be stored.
    let checked = |kind: &Type| {
        let (start, input) = (
            steadfast_analysis::start(kind),
            krate.private("WorkflowInput", steadfast_analysis::start(kind)),
        );
        let stored = Ident::new("Stored", krate::end(kind));
        quote_spanned!(start=> <#kind as #input>::#stored)
    };
    let inputs: Vec<TokenStream> = inputs.filter(nameable).map(checked).collect();
    match inputs.as_slice() {
        [] => quote!(()),
        [only] => only.clone(),
        several => quote_spanned!(function.sig.paren_token.span.join()=> (#(#several,)*)),
    }
}

fn states(function: &ItemFn, krate: &Krate) -> TokenStream {
    let types = model::parameters(&function.sig)
        .into_iter()
        .filter_map(|parameter| match parameter {
            Parameter::State { attributes, reference } => {
                let (kind, attributes) = (&reference.elem, configuration(attributes));
                let state_type = krate.private("StateType", steadfast_analysis::start(kind));
                Some(quote!(#(#attributes)* #state_type::of::<#kind>()))
            }
            Parameter::Input { .. } | Parameter::Receiver(_) => None,
        });
    let types: Vec<TokenStream> = types.collect();
    if types.is_empty() {
        quote!(::std::vec::Vec::new())
    } else {
        quote!(::std::vec::Vec::from([#(#types),*]))
    }
}

/// Takes the input apart, finds the states, calls the user's code, and looks how its error can be stored.
fn run(function: &ItemFn, at_input: Span, krate: &Krate) -> TokenStream {
    let name = &function.sig.ident;
    let here = Span::mixed_site();
    let mut inputs = Vec::new();
    let mut arguments = Vec::new();
    for parameter in model::parameters(&function.sig) {
        match parameter {
            Parameter::Input { .. } => {
                let input = argument(inputs.len());
                arguments.push(input.to_token_stream());
                inputs.push(input);
            }
            Parameter::State { attributes, reference } => {
                let (kind, attributes) = (&reference.elem, configuration(attributes));
                arguments.push(quote!(#(#attributes)* __states.get::<#kind>()));
            }
            Parameter::Receiver(_) => {}
        }
    }
    let pattern = match inputs.as_slice() {
        [] => quote!(()),
        [only] => only.to_token_stream(),
        several => quote!((#(#several,)*)),
    };
    let unused = if arguments.len() == inputs.len() {
        quote!(let _ = __states;)
    } else {
        TokenStream::new()
    };
    // At the user's name: there the compiler says that the future is not `Send`.
    let call = quote_spanned!(name.span()=> Self::#name(#(#arguments),*));
    let (run, probe) = (krate.private("run", name.span()), krate.private("Probe", here));
    let (plain, storable) = (krate.private("PlainError", here), krate.private("StorableError", here));
    let run = quote_spanned!(name.span()=> #run::<Self, _>);
    let taken = quote_spanned!(at_input=> __input);
    let details = quote! {
        |__error: &Self::Error| {
            #[allow(unused_imports)]
            use #plain as _;
            #[allow(unused_imports)]
            use #storable as _;
            (&&#probe(__error)).details()
        }
    };
    quote_spanned! {at_input=> {
        #unused
        let #pattern = #taken;
        #run(#call, #details)
    }}
}

/// The `#[cfg]`s among a parameter's attributes.
fn configuration(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"))
}
