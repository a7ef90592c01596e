//! What stays when a runtime goes: the clock and the store.

use crate::probe::ProbeStore;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use steadfast::testing::{SeededEntropy, VirtualClock};
use steadfast::{Builder, InstanceStatus, OpenError, Runtime, RuntimeError, Status, WaitingFor};

/// How long a test waits, in real time, for what must happen at once. Reached only by a test that fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A clock and a store, over which runtimes are opened one after the other.
#[derive(Clone, Default)]
pub struct World {
    /// Moves only when told to.
    pub clock: VirtualClock,
    /// Outlives every runtime.
    pub store: ProbeStore,
    /// How many runtimes were opened, so that each draws other chance.
    opened: Arc<AtomicU64>,
}

impl World {
    /// A new, empty world.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a runtime over this world; `register` adds workflows and states.
    pub async fn try_open(&self, register: impl FnOnce(Builder) -> Builder) -> Result<Runtime, OpenError> {
        let builder = Runtime::builder()
            .clock(self.clock.clone())
            .entropy(SeededEntropy::new(self.opened.fetch_add(1, Ordering::Relaxed)));
        register(builder).store(self.store.clone()).start().await
    }

    /// As [`World::try_open`], when nothing may be wrong.
    ///
    /// # Panics
    /// When the runtime does not open.
    pub async fn open(&self, register: impl FnOnce(Builder) -> Builder) -> Runtime {
        self.try_open(register).await.expect("the runtime opens")
    }

    /// Moves the clock, step by step, to every instant that somebody waits for, until `done`.
    ///
    /// # Panics
    /// When `done` stays false.
    pub async fn advance_until(&self, mut done: impl AsyncFnMut() -> bool) {
        let clock = self.clock.clone();
        until(async || {
            if done().await {
                return true;
            }
            if let Some(due) = clock.next_due() {
                clock.set(due);
            }
            false
        })
        .await;
    }
}

/// Lets other tasks run until `done`.
///
/// # Panics
/// When `done` stays false for a long time.
pub async fn until(mut done: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !done().await {
        assert!(began.elapsed() < PATIENCE, "what the test waits for does not happen");
        tokio::task::yield_now().await;
    }
}

/// What tests ask of a runtime all the time.
pub trait Ask {
    /// The status of an instance that exists.
    fn ask(&self, id: &str) -> impl Future<Output = InstanceStatus>;
    /// Waits until an instance has this status.
    fn until_status(&self, id: &str, status: Status) -> impl Future<Output = InstanceStatus>;
    /// Waits until an instance waits, at rest, for something that fits.
    fn until_waiting_for(&self, id: &str, fits: impl Fn(&WaitingFor) -> bool) -> impl Future<Output = InstanceStatus>;
    /// The history, one line for each event.
    fn lines(&self, id: &str) -> impl Future<Output = Vec<String>>;
}

impl Ask for Runtime {
    async fn ask(&self, id: &str) -> InstanceStatus {
        self.status(id).await.expect("the instance exists")
    }

    async fn until_status(&self, id: &str, status: Status) -> InstanceStatus {
        let began = Instant::now();
        loop {
            let seen = self.ask(id).await;
            if seen.status == status {
                return seen;
            }
            let hopeless = seen.status.is_terminal() || began.elapsed() > PATIENCE;
            assert!(!hopeless, "`{id}` does not become {status}: {seen:#?}");
            tokio::task::yield_now().await;
        }
    }

    async fn until_waiting_for(&self, id: &str, fits: impl Fn(&WaitingFor) -> bool) -> InstanceStatus {
        let began = Instant::now();
        loop {
            let seen = self.ask(id).await;
            if seen.waiting_for.iter().any(&fits) {
                return seen;
            }
            let hopeless = seen.status.is_terminal() || began.elapsed() > PATIENCE;
            assert!(!hopeless, "`{id}` does not wait for it: {seen:#?}");
            tokio::task::yield_now().await;
        }
    }

    async fn lines(&self, id: &str) -> Vec<String> {
        let history = self.history(id).await;
        let history = history.unwrap_or_else(|error: RuntimeError| panic!("`{id}` has no history: {error}"));
        history.into_iter().map(|entry| entry.what).collect()
    }
}
