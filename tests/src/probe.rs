//! A memory store that counts what is written to it, and that dies at a chosen commit: just before it or just after.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use steadfast::store::{CommitError, InstanceRecord, MemoryStore, ReadError, Store, StoredInstance, Write, Written};
use steadfast::{Epoch, InstanceNumber, Timestamp};

/// How many writes of each kind were taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Groups that were committed together.
    pub groups: u64,
    /// Starts.
    pub starts: u64,
    /// Turns: what one instance wrote at once.
    pub turns: u64,
    /// Signals.
    pub signals: u64,
    /// Reads of whole instances.
    pub loads: u64,
}

/// On which side of a commit the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Nothing of the group is written.
    Before,
    /// All of the group is written, and nobody is told.
    After,
}

/// Clones share the data, the counts and the faults; each clone opened by a runtime is a handle of its own.
#[derive(Clone, Debug, Default)]
pub struct ProbeStore {
    data: MemoryStore,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    counts: Counts,
    die_at: Option<(u64, When)>,
    dead: bool,
    unavailable: u64,
    failing_reads: BTreeMap<&'static str, u64>,
    held: bool,
}

impl ProbeStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was written so far.
    pub fn counts(&self) -> Counts {
        self.lock().counts
    }

    /// Dies at the commit of this number, counted from the first ever.
    pub fn die_at(&self, group: u64, when: When) {
        self.lock().die_at = Some((group, when));
    }

    /// Whether it has died.
    pub fn is_dead(&self) -> bool {
        self.lock().dead
    }

    /// Comes back with what was written before it died.
    pub fn revive(&self) {
        let mut state = self.lock();
        state.dead = false;
        state.die_at = None;
    }

    /// The next so many commits write nothing and say so.
    pub fn be_unavailable(&self, commits: u64) {
        self.lock().unavailable = commits;
    }

    /// The next so many reads by the method of this name fail.
    pub fn fail_reads(&self, method: &'static str, reads: u64) {
        self.lock().failing_reads.insert(method, reads);
    }

    /// While held, commits wait.
    pub fn hold(&self, held: bool) {
        self.lock().held = held;
    }

    fn read<T>(
        &self,
        method: &'static str,
        read: impl FnOnce(&MemoryStore) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let mut state = self.lock();
        if method == "load" {
            state.counts.loads += 1;
        }
        if let Some(left) = state.failing_reads.get_mut(method)
            && *left > 0
        {
            *left -= 1;
            return Err(ReadError::Unavailable {
                reason: "injected".to_owned(),
            });
        }
        drop(state);
        read(&self.data)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn died() -> CommitError {
    CommitError::Failed {
        reason: "injected death".to_owned(),
    }
}

impl Store for ProbeStore {
    fn claim(&self) -> Result<Epoch, CommitError> {
        self.data.claim()
    }

    fn commit(&self, epoch: Epoch, group: &[Write]) -> Result<Vec<Written>, CommitError> {
        while self.lock().held {
            std::thread::yield_now();
        }
        let mut state = self.lock();
        if state.dead {
            return Err(died());
        }
        if state.unavailable > 0 {
            state.unavailable -= 1;
            return Err(CommitError::Unavailable {
                reason: "injected".to_owned(),
            });
        }
        state.counts.groups += 1;
        let fate = state
            .die_at
            .filter(|(at, _)| *at == state.counts.groups)
            .map(|(_, when)| when);
        state.dead = fate.is_some();
        if fate == Some(When::Before) {
            return Err(died());
        }
        for write in group {
            match write {
                Write::Start { .. } => state.counts.starts += 1,
                Write::Turn { .. } => state.counts.turns += 1,
                Write::Signal { .. } => state.counts.signals += 1,
                Write::Cancel { .. } | Write::Note { .. } => {}
            }
        }
        drop(state);
        let written = self.data.commit(epoch, group);
        if fate == Some(When::After) {
            Err(died())
        } else {
            written
        }
    }

    fn load(&self, instance: InstanceNumber) -> Result<Option<StoredInstance>, ReadError> {
        self.read("load", |data| data.load(instance))
    }

    fn note(&self, key: &str) -> Result<Option<Vec<u8>>, ReadError> {
        self.read("note", |data| data.note(key))
    }

    fn find(&self, id: &str) -> Result<Option<InstanceRecord>, ReadError> {
        self.read("find", |data| data.find(id))
    }

    fn record(&self, instance: InstanceNumber) -> Result<Option<InstanceRecord>, ReadError> {
        self.read("record", |data| data.record(instance))
    }

    fn last_batch(&self, instance: InstanceNumber) -> Result<Option<Vec<u8>>, ReadError> {
        self.read("last_batch", |data| data.last_batch(instance))
    }

    fn ready(&self, after: Option<InstanceNumber>, limit: usize) -> Result<Vec<InstanceNumber>, ReadError> {
        self.read("ready", |data| data.ready(after, limit))
    }

    fn due(
        &self,
        until: Timestamp,
        after: Option<(Timestamp, InstanceNumber)>,
        limit: usize,
    ) -> Result<Vec<(Timestamp, InstanceNumber)>, ReadError> {
        self.read("due", |data| data.due(until, after, limit))
    }

    fn list(&self, after: Option<InstanceNumber>, limit: usize) -> Result<Vec<InstanceRecord>, ReadError> {
        self.read("list", |data| data.list(after, limit))
    }

    fn close(&self) -> Result<(), CommitError> {
        self.data.close()
    }
}
