//! What a measurement stands on: a store in a place of its own, which counts its commits.

use crate::suite::Fault;
use crate::suite::arguments::StoreKind;
use crate::suite::measured::Measured;
use crate::suite::meter::Meter;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use steadfast::store::{
    CommitError, InstanceRecord, MemoryStore, ReadError, SledStore, Store, StoredInstance, Write, Written,
};
use steadfast::{Epoch, InstanceNumber, Timestamp};
use tempfile::TempDir;

/// A folder on the disk that the benchmark's target directory is on.
pub(crate) fn folder() -> Result<TempDir, Fault> {
    Ok(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?)
}

/// Where a store is. What is in it goes with this.
pub(crate) enum Bed {
    Folder(TempDir),
    Memory(MemoryStore),
}

impl Bed {
    pub(crate) fn new(kind: StoreKind) -> Result<Self, Fault> {
        Ok(match kind {
            StoreKind::Sled => Bed::Folder(folder()?),
            StoreKind::Memory => Bed::Memory(MemoryStore::new()),
        })
    }

    /// Opens the store, for the first time or again after it was closed.
    pub(crate) fn open(&self) -> Result<Counted, Fault> {
        Ok(match self {
            Bed::Folder(folder) => Counted::at(folder.path())?,
            Bed::Memory(store) => Counted::new(store.clone()),
        })
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Bed::Folder(folder) => Some(folder.path()),
            Bed::Memory(_) => None,
        }
    }

    /// How long the files are, all together.
    pub(crate) fn bytes(&self) -> u64 {
        self.path().map_or(0, bytes_below)
    }
}

fn bytes_below(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    let entries = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let metadata = entry.metadata().ok()?;
        Some((entry.path(), metadata))
    });
    entries
        .map(|(path, metadata)| match metadata.is_dir() {
            true => bytes_below(&path),
            false => metadata.len(),
        })
        .sum()
}

/// A store that counts. Clones are one and the same.
#[derive(Clone)]
pub(crate) struct Counted {
    inner: Arc<dyn Store>,
    flushes: Arc<AtomicU64>,
    writes: Arc<AtomicU64>,
}

impl Counted {
    fn new(store: impl Store) -> Self {
        Self {
            inner: Arc::new(store),
            flushes: Arc::default(),
            writes: Arc::default(),
        }
    }

    /// The store on disk in this folder.
    pub(crate) fn at(folder: &Path) -> Result<Self, Fault> {
        Ok(Self::new(SledStore::open(folder)?))
    }

    /// Lets the work of `measure` be counted and timed. It gives the number of units and the time that each wait took.
    pub(crate) async fn measure<F>(&self, measure: F) -> Result<Measured, Fault>
    where
        F: Future<Output = Result<(u64, Vec<Duration>), Fault>>,
    {
        let before = self.counts();
        let meter = Meter::start();
        let (n, latencies) = measure.await?;
        let mut measured = meter.stop(n, latencies);
        let after = self.counts();
        measured.flushes = after.0 - before.0;
        measured.writes = after.1 - before.1;
        Ok(measured)
    }

    fn counts(&self) -> (u64, u64) {
        (
            self.flushes.load(Ordering::Relaxed),
            self.writes.load(Ordering::Relaxed),
        )
    }
}

impl Store for Counted {
    fn claim(&self) -> Result<Epoch, CommitError> {
        self.inner.claim()
    }

    fn commit(&self, epoch: Epoch, group: &[Write]) -> Result<Vec<Written>, CommitError> {
        self.flushes.fetch_add(1, Ordering::Relaxed);
        self.writes.fetch_add(group.len() as u64, Ordering::Relaxed);
        self.inner.commit(epoch, group)
    }

    fn load(&self, instance: InstanceNumber) -> Result<Option<StoredInstance>, ReadError> {
        self.inner.load(instance)
    }

    fn note(&self, key: &str) -> Result<Option<Vec<u8>>, ReadError> {
        self.inner.note(key)
    }

    fn find(&self, id: &str) -> Result<Option<InstanceRecord>, ReadError> {
        self.inner.find(id)
    }

    fn record(&self, instance: InstanceNumber) -> Result<Option<InstanceRecord>, ReadError> {
        self.inner.record(instance)
    }

    fn last_batch(&self, instance: InstanceNumber) -> Result<Option<Vec<u8>>, ReadError> {
        self.inner.last_batch(instance)
    }

    fn ready(&self, after: Option<InstanceNumber>, limit: usize) -> Result<Vec<InstanceNumber>, ReadError> {
        self.inner.ready(after, limit)
    }

    fn due(
        &self,
        until: Timestamp,
        after: Option<(Timestamp, InstanceNumber)>,
        limit: usize,
    ) -> Result<Vec<(Timestamp, InstanceNumber)>, ReadError> {
        self.inner.due(until, after, limit)
    }

    fn list(&self, after: Option<InstanceNumber>, limit: usize) -> Result<Vec<InstanceRecord>, ReadError> {
        self.inner.list(after, limit)
    }

    fn close(&self) -> Result<(), CommitError> {
        self.inner.close()
    }
}
