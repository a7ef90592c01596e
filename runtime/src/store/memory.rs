//! A store that lives in memory and keeps the whole contract except that it dies with its process. For tests and trials.

use super::{
    Cancelled, CommitError, InstanceRecord, ReadError, RecordChange, Signalled, Started, Store, StoredInstance,
    StoredSignal, Write, Written, rules,
};
use crate::ids::{Epoch, InstanceNumber};
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Keeps instances in memory. Clones share the data, so a test can drop an engine as a crash would and open the next one
/// over what was committed.
///
/// [`Store::close`] closes one handle and leaves the data; [`Store::claim`] opens it again.
///
/// ```
/// use steadfast::store::{MemoryStore, Store};
/// let first = MemoryStore::new();
/// let second = first.clone();
/// let old = first.claim()?;
/// let new = second.claim()?;
/// assert!(first.commit(old, &[]).is_err(), "the second owner has fenced the first");
/// assert!(second.commit(new, &[]).is_ok());
/// # Ok::<(), steadfast::store::CommitError>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryStore {
    tables: Arc<RwLock<Tables>>,
    closed: AtomicBool,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn read(&self) -> Result<RwLockReadGuard<'_, Tables>, ReadError> {
        if self.closed.load(Ordering::Acquire) {
            return Err(ReadError::Unavailable {
                reason: "it was closed".to_owned(),
            });
        }
        // Writes cannot panic halfway: everything that could is done before the first change.
        Ok(self.tables.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for MemoryStore {
    /// Another, open handle to the same data.
    fn clone(&self) -> Self {
        Self {
            tables: Arc::clone(&self.tables),
            closed: AtomicBool::new(false),
        }
    }
}

impl Store for MemoryStore {
    fn claim(&self) -> Result<Epoch, CommitError> {
        let mut tables = self.write();
        tables.epoch += 1;
        self.closed.store(false, Ordering::Release);
        Ok(Epoch(tables.epoch))
    }

    fn commit(&self, epoch: Epoch, group: &[Write]) -> Result<Vec<Written>, CommitError> {
        let mut tables = self.write();
        if self.closed.load(Ordering::Acquire) {
            return Err(CommitError::Failed {
                reason: "it was closed".to_owned(),
            });
        }
        if epoch.0 != tables.epoch {
            return Err(CommitError::Fenced {
                ours: epoch,
                current: Epoch(tables.epoch),
            });
        }
        Ok(group.iter().map(|write| tables.apply(write)).collect())
    }

    fn load(&self, instance: InstanceNumber) -> Result<Option<StoredInstance>, ReadError> {
        Ok(self.read()?.instances.get(&instance).map(|entry| StoredInstance {
            record: entry.record.clone(),
            batches: entry.batches.clone(),
            signals: entry.signals.values().cloned().collect(),
        }))
    }

    fn find(&self, id: &str) -> Result<Option<InstanceRecord>, ReadError> {
        let tables = self.read()?;
        let entry = tables.ids.get(id).and_then(|number| tables.instances.get(number));
        Ok(entry.map(|entry| entry.record.clone()))
    }

    fn record(&self, instance: InstanceNumber) -> Result<Option<InstanceRecord>, ReadError> {
        Ok(self.read()?.instances.get(&instance).map(|entry| entry.record.clone()))
    }

    fn last_batch(&self, instance: InstanceNumber) -> Result<Option<Vec<u8>>, ReadError> {
        let tables = self.read()?;
        let entry = tables.instances.get(&instance);
        Ok(entry.and_then(|entry| entry.batches.last().cloned()))
    }

    fn ready(&self, after: Option<InstanceNumber>, limit: usize) -> Result<Vec<InstanceNumber>, ReadError> {
        let tables = self.read()?;
        Ok(tables.ready.range(above(after)).take(limit).copied().collect())
    }

    fn due(
        &self,
        until: Timestamp,
        after: Option<(Timestamp, InstanceNumber)>,
        limit: usize,
    ) -> Result<Vec<(Timestamp, InstanceNumber)>, ReadError> {
        let tables = self.read()?;
        let later = tables.due.range(above(after));
        Ok(later.take_while(|(at, _)| *at <= until).take(limit).copied().collect())
    }

    fn list(&self, after: Option<InstanceNumber>, limit: usize) -> Result<Vec<InstanceRecord>, ReadError> {
        let tables = self.read()?;
        let later = tables.instances.range(above(after));
        Ok(later.take(limit).map(|(_, entry)| entry.record.clone()).collect())
    }

    fn note(&self, key: &str) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(self.read()?.notes.get(key).cloned())
    }

    fn close(&self) -> Result<(), CommitError> {
        self.closed.store(true, Ordering::Release);
        Ok(())
    }
}

fn above<T>(after: Option<T>) -> (Bound<T>, Bound<T>) {
    (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded)
}

#[derive(Debug, Default)]
struct Tables {
    epoch: u64,
    ids: BTreeMap<String, InstanceNumber>,
    instances: BTreeMap<InstanceNumber, Entry>,
    ready: BTreeSet<InstanceNumber>,
    due: BTreeSet<(Timestamp, InstanceNumber)>,
    notes: BTreeMap<String, Vec<u8>>,
}

