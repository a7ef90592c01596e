//! Durable futures: what workflow code awaits. They do not implement `std::future::Future`, and only the macros' rewriting
//! of `.await` can await one, so nothing else can be awaited in a workflow and no durable future can leave it.

use crate::driver::turn::{self, Scope};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future that survives the process: a checkpoint, a block of workflow code, or a combinator of such.
///
/// It is awaited in `#[workflow]` and `#[durable]` functions, and nowhere else. Ordinary futures do not implement it; they run
/// inside [`step!`](crate::step).
#[must_use = "a durable future does nothing until it is awaited"]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not durable: wrap it in `step!(\"name\", …)`",
    label = "a workflow cannot await this",
    note = "workflow code awaits checkpoints only (`step!`, `sleep!`, `signal!`, …), because only they are recorded and replayed",
    note = "if it is your own `async fn` with checkpoints in it, mark it with `#[durable]`",
    note = "if it waits for several durable futures, use `join!`, `join_all`, `map_concurrent` or `race!`; if it waits for a time, `sleep!` or `.timeout(…)`"
)]
pub trait DurableFuture {
    /// What awaiting it gives.
    type Output;

    #[doc(hidden)]
    fn poll_durable(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output>;
}

/// What can be awaited in a workflow: every [`DurableFuture`], and builders such as the one that `step!` gives.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not durable: wrap it in `step!(\"name\", …)`",
    label = "a workflow cannot await this",
    note = "workflow code awaits checkpoints only (`step!`, `sleep!`, `signal!`, `join!`, …), because only they are recorded and replayed",
    note = "if it is your own `async fn` with checkpoints in it, mark it with `#[durable]`",
    note = "if it waits for several durable futures, use `join!`, `join_all`, `map_concurrent` or `race!`; if it waits for a time, `sleep!` or `.timeout(…)`"
)]
pub trait IntoDurable {
    /// What awaiting it gives.
    type Output;
    /// The future it becomes.
    type Durable: DurableFuture<Output = Self::Output>;

    #[doc(hidden)]
    fn into_durable(self) -> Self::Durable;
}

#[diagnostic::do_not_recommend]
impl<D: DurableFuture> IntoDurable for D {
    type Output = D::Output;
    type Durable = D;

    fn into_durable(self) -> D {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<D: DurableFuture + ?Sized> DurableFuture for Pin<Box<D>> {
    type Output = D::Output;

    fn poll_durable(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().as_mut().poll_durable(context)
    }
}

type PollDurable<F, T> = fn(Pin<&mut F>, &mut Context<'_>) -> Poll<T>;

/// The await guard: macro-written code awaits this and nothing else.
///
/// What it gives is a future whatever `D` is, since it brings along how to poll it: so a mistake is reported here, where
/// it was made, and not once more by whoever awaits the guard.
#[doc(hidden)]
pub fn guard<D, F, T>(durable: D) -> Awaited<F, T>
where
    D: IntoDurable<Durable = F, Output = T>,
    F: DurableFuture<Output = T>,
{
    Awaited {
        future: durable.into_durable(),
        poll: F::poll_durable,
    }
}

pin_project_lite::pin_project! {
    #[doc(hidden)]
    #[must_use = "a durable future does nothing until it is awaited"]
    pub struct Awaited<F, T> {
        #[pin]
        future: F,
        poll: PollDurable<F, T>,
    }
}

impl<F, T> Future for Awaited<F, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let this = self.project();
        (this.poll)(this.future, context)
    }
}

/// The same for a branch of `join!`, `try_join!` and `race!`, which stays durable.
#[doc(hidden)]
pub fn branch<D, F, T>(durable: D) -> Branch<F, T>
where
    D: IntoDurable<Durable = F, Output = T>,
    F: DurableFuture<Output = T>,
{
    Branch { future: guard(durable) }
}

pin_project_lite::pin_project! {
    #[doc(hidden)]
    #[must_use = "a durable future does nothing until it is awaited"]
    pub struct Branch<F, T> {
        #[pin]
        future: Awaited<F, T>,
    }
}

#[diagnostic::do_not_recommend]
impl<F, T> DurableFuture for Branch<F, T> {
    type Output = T;

    fn poll_durable(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        self.project().future.poll(context)
    }
}

pin_project_lite::pin_project! {
    /// An `async` block of workflow code, or the body of a `#[durable]` function, with its own scope.
    #[doc(hidden)]
    #[must_use = "a durable block does nothing until it is awaited"]
    pub struct Block<F> {
        #[pin]
        future: F,
        scope: Scope,
    }
}

/// An `async` block in workflow code.
#[doc(hidden)]
pub fn block<F: Future>(future: F) -> Block<F> {
    Block {
        future,
        scope: Scope::open(""),
    }
}

/// The body of a `#[durable]` function.
#[doc(hidden)]
pub fn helper<F: Future>(name: &'static str, future: F) -> Block<F> {
    Block {
        future,
        scope: Scope::open(name),
    }
}

#[diagnostic::do_not_recommend]
impl<F: Future> DurableFuture for Block<F> {
    type Output = F::Output;

    fn poll_durable(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        if turn::with(|turn| turn.machine.fault().is_some()).unwrap_or(false) {
            // The instance stops; going deeper may be what is wrong.
            return Poll::Pending;
        }
        let this = self.project();
        let future = this.future;
        this.scope.enter(|| future.poll(context))
    }
}
