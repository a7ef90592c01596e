//! Hand-made leaves and a hand-made parent, to try the combinators without an engine.

use crate::api::durable::DurableFuture;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};

/// The far end of a [`Leaf`]: opens it and tells what became of it.
pub(super) struct Gate<T>(Arc<Mutex<GateState<T>>>);

struct GateState<T> {
    output: Option<T>,
    waker: Option<Waker>,
    polls: usize,
    dropped: bool,
}

/// Ready when its gate is opened.
pub(super) struct Leaf<T>(Gate<T>);

impl<T> Gate<T> {
    pub(super) fn new() -> (Gate<T>, Leaf<T>) {
        let state = GateState {
            output: None,
            waker: None,
            polls: 0,
            dropped: false,
        };
        let gate = Gate(Arc::new(Mutex::new(state)));
        (gate.clone(), Leaf(gate))
    }

    pub(super) fn many<const N: usize>() -> ([Gate<T>; N], [Leaf<T>; N]) {
        let pairs = [(); N].map(|()| Gate::new());
        (
            pairs.each_ref().map(|(gate, _)| gate.clone()),
            pairs.map(|(_, leaf)| leaf),
        )
    }

    pub(super) fn open(&self, output: T) {
        self.lock().output = Some(output);
        self.wake();
    }

    /// Without an output this is a spurious wake.
    pub(super) fn wake(&self) {
        if let Some(waker) = self.waker() {
            waker.wake();
        }
    }

    /// The waker that the leaf was last polled with.
    pub(super) fn waker(&self) -> Option<Waker> {
        self.lock().waker.clone()
    }

    pub(super) fn polls(&self) -> usize {
        self.lock().polls
    }

    pub(super) fn dropped(&self) -> bool {
        self.lock().dropped
    }

    fn lock(&self) -> MutexGuard<'_, GateState<T>> {
        self.0.lock().unwrap()
    }
}

impl<T> Clone for Gate<T> {
    fn clone(&self) -> Self {
        Gate(self.0.clone())
    }
}

impl<T> DurableFuture for Leaf<T> {
    type Output = T;
    fn poll_durable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let mut state = self.0.lock();
        state.polls += 1;
        state.waker = Some(cx.waker().clone());
        state.output.take().map_or(Poll::Pending, Poll::Ready)
    }
}

impl<T> Drop for Leaf<T> {
    fn drop(&mut self) {
        self.0.lock().dropped = true;
    }
}

/// Ready at the first poll.
pub(super) fn at_once<T>(output: T) -> Leaf<T> {
    let (gate, leaf) = Gate::new();
    gate.open(output);
    leaf
}

/// Wakes itself at every poll and is never ready.
pub(super) struct Restless;

impl DurableFuture for Restless {
    type Output = ();
    fn poll_durable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Polls one future and counts how often it was woken.
pub(super) struct Parent<F> {
    pub(super) future: Pin<Box<F>>,
    wakes: Arc<Wakes>,
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl<F: DurableFuture> Parent<F> {
    /// A combinator that could not be sent would make every workflow that uses it unusable.
    pub(super) fn of(future: F) -> Self
    where
        F: Send,
    {
        Parent {
            future: Box::pin(future),
            wakes: Arc::default(),
        }
    }

    pub(super) fn poll(&mut self) -> Poll<F::Output> {
        let waker = Waker::from(self.wakes.clone());
        self.future.as_mut().poll_durable(&mut Context::from_waker(&waker))
    }

    pub(super) fn wakes(&self) -> usize {
        self.wakes.0.load(Ordering::SeqCst)
    }

    /// From now on another waker is handed in.
    pub(super) fn move_to_another_task(&mut self) {
        self.wakes = Arc::default();
    }

    /// Polls as an executor would: only when woken. Waits for threads.
    pub(super) fn run(&mut self) -> F::Output {
        loop {
            let seen = self.wakes();
            if let Poll::Ready(output) = self.poll() {
                return output;
            }
            while self.wakes() == seen {
                std::thread::yield_now();
            }
        }
    }
}
