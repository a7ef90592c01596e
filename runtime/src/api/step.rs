//! Steps: the only place where a workflow has effects.
//!
//! The body runs inside the workflow's own future, so it may borrow from the workflow's locals. Its result reaches the
//! workflow only through the machine: encoded, recorded, delivered, decoded. On replay the body is never made.

use super::attempt::{Attempt, Cancellation};
use super::durable::{Awaited, DurableFuture, IntoDurable, guard};
use crate::driver::turn;
use crate::failure::{AttemptFailure, BoxError, IntoFailure, StepError, StepFailureKind, panic_message};
use crate::machine::{Delivery, Fault, Location, OpenNo, Path, Retry, StepOutcome, StepRules, StepView};
use crate::payload::{DecodeError, EncodeError, Payload, Storable};
use std::any::Any;
use std::fmt::Display;
use std::future::Future;
use std::panic::{AssertUnwindSafe, Location as Caller, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tracing::Span;

type RetryIf<E> = Box<dyn Fn(&E) -> bool + Send>;
type Attempting<'a, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'a>>;

/// A step that is about to be awaited: what [`step!`](crate::step) gives.
///
/// Without options it is tried as [`Retry::default`] says, without a timeout, and named by its place in the code.
// The body is boxed. That costs little beside a commit, and the compiler checks a long workflow in half the time: the types
// of its bodies do not pile up in the type of its future.
#[must_use = "a step does nothing until it is awaited"]
pub struct Step<'a, T, E> {
    name: &'static str,
    path: Path,
    location: Location,
    body: Box<dyn Fn(Attempt) -> Attempting<'a, T, E> + Send + 'a>,
    rules: StepRules,
    retry_if: Option<RetryIf<E>>,
    values: Values<T, E>,
}

/// What the step's types can do, brought along from where they were checked: so a result that cannot be stored is
/// reported there and not once more at the `.await`.
struct Values<T, E> {
    store: fn(&T) -> Result<Payload, EncodeError>,
    restore: fn(Payload) -> Result<T, DecodeError>,
    fail: fn(E) -> BoxError,
}

/// Called by `step!`.
#[doc(hidden)]
#[track_caller]
pub fn step<'a, B, Fut, T, E>(name: &'static str, body: B) -> Step<'a, T, E>
where
    B: Fn(Attempt) -> Fut + Send + 'a,
    Fut: Future<Output = Result<T, E>> + Send + 'a,
    T: Storable,
    E: IntoFailure,
{
    Step {
        name,
        path: turn::inside(|turn| turn.claim(name)),
        location: Caller::caller(),
        body: Box::new(move |attempt| Box::pin(body(attempt))),
        rules: StepRules {
            retry: Retry::default(),
            timeout: None,
            at_most_once: false,
        },
        retry_if: None,
        values: Values {
            store: T::stored,
            restore: T::restored_from,
            fail: E::into_error,
        },
    }
}

/// An ordinary future that gives a `Result`: what a step runs.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the body of a step",
    label = "not an ordinary future that gives a `Result`",
    note = "a body ends in a `Result`, even where it cannot fail: `Ok(value)`",
    note = "checkpoints, `#[durable]` functions and `async` blocks of the workflow are awaited in workflow code itself, not inside a step"
)]
pub trait StepBody {
    type Value;
    type Error;
    fn poll_body(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Self::Value, Self::Error>>;
}

#[diagnostic::do_not_recommend]
impl<F: Future<Output = Result<T, E>>, T, E> StepBody for F {
    type Value = T;
    type Error = E;
    fn poll_body(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T, E>> {
        self.poll(context)
    }
}

/// Called by `step!` around the body, to report at the body what it is not.
#[doc(hidden)]
pub fn body<F, T, E>(future: F) -> Body<F, T, E>
where
    F: StepBody<Value = T, Error = E>,
{
    Body {
        future,
        poll: F::poll_body,
    }
}

type PollBody<F, T, E> = fn(Pin<&mut F>, &mut Context<'_>) -> Poll<Result<T, E>>;

pin_project_lite::pin_project! {
    #[doc(hidden)]
    pub struct Body<F, T, E> {
        #[pin]
        future: F,
        poll: PollBody<F, T, E>,
    }
}

impl<F, T, E> Future for Body<F, T, E> {
    type Output = Result<T, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        (this.poll)(this.future, context)
    }
}

/// Fixes the error type of a body that is a block, so that `?` needs no annotation.
#[doc(hidden)]
pub fn boxed<T, F: Future<Output = Result<T, BoxError>>>(body: F) -> F {
    body
}

impl<T, E> Step<'_, T, E> {
    /// How often and how soon a failed attempt is followed by another. Default: [`Retry::default`].
    pub fn retry(mut self, retry: Retry) -> Self {
        self.rules.retry = retry;
        self
    }

