//! Any number of branches, of which only the woken ones are polled, so that a wide join is linear. Absent on purpose:
//! which branches there are and what an error means; `list` and `map` say.

use super::alarm::{Alarm, Bell};
use crate::api::durable::DurableFuture;
use crate::driver::turn::Scope;
use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

/// Branches numbered from 0 in the order of their start, and the values of those that ended.
pub(super) struct Pool<F, T> {
    running: BTreeMap<usize, Running<F>>,
    /// One place for every branch that was started.
    values: Vec<Option<T>>,
    /// Branches to poll, in this order: started ones, then woken ones as they woke.
    due: VecDeque<usize>,
    alarm: Arc<Alarm>,
    scope: Scope,
}

struct Running<F> {
    future: Pin<Box<F>>,
    bell: Arc<Bell>,
    /// The same bell, ready to hand out.
    waker: Waker,
    scope: Scope,
}

impl<F: DurableFuture, T> Pool<F, T> {
    pub(super) fn open(segment: &'static str) -> Self {
        Pool {
            running: BTreeMap::new(),
            values: Vec::new(),
            due: VecDeque::new(),
            alarm: Arc::default(),
            scope: Scope::open(segment),
        }
    }

    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    /// Starts the next branch with the future that `construct` makes in the branch's scope; false if it makes none.
    pub(super) fn start(&mut self, construct: impl FnOnce() -> Option<F>) -> bool {
        let index = self.values.len();
        let scope = self.scope.branch(index);
        let Some(future) = scope.enter(construct) else {
            return false;
        };
        let bell = Bell::rung(index, self.alarm.clone());
        let waker = Waker::from(bell.clone());
        self.running.insert(
            index,
            Running {
                future: Box::pin(future),
                bell,
                waker,
                scope,
            },
        );
        self.values.push(None);
        self.due.push_back(index);
        true
    }

    /// Polls every branch that is due, once. `refill` is called before each poll and after the last one; it starts
    /// branches as it likes and answers whether more may come. `keep` says what of an output is kept; the first error
    /// drops all branches.
    ///
    /// A branch that wakes itself while it is polled is not due again before the next call: the parent is woken
    /// instead, so no branch can keep the turn to itself.
    pub(super) fn poll<E>(
        &mut self,
        cx: &mut Context<'_>,
        mut refill: impl FnMut(&mut Self) -> bool,
        keep: impl Fn(F::Output) -> Result<T, E>,
    ) -> Poll<Result<Vec<T>, E>> {
        self.due.extend(self.alarm.listen(cx.waker()));
        loop {
            let more = refill(self);
            let Some(index) = self.due.pop_front() else {
                if more || !self.running.is_empty() {
                    break Poll::Pending;
                }
                break Poll::Ready(Ok(mem::take(&mut self.values).into_iter().flatten().collect()));
            };
            let Poll::Ready(output) = self.poll_branch(index) else {
                continue;
            };
            match keep(output) {
                Ok(value) => {
                    if let Some(place) = self.values.get_mut(index) {
                        *place = Some(value);
                    }
                }
                Err(error) => {
                    self.close();
                    break Poll::Ready(Err(error));
                }
            }
        }
    }

    /// Ready once, and the future is dropped by then. A branch that has ended is never ready, however late it is woken.
    fn poll_branch(&mut self, index: usize) -> Poll<F::Output> {
        let Some(Running {
            future,
            bell,
            waker,
            scope,
        }) = self.running.get_mut(&index)
        else {
            return Poll::Pending;
        };
        bell.answer();
        let mut cx = Context::from_waker(waker);
        let output = ready!(scope.enter(|| future.as_mut().poll_durable(&mut cx)));
        self.running.remove(&index);
        Poll::Ready(output)
    }

    fn close(&mut self) {
        self.running.clear();
        self.values.clear();
        self.due.clear();
    }
}

impl<F, T> Drop for Pool<F, T> {
    fn drop(&mut self) {
        self.alarm.silence();
    }
}
