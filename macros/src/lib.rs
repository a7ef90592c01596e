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
mod deterministic;
mod expand;
mod fallback;
mod graph;
mod krate;
mod model;

use proc_macro::TokenStream;
use quote::{quote, quote_spanned};

use args::{Args, Attribute};
use body::checkpoint;
use expand::workflow::Soundness;
use krate::Krate;
use steadfast_analysis::check::body as check_body;
use steadfast_analysis::check::collections::Collections;
use steadfast_analysis::code::checkpoint::Kind;
use steadfast_analysis::diagnostics::Diagnostics;
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
/// Since it is a unit struct, no variable or pattern of its module can have its name, except in `#[workflow]` and
/// `#[durable]` functions of the same module.
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
///   inside `format!`, `vec!`, `assert!`, `println!` and other well-known macros whose arguments are expressions. In
///   `tracing::info!`, `debug_assert!` and their like nothing can be awaited, since their arguments may not be evaluated.
/// - Step bodies borrow. They cannot assign to a variable of the workflow, change it or move it out, because on replay they
///   do not run. A body is `Send`, and so is what it borrows `Sync`.
/// - What a macro can see to be different on replay is refused:
///
/// | | rules |
/// |---|---|
/// | what differs | `clock`, `randomness`, `fresh_id`, `environment`, `address_or_hash` |
/// | what is outside | `io`, `printing`, `global_state`, `sync_primitive` |
/// | other ways to run and wait | `timer`, `spawn`, `foreign_join`, `foreign_select`, `blocking`, `unsafe_or_exit` |
/// | what the order or a later run changes | `hash_order`, `float_branch`, `captured_cell`, `stored_usize` |
/// | checkpoints that go wrong | `checkpoint_in_body`, `not_awaited`, `discarded_result`, `endless_loop`, `guard_across_checkpoint` |
///
/// In a step's body all of this is allowed. `#[allow_nondeterminism(rule, reason = "…")]` on a statement silences one rule
/// there. `printing`, `captured_cell`, `endless_loop`, `float_branch`, `stored_usize` and `discarded_result` are warnings,
/// because they may be meant. What each rule refuses, what to write instead, and what nothing sees:
/// [`guide::determinism`](guide/determinism/index.html).
///
/// # Its picture
///
/// The macro sees the checkpoints and the control flow between them. A picture of them is in the workflow's own
/// documentation, below what you wrote; `Workflow::graph()` gives it as data, as SVG and as Mermaid text. A graph of more
/// than 150 nodes has no picture. `Workflow::shape()` is what of it instances in flight depend on.
///
/// # Changing it while instances are in flight
///
/// An instance goes through the code again on replay, and must come to the checkpoints that it has recorded. What lies
/// behind all of them may change as you like. Where code and journal disagree, the instance is quarantined before any body
/// runs, and goes on with code that fits. `steadfast::testing::shape_lock!` says in a test of yours, before the deploy, whether
/// a change does that to instances in flight; `steadfast::guide::changing` tells it from beginning to end. For the rest there
/// are three ways:
///
/// - **A new version.** Register the old function and the new one with `version = 2` and the same `name`. Each instance
///   stays on the version that it was started with, and waits as `WaitingForCode` where that is not registered. When the
///   last one of the old has ended, so may its function. This needs no further rules: take it for large changes, and for
///   those that replace the very first steps.
/// - **A change in place:** `if patched!("reserve first") { … }`, with the old code in `else` if there is any. Instances
///   that come there later run the new code, those that are past it the old. See [`patched!`], and [`retired!`] for when
///   the old code goes.
/// - **A checkpoint that is gone:** [`removed!`] in its place lets instances pass that have it in their journal.
///
/// | a change | needs |
/// |---|---|
/// | a new checkpoint behind everything that is recorded, another body, other retries, another error text | nothing |
/// | a new or moved checkpoint, another name or key, another kind, a block or call around it, `random!()`, `uuid!()` | `patched!` or a version |
/// | a checkpoint that is gone | `removed!`, `patched!` or a version |
/// | another result type, another input type | one that reads what is stored; else a new name behind `patched!`, or a version |
/// | another duration of a sleep, a timeout or a back-off | nothing: what has begun keeps its instant |
///
/// Once an instance has recorded that it runs the code after a change, code from before the change does not fit it any
/// more: putting it back quarantines the instance until the new code returns.
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

