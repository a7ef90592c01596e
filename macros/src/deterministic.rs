//! `#[deterministic]`: a plain function under the rules of workflow code. The function itself stays as it is.
//! Absent on purpose: the rules, which are the analysis crate's.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use steadfast_analysis::code::checkpoint::{Checkpoint, Kind};
use steadfast_analysis::code::walk::{Observer, walk};
use steadfast_analysis::diagnostics::Diagnostics;
use steadfast_analysis::is_ours;
use steadfast_analysis::lint::allowance::Allowance;
use steadfast_analysis::lint::{self, Lints};
use steadfast_analysis::message;
use steadfast_analysis::names::Names;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Item, ItemFn, Macro, ReturnType, Type, parse_quote};

pub(crate) fn expand(args: &TokenStream, item: &TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    if !args.is_empty() {
        diagnostics.at(args, &message::DETERMINISTIC_ARGUMENTS, &[]);
    }
    let Ok(mut function) = syn::parse2::<ItemFn>(item.clone()) else {
        diagnostics.at(item, &message::DETERMINISTIC_NO_FUNCTION, &[]);
        let errors = diagnostics.into_tokens();
        return quote!(#errors #item);
    };
    if let Some(asyncness) = &function.sig.asyncness {
        diagnostics.at(asyncness, &message::DETERMINISTIC_ASYNC, &[]);
    }
    let names = Names::of(&function, crate::source_file(&function).as_deref());
    let before = diagnostics.len();
    let mut checkpoints = Checkpoints {
        diagnostics: &mut diagnostics,
    };
    walk(&function.block, &names, &mut checkpoints);
    let has_checkpoints = diagnostics.len() > before;
    lint::not_on_functions(&mut function.attrs, &mut diagnostics);
    Lints::new(&names).check(&function, &mut diagnostics);
    WithoutAllowances.visit_block_mut(&mut function.block);
    if has_checkpoints {
        without_code(&mut function);
    } else if diagnostics.is_empty() {
        crate::put_first(&mut function, diagnostics.warnings());
    }
    let errors = diagnostics.into_tokens();
    quote!(#errors #function)
}

struct Checkpoints<'d> {
    diagnostics: &'d mut Diagnostics,
}

impl Observer for Checkpoints<'_> {
    fn checkpoint(&mut self, kind: Kind, mac: &Macro, _: &syn::Result<Checkpoint>) {
        let remedy = match kind {
            Kind::Now | Kind::Random | Kind::Uuid => {
                "take the value as a parameter, or make this an `async fn` marked with `#[durable]`"
            }
            _ => "make this an `async fn` marked with `#[durable]`, or move the checkpoint to where it is called",
        };
        let values = [kind.name(), remedy];
        self.diagnostics
            .at(&mac.path, &message::DETERMINISTIC_CHECKPOINT, &values);
    }
}

/// Each checkpoint was reported, and would be again by its own macro and by what becomes of its value.
fn without_code(function: &mut ItemFn) {
    if let ReturnType::Type(_, output) = &function.sig.output
        && let Type::ImplTrait(_) = **output
    {
        return;
    }
    function
        .attrs
        .push(parse_quote!(#[allow(unused_variables, unused_mut, dead_code)]));
    function.block = parse_quote!({ ::core::todo!() });
}

struct WithoutAllowances;

impl VisitMut for WithoutAllowances {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        lint::strip(attributes);
    }

    fn visit_item_mut(&mut self, item: &mut Item) {
        if let Item::Static(item) = item {
            lint::strip(&mut item.attrs);
        }
    }
}

/// `#[allow_nondeterminism(…)]` that no macro of ours has taken: right on a plain function, where the checker reads it.
pub(crate) fn allowance(args: &TokenStream, item: &TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let name = Ident::new("allow_nondeterminism", proc_macro2::Span::call_site()).to_token_stream();
    match syn::parse2::<ItemFn>(item.clone()) {
        Err(_) => diagnostics.at(&name, &message::ALLOW_NOT_A_FUNCTION, &[]),
        Ok(function) if function.attrs.iter().any(is_ours) => {
            diagnostics.at(&name, &message::ALLOW_MISPLACED, &[]);
        }
        Ok(_) => _ = Allowance::read(args.clone(), &name, &mut diagnostics),
    }
    let errors = diagnostics.into_tokens();
    quote!(#errors #item)
}