    /// Only errors for which `retryable` is true are tried again. Timeouts and panics always are.
    pub fn retry_if(mut self, retryable: impl Fn(&E) -> bool + Send + 'static) -> Self {
        self.retry_if = Some(Box::new(retryable));
        self
    }

    /// The longest time that one attempt may take; the attempt then fails and its body is dropped. Default: none. Zero lets
    /// no attempt begin.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.rules.timeout = Some(timeout);
        self
    }

    /// Names the step by a key instead of by how often its name came before, for steps in loops over things that have
    /// names. Keys are unique within one scope: a second use stops the instance and names both places.
    #[track_caller]
    pub fn key(mut self, key: impl Display) -> Self {
        self.location = Caller::caller();
        self.path = turn::inside(|turn| turn.claim_key(self.name, &key.to_string(), self.location));
        self
    }

    /// Never run the body a second time: no retries, and if the process dies during the only attempt, the step ends with
    /// [`StepFailureKind::Interrupted`]. That the attempt begins is recorded first, which costs one more commit.
    pub fn at_most_once(mut self) -> Self {
        self.rules.at_most_once = true;
        self
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T, E> IntoDurable for Step<'a, T, E> {
    type Output = Result<T, StepError>;
    type Durable = StepFuture<'a, T, E>;

    fn into_durable(self) -> Self::Durable {
        StepFuture {
            future: None,
            step: self,
            lease: StepLease::default(),
        }
    }
}

/// The await guard of a step that is awaited where it stands: it is one for certain, which saves the compiler the search.
#[doc(hidden)]
pub fn guard_step<'a, T, E>(step: Step<'a, T, E>) -> Awaited<StepFuture<'a, T, E>, Result<T, StepError>> {
    guard(step)
}

/// A step that is being awaited.
#[doc(hidden)]
pub struct StepFuture<'a, T, E> {
    future: Option<Attempting<'a, T, E>>,
    step: Step<'a, T, E>,
    // Dropped after the body, which may still use its cancellation.
    lease: StepLease,
}

/// The step's place in the machine and its running attempt; gives both back when dropped.
#[derive(Default)]
struct StepLease {
    open: Option<OpenNo>,
    running: Option<RunningAttempt>,
    /// Around all attempts; made with the first one.
    span: Option<Span>,
}

struct RunningAttempt {
    number: u32,
    cancellation: Cancellation,
    span: Span,
}

impl StepLease {
    fn give_up_attempt(&mut self) {
        if let Some(attempt) = self.running.take() {
            attempt.cancellation.fire();
        }
    }
}

