//! What the attribute stands on, sorted into the words of the design: inputs, states, body.
//! Absent on purpose: any judgement, which is `check`'s, and any output, which is `expand`'s.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident};
use steadfast_analysis::bare;
use syn::visit::{self, Visit};
use syn::{Attribute, FnArg, GenericParam, Lifetime, Pat, ReturnType, Signature, Type, TypeImplTrait, TypeReference};

/// A parameter as the author wrote it, and what it is for.
pub(crate) enum Parameter<'f> {
    /// `self` in any form: part of a `#[durable]` method, a mistake in a workflow.
    Receiver(&'f syn::Receiver),
    /// `&T`: handed in by the runtime.
    State {
        attributes: &'f [Attribute],
        reference: &'f TypeReference,
    },
    /// Anything owned: stored.
    Input {
        attributes: &'f [Attribute],
        kind: &'f Type,
    },
}

/// The parameters in their order.
pub(crate) fn parameters(signature: &Signature) -> Vec<Parameter<'_>> {
    signature.inputs.iter().map(parameter).collect()
}

fn parameter(argument: &FnArg) -> Parameter<'_> {
    match argument {
        FnArg::Receiver(receiver) => Parameter::Receiver(receiver),
        FnArg::Typed(typed) => match bare(&typed.ty) {
            Type::Reference(reference) => Parameter::State {
                attributes: &typed.attrs,
                reference,
            },
            kind => Parameter::Input {
                attributes: &typed.attrs,
                kind,
            },
        },
    }
}

/// The declared return type, if it is not `()` by silence.
pub(crate) fn output(signature: &Signature) -> Option<&Type> {
    match &signature.output {
        ReturnType::Default => None,
        ReturnType::Type(_, output) => Some(output),
    }
}

/// True for what no alias can make a `Result`. About other names only the compiler knows.
pub(crate) fn is_no_result(output: &Type) -> bool {
    const KNOWN: &[&str] = &[
        "bool", "char", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "u128", "u16", "u32", "u64", "u8",
        "usize", "str", "String", "Vec", "Option", "Box", "BTreeMap", "HashMap",
    ];
    match bare(output) {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| KNOWN.iter().any(|known| last.ident == known)),
        Type::Infer(_) | Type::Macro(_) | Type::Verbatim(_) => false,
        _ => true,
    }
}

/// What a type mentions that has no meaning outside the function's signature.
#[derive(Default)]
pub(crate) struct Mentions {
    generics: Vec<Ident>,
    /// The first elided or named lifetime other than `'static`.
    pub(crate) lifetime: Option<TokenStream>,
    /// The first reference, `&'static` too.
    pub(crate) reference: Option<TokenStream>,
    /// The first `impl Trait`.
    pub(crate) impl_trait: Option<TypeImplTrait>,
    /// One of the function's own type or const parameters.
    pub(crate) generic: bool,
}

impl Mentions {
    pub(crate) fn of(kind: &Type, signature: &Signature) -> Self {
        let generics = signature
            .generics
            .params
            .iter()
            .filter_map(|parameter| match parameter {
                GenericParam::Type(parameter) => Some(parameter.ident.clone()),
                GenericParam::Const(parameter) => Some(parameter.ident.clone()),
                GenericParam::Lifetime(_) => None,
            });
        let mut mentions = Self {
            generics: generics.collect(),
            ..Self::default()
        };
        mentions.visit_type(kind);
        mentions
    }

    /// What keeps a type from being stored: it lives on in nothing that is read back.
    pub(crate) fn borrow(&self) -> Option<&TokenStream> {
        self.reference.as_ref().or(self.lifetime.as_ref())
    }

    /// True when the type means the same outside the signature.
    pub(crate) fn nothing(&self) -> bool {
        self.lifetime.is_none() && self.impl_trait.is_none() && !self.generic
    }
}

impl<'ast> Visit<'ast> for Mentions {
    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if lifetime.ident != "static" && self.lifetime.is_none() {
            self.lifetime = Some(lifetime.to_token_stream());
        }
    }

    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        self.reference
            .get_or_insert_with(|| reference.and_token.to_token_stream());
        if reference.lifetime.is_none() && self.lifetime.is_none() {
            self.lifetime = Some(reference.and_token.to_token_stream());
        }
        visit::visit_type_reference(self, reference);
    }

    fn visit_type_impl_trait(&mut self, impl_trait: &'ast TypeImplTrait) {
        self.impl_trait.get_or_insert_with(|| impl_trait.clone());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let first = path.segments.first();
        self.generic |= path.leading_colon.is_none() && first.is_some_and(|first| self.generics.contains(&first.ident));
        visit::visit_path(self, path);
    }

    // `fn(&str) -> &str` and `for<'a>` have lifetimes of their own.
    fn visit_type_bare_fn(&mut self, _: &'ast syn::TypeBareFn) {}
}

/// Attributes by where they belong once the function has become several items.
#[derive(Default)]
pub(crate) struct Attributes {
    /// Documentation, deprecation: on what the user sees.
    pub(crate) shown: Vec<Attribute>,
    /// `#[cfg]` and lint levels: on everything.
    pub(crate) everywhere: Vec<Attribute>,
    /// The rest: on the function with the user's code.
    pub(crate) code: Vec<Attribute>,
}

impl Attributes {
    pub(crate) fn sort(attributes: &[Attribute]) -> Self {
        let mut sorted = Self::default();
        for attribute in attributes {
            let name = attribute.path().get_ident().map(Ident::to_string).unwrap_or_default();
            match name.as_str() {
                "doc" | "deprecated" => sorted.shown.push(attribute.clone()),
                "cfg" | "allow" | "warn" | "deny" | "forbid" => sorted.everywhere.push(attribute.clone()),
                _ => sorted.code.push(attribute.clone()),
            }
        }
        sorted
    }
}

/// `__argument0`, `__argument1` …: no user code can see them, since they are spanned at the macro. Their odd spelling keeps
/// them from meaning a constant or a unit struct of the user's, which would win over a binding.
pub(crate) fn argument(index: usize) -> Ident {
    format_ident!("__argument{}", index, span = proc_macro2::Span::mixed_site())
}

/// The name if the pattern is nothing but a name: `order`, `mut order`.
pub(crate) fn plain_name(pattern: &Pat) -> Option<&syn::PatIdent> {
    match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Some(name),
        _ => None,
    }
}
