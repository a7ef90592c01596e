//! Layer 5: virtual time, scripted chance and the shape lock, for tests of workflows (feature `testing`).
//!
//! A runtime with a [`VirtualClock`] sleeps for thirty days in no time, and exactly when the test says so. Absent on
//! purpose: real waiting.

mod lock;

use crate::api::error::RuntimeError;
use crate::api::inspect::{HistoryEntry, stored_history};
use crate::driver::seams;
use crate::store::Store;
use crate::time::Timestamp;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

#[doc(inline)]
pub use crate::__shape_lock as shape_lock;
#[doc(hidden)]
pub use crate::api::workflow::Workflow;
#[doc(hidden)]
pub use lock::assert_locked;
pub use seams::{Clock, Entropy};

/// A clock that moves only when it is told to. Clones are one and the same clock.
///
/// ```
/// use steadfast::testing::{Clock, VirtualClock};
/// let clock = VirtualClock::default();
/// let before = clock.now();
/// clock.advance(steadfast::days(30));
/// assert_eq!(clock.now(), before + steadfast::days(30));
/// ```
#[derive(Clone)]
pub struct VirtualClock(Arc<Mutex<Time>>);

struct Time {
    now: Timestamp,
    waiting: BTreeMap<Timestamp, Vec<oneshot::Sender<()>>>,
}

impl Default for VirtualClock {
    /// Begins at 2026-01-01 00:00 UTC.
    fn default() -> Self {
        let now = Timestamp::from_micros(1_767_225_600_000_000);
        Self(Arc::new(Mutex::new(Time {
            now,
            waiting: BTreeMap::new(),
        })))
    }
}

impl VirtualClock {
    /// Moves the clock forward and wakes whoever waits for an instant on the way.
    pub fn advance(&self, by: Duration) {
        let to = self.lock().now + by;
        self.set(to);
    }

    /// Sets the clock, forward or back.
    pub fn set(&self, to: Timestamp) {
        let mut time = self.lock();
        time.now = to;
        let later = time.waiting.split_off(&(to + Duration::from_micros(1)));
        let due = std::mem::replace(&mut time.waiting, later);
        drop(time);
        for waiter in due.into_values().flatten() {
            // Whoever waited may be gone.
            let _ = waiter.send(());
        }
    }

    /// The earliest instant that somebody waits for.
    pub fn next_due(&self) -> Option<Timestamp> {
        let mut time = self.lock();
        time.waiting.retain(|_, waiters| {
            waiters.retain(|waiter| !waiter.is_closed());
            !waiters.is_empty()
        });
        time.waiting.keys().next().copied()
    }

    fn lock(&self) -> MutexGuard<'_, Time> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        self.lock().now
    }

    fn wait_until(&self, due: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let (sender, receiver) = oneshot::channel();
        let mut time = self.lock();
        if due <= time.now {
            return Box::pin(std::future::ready(()));
        }
        time.waiting.entry(due).or_default().push(sender);
        drop(time);
        Box::pin(async {
            // The sender lives in the clock, which outlives whoever waits on it.
            let _ = receiver.await;
        })
    }
}

/// The journal of an instance as the store has it now, whether or not an engine runs over it; empty if there is no such
/// instance.
///
/// # Errors
/// What the store says.
pub fn history(store: &dyn Store, id: &str) -> Result<Vec<HistoryEntry>, RuntimeError> {
    match store.find(id)? {
        Some(record) => stored_history(store, &record),
        None => Ok(Vec::new()),
    }
}

/// Chance that follows from a seed, so that a run can be repeated.
pub struct SeededEntropy(Mutex<seams::Chance>);

impl SeededEntropy {
    /// The same seed gives the same chance.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(seams::Chance::new(seed)))
    }
}

impl Entropy for SeededEntropy {
    fn draw(&self) -> u64 {
        let mut chance = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        u64::from(chance.draw()) << 32 | u64::from(chance.draw())
    }
}
