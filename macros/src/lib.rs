//! The macros of Steadfast: `#[workflow]`, `#[durable]` and the checkpoints. Use them through the `steadfast` crate.
//!
//! An attribute goes through stages, one module each:
//!
//! `args` → `model` → `check` and `lint` → `body` (rewriting) → `expand`, or `fallback` if anything was reported
//!
//! What the source alone tells is found by the `steadfast-analysis` crate, which the checker of whole crates uses too: most
//! checks, the lints, and the words of all messages. Absent on purpose: behaviour. What the generated code does is in the
//! `steadfast` crate, where it can be tested.

mod args;
mod body;
mod check;
mod expand;
mod fallback;
mod krate;
mod model;

use proc_macro::TokenStream;
use quote::{quote, quote_spanned};

use args::{Args, Attribute};
use body::checkpoint;
use expand::workflow::Soundness;
use krate::Krate;
use steadfast_analysis::check::body as check_body;
use steadfast_analysis::code::checkpoint::Kind;
use steadfast_analysis::diagnostics::Diagnostics;
use steadfast_analysis::lint::allowance::Allowance;
use steadfast_analysis::lint::{self, Lints};
use steadfast_analysis::message;
use steadfast_analysis::names::Names;

/// Turns an `async fn` into a workflow: code that survives crashes, restarts and deploys.
///
/// ```
/// use steadfast::prelude::*;
/// # struct Shop;
/// # impl Shop {
/// #     async fn charge(&self, order: &str, key: &str) -> Result<u32, BoxError> { Ok(1) }
/// # }
///
/// #[workflow]
/// async fn fulfil(order: String, shop: &Shop) -> Result<u32, BoxError> {
///     let payment = step!("charge", |attempt| shop.charge(&order, &attempt.idempotency_key()))
///         .timeout(secs(30))
///         .await?;
///     sleep!("cooling off", days(7)).await;
///     Ok(payment)
/// }
/// ```
///
/// The function becomes a unit struct of the same name that implements `Workflow`; give it to `Runtime::builder()` and
/// `Runtime::start`. Owned parameters are the input, stored when an instance starts: any serde types. `&T` parameters are
/// state, handed in by the runtime and never stored. It returns a `Result`, whose error is anything that converts into a
/// boxed error.
///
/// A workflow cannot be called, only started. Code that several workflows share is a [`#[durable]`](macro@durable) function.
///
/// Arguments: `name = "…"` is the stored name, instead of the function's; `version = 2` sets instances of different code
/// apart; `crate = path` says where `steadfast` is, where neither that name nor Cargo.toml tells.
///
/// # What is workflow code, and what may be in it
///
/// Everything in the function except step bodies and nested items. It runs again on replay, so it must take the same path
/// again. Three things see to that when it is compiled:
///
/// - It can only wait for durable futures: checkpoints, `async` blocks of its own, `#[durable]` functions, and what
///   `join!`, `race!`, `map_concurrent` and the like make of these. An `.await` of anything else is a compile error, also
///   inside `format!`, `vec!`, `assert!`, `println!` and other well-known macros whose arguments are expressions.
/// - Step bodies borrow. They cannot assign to a variable of the workflow or move one out, because on replay they do not
///   run.
/// - What a macro can see to be different on replay is refused:
///
/// | rule | refuses | use instead |
/// |---|---|---|
/// | `clock` | `SystemTime::now`, `Instant::now`, `.elapsed()`, the clocks of chrono, time, jiff, tokio | `now!()` |
/// | `randomness` | rand, fastrand, getrandom, `RandomState` | `random!()` |
/// | `fresh_id` | `Uuid::new_v4` and its like, ulid, nanoid, cuid | `uuid!()` |
/// | `timer` | sleeps, timeouts and intervals of any runtime | `sleep!`, `.timeout(…)` |
/// | `spawn` | tasks and threads | a step, `join!`, `map_concurrent` |
/// | `foreign_join` | `tokio::join!`, `futures::future::join_all` and their like | `join!`, `join_all` |
/// | `foreign_select` | `tokio::select!`, `FuturesUnordered` and their like | `race!`, `map_concurrent` |
///
/// In a step's body all of this is allowed. `#[allow_nondeterminism(rule, reason = "…")]` on a statement silences one rule
/// there.
///
/// # What nothing sees
///
/// These rules read the names in the function, and what hides from them is up to you. Keep out of workflow code, or in
/// steps: the order of a `HashMap` or `HashSet`, files, the environment, the network, global variables. Plain functions
/// that a workflow calls are not looked into here: `steadfast::check` (feature `check`) does that, in a test. Printing
/// happens again on every replay; `tracing` is silent then.
///
/// # Changing it while instances are in flight
///
/// A recorded result is found by its name, within the function call or block that it is in. Calls of the same
/// `#[durable]` function in one function are told apart by their order, and so are the rounds of a step in a loop. So a
/// call that is inserted before another, or an item that is put in front of a list, is handed the recorded results of
/// what followed it. Give such a change a new `version`. Steps in a loop are safe from it with `.key(…)`, which names each
/// round by what it is about.
#[proc_macro_attribute]
pub fn workflow(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Attribute::Workflow, args.into(), item.into()).into()
}

