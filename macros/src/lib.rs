//! The macros of Steadfast: `#[workflow]`, `#[durable]` and the checkpoints. Use them through the `steadfast` crate.
//!
//! An attribute goes through stages, one module each:
//!
//! `args` → `model` → `check` and `lint` → `body` (rewriting) → `expand`, or `fallback` if anything was reported
//!
//! `diagnostics` collects what the stages report, worded in `message`. Absent on purpose: behaviour. What the generated
//! code does is in the `steadfast` crate, where it can be tested.

mod args;
mod body;
mod check;
mod diagnostics;
mod expand;
mod fallback;
mod krate;
mod lint;
mod message;
mod model;
mod names;

use proc_macro::TokenStream;
use quote::{quote, quote_spanned};

use args::{Args, Attribute};
use body::checkpoint::{self, Kind};
use diagnostics::Diagnostics;
use expand::workflow::Soundness;
use krate::Krate;
use lint::Lints;
use names::Names;

/// Turns an `async fn` into a workflow: code that survives crashes, restarts and deploys.
///
/// The function becomes a unit struct of the same name that implements `Workflow`. Owned parameters are the input,
/// stored when an instance starts; `&T` parameters are state, handed in by the runtime.
///
/// Arguments: `name = "…"` (the stored name; else the function's), `version = 1`, `crate = path` (where `steadfast` is,
/// if neither its own name nor Cargo.toml tells).
#[proc_macro_attribute]
pub fn workflow(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Attribute::Workflow, args.into(), item.into()).into()
}

/// Marks a helper `async fn` that may contain checkpoints and be awaited from workflows. The same rules apply in it.
#[proc_macro_attribute]
pub fn durable(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Attribute::Durable, args.into(), item.into()).into()
}

fn attribute(
    attribute: Attribute,
    args: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    let mut diagnostics = Diagnostics::default();
    let mut args = Args::parse(args, attribute, &mut diagnostics);
    let mut function = match syn::parse2::<syn::ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            diagnostics.at(&item, &message::NOT_A_FUNCTION, &[attribute.name()]);
            let errors = diagnostics.into_tokens();
            return quote!(#errors #item);
        }
    };
    if let Some(name) = &args.name {
        check::body::check_name(name, "workflow", &mut diagnostics);
    }
    let reported = diagnostics.len();
    check::signature::check(&function.sig, attribute, &mut diagnostics);
    let soundness = if diagnostics.len() == reported {
        Soundness::Sound
    } else {
        Soundness::Refused
    };
    let names = Names::of(&function);
    check::body::check(&function.block, &names, &mut diagnostics);
    let lints = Lints::new(&names);
    lints.check(&function, &mut diagnostics);
    let krate = Krate::new(args.krate.take());
    if diagnostics.is_empty() {
        body::rewrite::rewrite(&mut function.block, &krate, &names);
        return match attribute {
            Attribute::Workflow => expand::workflow::expand(&function, &args, &krate, Soundness::Sound),
            Attribute::Durable => expand::durable::expand(&function, &krate),
        };
    }
    body::rewrite::rewrite_refused(&mut function.block, &krate, &names, &lints);
    let item = fallback::function(function, attribute, &args, &krate, soundness);
    let errors = diagnostics.into_tokens();
    quote!(#errors #item)
}

fn checkpoint(kind: Kind, tokens: TokenStream) -> TokenStream {
    let call = checkpoint::unmarked(tokens.into()).unwrap_or_else(|| outside(kind));
    call.into()
}

fn outside(kind: Kind) -> proc_macro2::TokenStream {
    let remedy = match kind {
        Kind::Now | Kind::Random | Kind::Uuid => {
            "take the value before the step and use it inside; or draw it in the step by ordinary means, which are all allowed there"
        }
        _ => "move it into the workflow's own code, or mark the function it is in with `#[durable]`",
    };
    let message = message::OUTSIDE.render(&[kind.name(), remedy]);
    quote_spanned!(proc_macro2::Span::call_site()=> ::core::compile_error!(#message))
}

macro_rules! checkpoints {
    ($($(#[$doc:meta])* $name:ident $kind:ident;)*) => {$(
        $(#[$doc])*
        #[proc_macro]
        pub fn $name(tokens: TokenStream) -> TokenStream {
            checkpoint(Kind::$kind, tokens)
        }
    )*};
}

checkpoints! {
    /// A step: `step!("name", future)`, `step!("name", { … })` or `step!("name", |attempt| …)`. Its body runs at least
    /// once; once its result is recorded, never again.
    step Step;
    /// Sleeps: `sleep!("name", days(7))`, or until an instant. The deadline is fixed when it is first reached.
    sleep Sleep;
    /// Waits for a signal: `signal!("name").timeout(hours(48))`.
    signal Signal;
    /// Waits for all of up to twelve durable futures: `join!(a, b).await` gives `(A, B)`.
    join Join;
    /// The same for `Result`s, ended by the first error: `try_join!(a, b).await` gives `Result<(A, B), E>`.
    try_join TryJoin;
    /// Waits for the first of two to eight durable futures and drops the others: `race!(a, b).await` gives a `Race2`.
    race Race;
    /// The time, recorded: `now!()`.
    now Now;
    /// A random number, recorded: `random!()`, or `random!(1..=6)` in a range.
    random Random;
    /// A fresh id, recorded: `uuid!()`.
    uuid Uuid;
}
