//! Durable futures: what workflow code awaits. They do not implement `std::future::Future`, and only the macros' rewriting
//! of `.await` can await one, so nothing else can be awaited in a workflow and no durable future can leave it.

use crate::driver::turn::Scope;
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
    note = "workflow code awaits checkpoints only (`step!`, `sleep!`, `signal!`, …), because only they are recorded and replayed"
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
    note = "workflow code awaits checkpoints only (`step!`, `sleep!`, `signal!`, `join!`, …), because only they are recorded and replayed"
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

impl<D: DurableFuture + ?Sized> DurableFuture for Pin<Box<D>> {
    type Output = D::Output;

    fn poll_durable(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().as_mut().poll_durable(context)
    }
}

/// The await guard: macro-written code awaits this and nothing else.
#[doc(hidden)]
pub fn guard<D: IntoDurable>(durable: D) -> Awaited<D::Durable> {
    Awaited {
        durable: durable.into_durable(),
    }
}

pin_project_lite::pin_project! {
    #[doc(hidden)]
    pub struct Awaited<D> {
        #[pin]
        durable: D,
    }
}

impl<D: DurableFuture> Future for Awaited<D> {
    type Output = D::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().durable.poll_durable(context)
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

impl<F: Future> DurableFuture for Block<F> {
    type Output = F::Output;

    fn poll_durable(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let future = this.future;
        this.scope.enter(|| future.poll(context))
    }
}