/// Holds a plain helper function to the rules of [workflow code](macro@workflow): whatever would be different on replay is
/// refused in it too. It can have no checkpoints; a helper that has some is a [`#[durable]`](macro@durable) function.
///
/// ```
/// use steadfast::prelude::*;
///
/// #[deterministic]
/// fn price(lines: &[u32], paid_at: Timestamp, discount_until: Timestamp) -> u32 {
///     let sum: u32 = lines.iter().sum();
///     // `SystemTime::now()` would be refused here. The workflow hands in what `now!()` gave it.
///     if paid_at < discount_until { sum - sum / 10 } else { sum }
/// }
///
/// #[workflow]
/// async fn order(lines: Vec<u32>, discount_until: Timestamp) -> Result<u32, BoxError> {
///     Ok(price(&lines, now!(), discount_until))
/// }
/// ```
///
/// The function stays as it is, and anybody may call it: the attribute only looks at it. It may be generic, a method,
/// `const`, and take and return anything; it cannot be `async`, since workflow code could not wait for it. Closures in it
/// are looked into, functions nested in it are not: mark these themselves.
///
/// `#[allow_nondeterminism(rule, reason = "…")]` works as in workflow code.
#[proc_macro_attribute]
pub fn deterministic(args: TokenStream, item: TokenStream) -> TokenStream {
    deterministic::expand(&args.into(), &item.into()).into()
}

