//! One branch of a join or a race: a future in its scope, gone as soon as it is ready or no longer needed. Absent on
//! purpose: where the output goes, and branches whose number is known only at run time, which `pool` keeps.

use crate::api::durable::{DurableFuture, IntoDurable};
use crate::driver::turn::Scope;
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pin_project! {
    #[project = BranchProjection]
    pub(super) enum Branch<F> {
        Running {
            #[pin]
            future: F,
            scope: Scope,
        },
        Closed,
    }
}

impl<F: DurableFuture> Branch<F> {
    pub(super) fn open<D: IntoDurable<Durable = F>>(parent: &Scope, index: usize, branch: D) -> Self {
        let scope = parent.branch(index);
        let future = scope.enter(|| branch.into_durable());
        Branch::Running { future, scope }
    }

    /// Ready once, and the future is dropped by then. A closed branch is never ready.
    pub(super) fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let output = match self.as_mut().project() {
            BranchProjection::Running { future, scope } => ready!(scope.enter(|| future.poll_durable(cx))),
            BranchProjection::Closed => return Poll::Pending,
        };
        self.close();
        Poll::Ready(output)
    }

    pub(super) fn close(mut self: Pin<&mut Self>) {
        self.set(Branch::Closed);
    }
}