/// Marks a helper `async fn` that may contain checkpoints and be awaited from workflows. What holds for
/// [workflow code](macro@workflow) holds in it; it may be generic, a method, and take and return anything.
///
/// ```
/// use steadfast::prelude::*;
/// # async fn pack(line: &str) -> Result<u32, BoxError> { Ok(1) }
///
/// #[durable]
/// async fn pack_all(lines: &[String]) -> Result<Vec<u32>, StepError> {
///     map_concurrent(lines, 3, |line| async move { step!("pack", pack(line)).await }).await
/// }
/// ```
///
/// It becomes a function that returns `impl DurableFuture`. Several calls of it in one function are told apart by their
/// order: what that means for changes is at [`macro@workflow`]. Arguments: `crate = path`, as in [`macro@workflow`].
#[proc_macro_attribute]
pub fn durable(args: TokenStream, item: TokenStream) -> TokenStream {
    attribute(Attribute::Durable, args.into(), item.into()).into()
}

/// Silences one rule in one plain function, for `steadfast check`, which looks into the plain functions that workflows
/// call.
///
/// ```
/// #[steadfast::allow_nondeterminism(clock, reason = "only logged; no result and no branch depends on it")]
/// fn age(since: std::time::Instant) -> String {
///     format!("{:?} ago", since.elapsed())
/// }
/// ```
///
/// The function compiles as if it were not there. It holds for the function's own code, not for what that calls. It names
/// one rule and needs a reason; the checker reports one that nothing needs. In a `#[workflow]` or `#[durable]` function the
/// same is written on the statement.
#[proc_macro_attribute]
pub fn allow_nondeterminism(args: TokenStream, item: TokenStream) -> TokenStream {
    allowance(args.into(), item.into()).into()
}