/// Silences one determinism rule: `#[allow_nondeterminism(rule, reason = "…")]`.
///
/// ```
/// use steadfast::prelude::*;
/// # #[workflow]
/// # async fn example() -> Result<(), BoxError> {
/// #[allow_nondeterminism(clock, reason = "only logged, decides nothing")]
/// let started = std::time::Instant::now();
/// # drop(started);
/// # Ok(())
/// # }
///
/// // A plain function that workflows call, for `steadfast check`.
/// #[steadfast::allow_nondeterminism(clock, reason = "only logged, decides nothing")]
/// fn age(since: std::time::Instant) -> String {
///     format!("{:?} ago", since.elapsed())
/// }
/// ```
///
/// In a `#[workflow]`, `#[durable]` or `#[deterministic]` function it stands on a statement: on a `let`, an expression, a
/// loop, a block, with everything inside, or on the last expression. On a plain function it holds for that function's own
/// code, not for what that calls, and the checker reads it; the function compiles as if it were not there.
///
/// Anywhere else it is an error. Without a reason it is one too, and so is an allowance that nothing needs. Two rules need
/// two. The rules are in [`guide::determinism`](guide/determinism/index.html).
#[proc_macro_attribute]
pub fn allow_nondeterminism(args: TokenStream, item: TokenStream) -> TokenStream {
    deterministic::allowance(&args.into(), &item.into()).into()
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
    let for_signature = match attribute {
        Attribute::Workflow => lint::for_signature(&mut function.attrs, &mut diagnostics),
        Attribute::Durable => Vec::new(),
    };
    lint::not_on_functions(&mut function.attrs, &mut diagnostics);
    let reported = diagnostics.len();
    check::signature::check(&function.sig, attribute, &mut diagnostics);
    let soundness = Soundness::of(diagnostics.len() == reported);
    let names = Names::of(&function, source_file(&function).as_deref());
    let collections = Collections::of(&function, &names);
    check_body::check(&function.block, &names, &collections, &mut diagnostics);
    let lints = Lints::new(&names);
    lints.check(&function, &mut diagnostics);
    if attribute == Attribute::Workflow {
        lints.check_stored(&function, for_signature, &mut diagnostics);
    }
    let krate = Krate::new(args.krate.take());
    // As it was written, before anything is renamed.
    let described = || graph::describe(&function, attribute, &args, &names);
    let description = diagnostics.is_empty().then(described);
    body::own_name::free(&mut function, attribute, &names);
    if let Some(description) = description {
        body::rewrite::rewrite(&mut function.block, &krate, &names);
        return sound(
            function,
            attribute,
            (&args, &krate),
            &description,
            diagnostics.warnings(),
        );
    }
    // Of a guard that cannot be sent the compiler would speak again.
    let sound = soundness == Soundness::Sound && !lints.holds_guards(&function);
    body::rewrite::rewrite_refused(&mut function.block, &krate, &names, (&lints, &collections));
    // Inside the function: at the level of the module, rustc would leave out every unresolved name of the whole module.
    let errors = diagnostics.into_tokens();
    put_first(&mut function, quote!(const _: () = { #errors };));
    fallback::function(function, attribute, &args, &krate, Soundness::of(sound))
}

/// What a function without mistakes becomes. Its body is rewritten.
fn sound(
    mut function: syn::ItemFn,
    attribute: Attribute,
    (args, krate): (&Args, &Krate),
    description: &graph::Description,
    warnings: proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    function.attrs.extend(description.documentation());
    put_first(&mut function, warnings);
    match attribute {
        Attribute::Workflow => expand::workflow::expand(&function, args, krate, Soundness::Sound, description),
        Attribute::Durable => expand::durable::expand(&function, krate),
    }
}

/// Puts items, if there are any, at the beginning of a function's body.
fn put_first(function: &mut syn::ItemFn, items: proc_macro2::TokenStream) {
    if !items.is_empty() {
        let items = syn::Stmt::Item(syn::Item::Verbatim(items));
        function.block.stmts.insert(0, items);
    }
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
        Kind::Patched => {
            "ask before the step and use the answer in it; mark a function of your own with `#[durable]`, or pass it the answer"
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
    /// Without `.timeout(…)` it gives the value itself, without a `?`. Its type comes from where the value goes. A signal that carries nothing is written `let () = signal!("go").await`.
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
    /// Whether this instance runs the code after a change: for changes in place, while instances are in flight.
    ///
    /// ```
    /// use steadfast::prelude::*;
    /// # async fn charge(order: &str) -> Result<(), BoxError> { Ok(()) }
    /// # async fn reserve(order: &str) -> Result<(), BoxError> { Ok(()) }
    /// # #[workflow]
    /// # async fn example(order: String) -> Result<(), BoxError> {
    /// if patched!("reserve first") {
    ///     step!("reserve", reserve(&order)).await?;
    /// }
    /// step!("charge", charge(&order)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// It is a `bool`, and is not awaited. It is `true` for every instance that comes here for the first time, and that is
    /// recorded. It is `false` for an instance that was past this place before the code had it: then something that came
    /// after is recorded, or a step behind it may have been running when the process ended. One that only waits behind it,
    /// for a signal without a timeout, has not left the place yet.
    ///
    /// An instance is asked once for each change, where it comes to the first `patched!` of that name, and stays with the
    /// answer: in loops, in other places, in `#[durable]` functions. So the name of a change is used for one change only,
    /// in all functions that instances of a workflow go through.
    ///
    /// A change that begins before anything is recorded asks too little: an instance whose very first steps were running
    /// when the process ended has no trace of them, and counts as new. If these steps must not run beside what replaces
    /// them, give the workflow a new `version`.
    ///
    /// When no instance from before the change is left, delete the old code and write [`retired!`] in the place of the first
    /// `patched!`. The rules for changes are at [`macro@workflow`].
    patched Patched;
    /// Takes the record of a change whose old code is gone. It stands where the first [`patched!`] of that name stood.
    ///
    /// ```
    /// use steadfast::prelude::*;
    /// # async fn charge(order: &str) -> Result<(), BoxError> { Ok(()) }
    /// # async fn reserve(order: &str) -> Result<(), BoxError> { Ok(()) }
    /// # #[workflow]
    /// # async fn example(order: String) -> Result<(), BoxError> {
    /// retired!("reserve first");
    /// step!("reserve", reserve(&order)).await?;
    /// step!("charge", charge(&order)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// It gives nothing, is not awaited, and records nothing. An instance from before the change that is still there is
    /// quarantined, where its journal and the code part. When the instances that have the record have ended too, the line
    /// can go.
    retired Retired;
    /// Stands where a checkpoint was that is gone: `removed!("pack").await` for a step,
    /// `removed!(sleep "cooling off").await` and `removed!(signal "approval").await` for the others.
    ///
    /// ```
    /// use steadfast::prelude::*;
    /// # async fn charge(order: &str) -> Result<(), BoxError> { Ok(()) }
    /// # async fn ship(order: &str) -> Result<(), BoxError> { Ok(()) }
    /// # #[workflow]
    /// # async fn example(order: String) -> Result<(), BoxError> {
    /// step!("charge", charge(&order)).await?;
    /// removed!("pack").await;
    /// step!("ship", ship(&order)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// An instance that has recorded how the checkpoint ended passes the record, and goes on where it was. All others pass
    /// at once: nothing runs, nothing is recorded, and what they have recorded of its attempts counts for nothing. So a step
    /// that was running when the process ended, even one that runs at most once, may have had its effect. A signal stays
    /// for the next wait of its name.
    ///
    /// It gives a `Removed`, which has the option `.key(…)`: the key that the checkpoint had. It stands in the same block
    /// and at the same turn among those of its name.
    ///
    /// In a race it ends before anything else can, unless the journal knows another winner already. An instance that has
    /// recorded part of another branch, and no winner, is quarantined; give the removal of a branch a new `version`.
    ///
    /// When all instances that were started with the checkpoint have ended, the line can go.
    removed Removed;
}