#[derive(Debug)]
struct Entry {
    record: InstanceRecord,
    batches: Vec<Vec<u8>>,
    signals: BTreeMap<u64, StoredSignal>,
    accepted_keys: BTreeMap<String, u64>,
    /// Its place in the index of due times.
    due: Option<Timestamp>,
}

impl Tables {
    fn apply(&mut self, write: &Write) -> Written {
        if let Some(reason) = rules::name_fault(write) {
            return Written::Refused { reason };
        }
        match write {
            Write::Start {
                id,
                workflow,
                version,
                input_digest,
                batch,
                at,
            } => Written::Start(self.start(id, workflow, *version, *input_digest, batch, *at)),
            Write::Turn {
                instance,
                expected_batches,
                batch,
                change,
                consumed_signals,
                at,
            } => Written::Turn(self.turn(
                *instance,
                *expected_batches,
                batch.as_deref(),
                change.as_ref(),
                consumed_signals,
                *at,
            )),
            Write::Signal {
                id,
                name,
                payload,
                dedup_key,
                at,
            } => Written::Signal(self.signal(id, name, payload, dedup_key.as_deref(), *at)),
            Write::Cancel { id, reason, at } => Written::Cancel(self.cancel(id, reason, *at)),
            Write::Note { key, value } => {
                self.notes.insert(key.clone(), value.clone());
                Written::Noted
            }
        }
    }

    fn entry(&mut self, id: &str) -> Option<&mut Entry> {
        self.ids.get(id).and_then(|number| self.instances.get_mut(number))
    }

    fn start(
        &mut self,
        id: &str,
        workflow: &str,
        version: u32,
        input_digest: [u8; 32],
        batch: &[u8],
        at: Timestamp,
    ) -> Started {
        if let Some(entry) = self.entry(id) {
            return Started::Existing(Box::new(entry.record.clone()));
        }
        let number = InstanceNumber(self.ids.len() as u64 + 1);
        let entry = Entry {
            record: InstanceRecord::accepted(number, id, workflow, version, input_digest, at),
            batches: vec![batch.to_vec()],
            signals: BTreeMap::new(),
            accepted_keys: BTreeMap::new(),
            due: None,
        };
        self.ids.insert(id.to_owned(), number);
        self.instances.insert(number, entry);
        self.settle(number);
        Started::Created(number)
    }

    fn turn(
        &mut self,
        instance: InstanceNumber,
        expected_batches: u64,
        batch: Option<&[u8]>,
        change: Option<&RecordChange>,
        consumed_signals: &[u64],
        at: Timestamp,
    ) -> bool {
        let Some(entry) = self.instances.get_mut(&instance) else {
            return false;
        };
        if entry.record.status.is_terminal() || entry.batches.len() as u64 != expected_batches {
            return false;
        }
        entry.batches.extend(batch.map(<[u8]>::to_vec));
        for sequence in consumed_signals {
            entry.signals.remove(sequence);
        }
        if let Some(change) = change {
            entry.record.change(change, entry.batches.len() as u64, at);
        }
        self.settle(instance);
        true
    }

    fn signal(&mut self, id: &str, name: &str, payload: &[u8], dedup_key: Option<&str>, at: Timestamp) -> Signalled {
        let Some(entry) = self.entry(id) else {
            return Signalled::Unknown;
        };
        if let Some(sequence) = dedup_key.and_then(|key| entry.accepted_keys.get(key)) {
            return Signalled::Duplicate { sequence: *sequence };
        }
        if entry.record.status.is_terminal() {
            return Signalled::Finished(entry.record.status);
        }
        let before = Box::new(entry.record.clone());
        let (number, sequence) = (before.number, before.signals);
        let signal = StoredSignal {
            sequence,
            name: name.to_owned(),
            payload: payload.to_vec(),
            at,
        };
        entry.signals.insert(sequence, signal);
        entry
            .accepted_keys
            .extend(dedup_key.map(|key| (key.to_owned(), sequence)));
        entry.record.signals += 1;
        entry.record.updated_at = at;
        self.settle(number);
        Signalled::Buffered {
            sequence,
            record: before,
        }
    }

    fn cancel(&mut self, id: &str, reason: &str, at: Timestamp) -> Cancelled {
        let Some(entry) = self.entry(id) else {
            return Cancelled::Unknown;
        };
        if entry.record.status.is_terminal() {
            return Cancelled::Finished(entry.record.status);
        }
        if entry.record.cancel_requested.is_some() {
            return Cancelled::AlreadyRequested;
        }
        let before = Box::new(entry.record.clone());
        entry.record.cancel_requested = Some(reason.to_owned());
        entry.record.updated_at = at;
        let number = before.number;
        self.settle(number);
        Cancelled::Requested(before)
    }

    /// Brings the two indexes in line with the record.
    fn settle(&mut self, number: InstanceNumber) {
        let Some(entry) = self.instances.get_mut(&number) else {
            return;
        };
        let names = entry.record.names_that_decide(None);
        let buffered = names.is_some_and(|names| entry.signals.values().any(|signal| names.contains(&signal.name)));
        let ready = entry.record.is_ready(buffered);
        let due = entry.record.due_at(ready);
        if let Some(at) = std::mem::replace(&mut entry.due, due) {
            self.due.remove(&(at, number));
        }
        self.due.extend(due.map(|at| (at, number)));
        if ready {
            self.ready.insert(number);
        } else {
            self.ready.remove(&number);
        }
    }
}