fn allowance(args: proc_macro2::TokenStream, item: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    let mut diagnostics = Diagnostics::default();
    let here = proc_macro2::Ident::new("allow_nondeterminism", proc_macro2::Span::call_site());
    Allowance::read(args.clone(), &here, &mut diagnostics);
    let Ok(mut function) = syn::parse2::<syn::ItemFn>(item.clone()) else {
        diagnostics.at(&here, &message::ALLOW_NOT_A_FUNCTION, &[]);
        let errors = diagnostics.into_tokens();
        return quote!(#errors #item);
    };
    // Whoever comes after it on this function and has lints of its own reads it there.
    let reads_it = |attribute: &syn::Attribute| {
        let last = attribute.path().segments.last();
        last.is_some_and(|last| {
            ["workflow", "durable", "deterministic"]
                .iter()
                .any(|ours| last.ident == ours)
        })
    };
    if diagnostics.is_empty() && function.attrs.iter().any(reads_it) {
        function.attrs.push(syn::parse_quote!(#[#here(#args)]));
        return quote!(#function);
    }
    let errors = diagnostics.into_tokens();
    quote!(#errors #item)
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
        check_body::check_name(name, "workflow", &mut diagnostics);
    }
    let reported = diagnostics.len();
    check::signature::check(&function.sig, attribute, &mut diagnostics);
    let soundness = if diagnostics.len() == reported {
        Soundness::Sound
    } else {
        Soundness::Refused
    };
    let names = Names::of(&function, source_file(&function).as_deref());
    check_body::check(&function.block, &names, &mut diagnostics);
    let lints = Lints::new(&names);
    lints.check(&function, &mut diagnostics);
    lint::strip(&mut function.attrs);
    let krate = Krate::new(args.krate.take());
    if diagnostics.is_empty() {
        body::rewrite::rewrite(&mut function.block, &krate, &names);
        let warnings = diagnostics.warnings();
        if !warnings.is_empty() {
            function
                .block
                .stmts
                .insert(0, syn::Stmt::Item(syn::Item::Verbatim(warnings)));
        }
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

/// Where the function stands, if it stands in a file and the compiler runs us.
fn source_file(function: &syn::ItemFn) -> Option<std::path::PathBuf> {
    proc_macro::is_available().then(|| function.sig.ident.span().unwrap().local_file())?
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
    /// A step: the place for effects. Once its result is recorded, its body never runs again; until then it may run more
    /// than once.
    ///
    /// ```
    /// use steadfast::prelude::*;
    /// # async fn charge(order: &str, key: &str) -> Result<u32, BoxError> { Ok(1) }
    /// # #[workflow]
    /// # async fn example(order: String) -> Result<(), BoxError> {
    /// // A future that gives a `Result`.
    /// step!("charge", charge(&order, "key")).await?;
    /// // Or a block, which may await ordinary futures. It ends in a `Result`; `?` takes any error.
    /// let number = step!("parse", {
    ///     let number: u32 = order.parse()?;
    ///     Ok(number + 1)
    /// })
    /// .await?;
    /// // Either may take the attempt: its number, an idempotency key, its cancellation.
    /// step!("charge once", |attempt| charge(&order, &attempt.idempotency_key()))
    ///     .retry(Retry::exponential(secs(1)).max_attempts(5))
    ///     .timeout(secs(30))
    ///     .await?;
    /// # drop(number);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// It gives a `Step`, which has the options: `.retry(…)`, `.retry_if(…)`, `.timeout(…)`, `.at_most_once()`, `.key(…)`.
    ///
    /// The name is a string literal, and no other step in the function has it; a step in a loop may also have a
    /// `.key(…)`. The result is stored: any serde type. The body borrows from the workflow's variables; it cannot move one
    /// out or change one. A block that ends in a plain `Ok(…)` and names no error, since it fails through `?` and
    /// `Err(….into())` only, fails with a `BoxError`; `Ok::<_, MyError>(…)` keeps an error of your own.
    step Step;
    /// Sleeps for a duration, or until an instant: `sleep!("cooling off", days(7)).await`.
    ///
    /// The end is fixed when the sleep is first reached, and stored: a restart does not start it over. It gives a `Sleep`, which has no options.
    sleep Sleep;
    /// Waits for a signal: `let approval: Approval = signal!("approval").await`.
    ///
    /// Its type comes from where the value goes. A signal that carries nothing is written `let () = signal!("go").await`.
    ///
    /// It gives a `SignalWait`, which has the options `.timeout(…)` and `.key(…)`. `.timeout(hours(48))` makes it a
    /// `Result` with `Err(Elapsed)`. Signals are buffered from the start of the instance
    /// on and taken in the order they came, one by each wait.
    signal Signal;
    /// Waits for all of up to twelve durable futures at once: `let (a, b) = join!(first, second).await`.
    join Join;
    /// The same for futures that give `Result`s, ended by the first error: `let (a, b) = try_join!(first, second).await?`.
    try_join TryJoin;
    /// Waits for the first of two to eight durable futures, and drops the others.
    ///
    /// ```
    /// use steadfast::prelude::*;
    /// # #[workflow]
    /// # async fn example() -> Result<(), BoxError> {
    /// match race!(signal!("stop"), sleep!("patience", hours(1))).await {
    ///     Race2::First(reason) => return Err(String::into(reason)),
    ///     Race2::Second(()) => {}
    /// }
    /// # Ok(())
    /// # }
    /// ```
    race Race;
    /// The time, the same on replay: `let now: Timestamp = now!()`.
    now Now;
    /// A random value, the same on replay: `let lucky: bool = random!()`, `let dice: u8 = random!(1..=6)`.
    random Random;
    /// A fresh id, the same on replay: `let id: Uuid = uuid!()`.
    uuid Uuid;
}