impl Drop for StepLease {
    fn drop(&mut self) {
        self.give_up_attempt();
        if let Some(open) = self.open
            && !std::thread::panicking()
        {
            turn::with(|turn| {
                turn.machine.dropped(open);
                turn.forget(open);
            });
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T, E> DurableFuture for StepFuture<'_, T, E> {
    type Output = Result<T, StepError>;

    fn poll_durable(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let open = *this.lease.open.get_or_insert_with(|| {
            turn::inside(|turn| {
                turn.machine
                    .open_step(this.step.path.clone(), this.step.location, this.step.rules.clone())
            })
        });
        let view = turn::inside(|turn| {
            turn.register(open, context.waker());
            turn.machine.step_view(open)
        });
        match view {
            StepView::Answered => {
                this.lease.give_up_attempt();
                discard(&mut this.future);
                take_answer(open, &this.step)
            }
            StepView::Wait => {
                this.lease.give_up_attempt();
                discard(&mut this.future);
                Poll::Pending
            }
            StepView::Run(number) => {
                if this
                    .lease
                    .running
                    .as_ref()
                    .is_none_or(|running| running.number != number)
                {
                    this.lease.give_up_attempt();
                    discard(&mut this.future);
                    begin(&mut this.future, &this.step, &mut this.lease, number, open);
                }
                poll_body(&mut this.future, &this.step, &mut this.lease, open, context);
                Poll::Pending
            }
        }
    }
}

/// The recorded end of the step, decoded.
fn take_answer<T, E>(open: OpenNo, step: &Step<'_, T, E>) -> Poll<Result<T, StepError>> {
    let path = &step.path;
    turn::inside(|turn| match turn.machine.take(open) {
        Some(Delivery::Step(Ok(result))) => match (step.values.restore)(result) {
            Ok(value) => Poll::Ready(Ok(value)),
            Err(error) => {
                turn.machine.set_fault(Fault::bad_data(format!(
                    "the result of step `{path}` cannot be read: {error}"
                )));
                Poll::Pending
            }
        },
        Some(Delivery::Step(Err(error))) => Poll::Ready(Err(error)),
        Some(Delivery::SleepEnded | Delivery::Signal(_) | Delivery::Elapsed | Delivery::Passed) | None => Poll::Pending,
    })
}

fn begin<'a, T, E>(
    future: &mut Option<Attempting<'a, T, E>>,
    step: &Step<'a, T, E>,
    lease: &mut StepLease,
    number: u32,
    open: OpenNo,
) {
    let seed = turn::inside(|turn| *turn.machine.seed());
    let attempt = Attempt::new(number, seed, step.path.clone());
    let around = lease
        .span
        .get_or_insert_with(|| tracing::info_span!("step", step = step.path.as_str()));
    let span = tracing::info_span!(parent: &*around, "attempt", attempt = number);
    lease.running = Some(RunningAttempt {
        number,
        cancellation: attempt.cancellation(),
        span: span.clone(),
    });
    match turn::suspended(|| span.in_scope(|| catch_unwind(AssertUnwindSafe(|| (step.body)(attempt))))) {
        Ok(body) => *future = Some(body),
        Err(panic) => report(open, number, panicked(panic.as_ref())),
    }
}

fn poll_body<'a, T, E>(
    future: &mut Option<Attempting<'a, T, E>>,
    step: &Step<'a, T, E>,
    lease: &mut StepLease,
    open: OpenNo,
    context: &mut Context<'_>,
) {
    let Some(running) = &lease.running else { return };
    let Some(body) = future.as_mut() else {
        return;
    };
    // Everything of the user's is called here, with the turn out of reach and panics caught: the body, and what stores its
    // value, judges its error and tells its words.
    let ended = turn::suspended(|| {
        running.span.in_scope(|| {
            catch_unwind(AssertUnwindSafe(|| match body.as_mut().poll(context) {
                Poll::Pending => None,
                Poll::Ready(Ok(value)) => Some(stored((step.values.store)(&value))),
                Poll::Ready(Err(error)) => Some(failed(step, error)),
            }))
        })
    });
    let outcome = match ended {
        Ok(None) => return,
        Ok(Some(outcome)) => outcome,
        Err(panic) => panicked(panic.as_ref()),
    };
    report(open, running.number, outcome);
    discard(future);
}

/// Drops the body of an attempt that is over. It ended or was given up: that its drop panics changes nothing about that.
fn discard<Body>(future: &mut Option<Body>) {
    if future.is_none() {
        return;
    }
    let dropped = turn::suspended(|| catch_unwind(AssertUnwindSafe(|| *future = None)));
    if let Err(panic) = dropped {
        let panic = panic_message(panic.as_ref());
        tracing::error!(panic, "a body panicked while it was dropped");
    }
}

fn failed<T, E>(step: &Step<'_, T, E>, error: E) -> StepOutcome {
    let wanted = step.retry_if.as_ref().is_none_or(|retry_if| retry_if(&error));
    let error = (step.values.fail)(error);
    let (failure, is_permanent) = AttemptFailure::of_error(error.as_ref());
    StepOutcome::Failed {
        failure,
        retryable: wanted && !is_permanent,
    }
}

fn report(open: OpenNo, attempt: u32, outcome: StepOutcome) {
    turn::inside(|turn| turn.machine.step_outcome(open, attempt, outcome));
}

fn stored(result: Result<Payload, EncodeError>) -> StepOutcome {
    match result {
        Ok(payload) => StepOutcome::Succeeded(payload),
        Err(error @ (EncodeError::TooLarge { .. } | EncodeError::Unstorable { .. })) => StepOutcome::Failed {
            failure: AttemptFailure::new(StepFailureKind::Unstorable, error.to_string()),
            retryable: false,
        },
    }
}

fn panicked(panic: &(dyn Any + Send)) -> StepOutcome {
    let failure = AttemptFailure::new(StepFailureKind::Panicked, panic_message(panic));
    StepOutcome::Failed {
        failure,
        retryable: true,
    }
}
