//! Due times. Instances in memory have an entry each; those that are parked exist only in the store's index, which is
//! read when something of it is due. Nothing polls: the task sleeps until the earliest instant or until that changes.

use super::engine::Engine;
use crate::ids::InstanceNumber;
use crate::time::Timestamp;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;

/// How many due instances are read from the store at once.
const PAGE: usize = 1_000;
/// How soon they are looked for again when the store does not answer.
const READ_AGAIN: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(crate) struct Alarms {
    state: Mutex<AlarmState>,
    changed: Notify,
}

#[derive(Default)]
struct AlarmState {
    live: BTreeSet<(Timestamp, InstanceNumber)>,
    /// The earliest due time in the store after `handed_out`, as far as known.
    parked: Parked,
    /// Rises when an instance is parked, so that a reader notices what its reading may have missed.
    revision: u64,
    /// Everything in the store's index up to here has been woken.
    handed_out: Option<(Timestamp, InstanceNumber)>,
}

#[derive(Clone, Copy, Default)]
enum Parked {
    #[default]
    Unknown,
    None,
    At(Timestamp),
}

impl Alarms {
    /// Replaces an instance's entry.
    pub(crate) fn arm(&self, instance: InstanceNumber, before: Option<Timestamp>, after: Option<Timestamp>) {
        let mut state = self.lock();
        let first = state.live.first().copied();
        if let Some(before) = before {
            state.live.remove(&(before, instance));
        }
        if let Some(after) = after {
            state.live.insert((after, instance));
        }
        let earlier = match (first, state.live.first()) {
            (Some(first), Some(now_first)) => *now_first < first,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        drop(state);
        if earlier {
            self.changed.notify_one();
        }
    }

    /// An instance left memory; the store wakes it at `due`.
    pub(crate) fn parked(&self, due: Timestamp) {
        let mut state = self.lock();
        state.revision += 1;
        if state.handed_out.is_some_and(|(until, _)| due <= until) {
            // The clock was set back since that instant was handed out: look through the index again.
            state.handed_out = None;
            state.parked = Parked::Unknown;
        }
        let earlier = match state.parked {
            Parked::Unknown => true,
            Parked::None => true,
            Parked::At(known) => due < known,
        };
        if let (true, Parked::None | Parked::At(_)) = (earlier, state.parked) {
            state.parked = Parked::At(due);
        }
        drop(state);
        if earlier {
            self.changed.notify_one();
        }
    }

    pub(crate) fn look_again(&self) {
        self.changed.notify_one();
    }

    /// How many instances have an entry.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock().live.len()
    }

    fn lock(&self) -> MutexGuard<'_, AlarmState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Instances in memory that are due.
    fn take_due(&self, now: Timestamp) -> Vec<InstanceNumber> {
        let mut state = self.lock();
        let mut due = Vec::new();
        while let Some((at, instance)) = state.live.first().copied() {
            if at > now {
                break;
            }
            state.live.pop_first();
            due.push(instance);
        }
        due
    }

    /// The next instant at which something may be due.
    fn next(&self) -> Option<Timestamp> {
        let state = self.lock();
        let live = state.live.first().map(|(at, _)| *at);
        let parked = match state.parked {
            Parked::At(at) => Some(at),
            Parked::Unknown | Parked::None => None,
        };
        [live, parked].into_iter().flatten().min()
    }
}

/// Runs until the engine is gone.
pub(crate) async fn run(engine: Weak<Engine>) {
    loop {
        let Some(strong) = engine.upgrade() else { return };
        let alarms = Arc::clone(&strong.alarms);
        let clock = Arc::clone(&strong.clock);
        let now = clock.now();
        for instance in alarms.take_due(now) {
            strong.alarm(instance);
        }
        wake_parked(&strong, now);
        drop(strong);
        let changed = alarms.changed.notified();
        match alarms.next() {
            None => changed.await,
            Some(due) if due <= clock.now() => tokio::task::yield_now().await,
            Some(due) => {
                tokio::select! {
                    () = changed => {}
                    () = clock.wait_until(due) => {}
                }
            }
        }
    }
}

fn wake_parked(engine: &Arc<Engine>, now: Timestamp) {
    loop {
        let (known, after, revision) = {
            let state = engine.alarms.lock();
            (state.parked, state.handed_out, state.revision)
        };
        match known {
            Parked::None => return,
            Parked::At(at) if at > now => return,
            Parked::At(_) | Parked::Unknown => {}
        }
        let found = match engine.store.due(Timestamp::MAX, after, PAGE) {
            Ok(found) => found,
            Err(error) => {
                tracing::error!(%error, "due instances cannot be read now");
                engine.alarms.lock().parked = Parked::At(now + READ_AGAIN);
                return;
            }
        };
        let due = found.partition_point(|(at, _)| *at <= now);
        let mut state = engine.alarms.lock();
        // What was parked while the index was read may be due before the last of these: then it is read again from where
        // it was begun, and those that are in memory by then take no notice.
        let is_current = state.revision == revision;
        if let Some(last) = due
            .checked_sub(1)
            .and_then(|last| found.get(last))
            .filter(|_| is_current)
        {
            state.handed_out = Some(*last);
        }
        state.parked = match found.get(due) {
            Some(_) | None if !is_current || found.len() == PAGE && due == PAGE => Parked::Unknown,
            Some((at, _)) => Parked::At(*at),
            None => Parked::None,
        };
        drop(state);
        for (_, instance) in found.iter().take(due) {
            engine.wake_stored(*instance, &[]);
        }
    }
}
