//! What a measurement stands on: a fresh store that counts its commits, and measured work.

use crate::Fault;
use crate::arguments::StoreKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use steadfast::store::{
    CommitError, InstanceRecord, MemoryStore, ReadError, SledStore, Store, StoredInstance, Write, Written,
};
use steadfast::{Epoch, InstanceNumber, Timestamp};
use tempfile::TempDir;

/// A folder on the disk that the benchmark's target directory is on.
pub(crate) fn folder() -> Result<TempDir, Fault> {
    Ok(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?)
}

/// A fresh store and the folder it is in, which goes with it.
pub(crate) struct Bed {
    pub(crate) store: Counted,
    _folder: TempDir,
}

impl Bed {
    pub(crate) fn new(kind: StoreKind) -> Result<Self, Fault> {
        let folder = folder()?;
        let inner: Arc<dyn Store> = match kind {
            StoreKind::Sled => Arc::new(SledStore::open(folder.path())?),
            StoreKind::Memory => Arc::new(MemoryStore::new()),
        };
        Ok(Self {
            store: Counted {
                inner,
                commits: Arc::default(),
                writes: Arc::default(),
            },
            _folder: folder,
        })
    }

    /// Lets the work of `measure` be counted and timed. It gives the time that each unit took and the number of units.
    pub(crate) async fn measure<F>(&self, measure: F) -> Result<Measured, Fault>
    where
        F: Future<Output = Result<(u64, Vec<Duration>), Fault>>,
    {
        let before = self.store.counts();
        let begun = Instant::now();
        let (n, latencies) = measure.await?;
        let elapsed = begun.elapsed();
        let after = self.store.counts();
        Ok(Measured {
            commits: after.0 - before.0,
            writes: after.1 - before.1,
            ..Measured::new(n, elapsed, latencies)
        })
    }
}

/// Some work and how long it took.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// Units of work, whatever they are in the case at hand.
    pub(crate) n: u64,
    pub(crate) elapsed: Duration,
    /// How long the single waits took, in ascending order.
    latencies: Vec<Duration>,
    /// How often the store was flushed.
    pub(crate) commits: u64,
    /// How many writes these commits held.
    pub(crate) writes: u64,
}

impl Measured {
    pub(crate) fn new(n: u64, elapsed: Duration, mut latencies: Vec<Duration>) -> Self {
        latencies.sort_unstable();
        Self {
            n,
            elapsed,
            latencies,
            commits: 0,
            writes: 0,
        }
    }

    /// Units per second.
    pub(crate) fn rate(&self) -> f64 {
        self.n as f64 / self.elapsed.as_secs_f64()
    }

    /// Seconds per unit.
    pub(crate) fn each(&self) -> f64 {
        self.elapsed.as_secs_f64() / self.n as f64
    }

    /// The wait that this share of all waits does not exceed, in microseconds.
    pub(crate) fn percentile(&self, share: f64) -> f64 {
        let last = self.latencies.len().saturating_sub(1);
        let place = (last as f64 * share).round() as usize;
        self.latencies.get(place).map_or(0.0, |wait| wait.as_secs_f64() * 1e6)
    }
}

/// A store that counts. Clones are one and the same.
#[derive(Clone)]
pub(crate) struct Counted {
    inner: Arc<dyn Store>,
    commits: Arc<AtomicU64>,
    writes: Arc<AtomicU64>,
}

impl Counted {
    fn counts(&self) -> (u64, u64) {
        (
            self.commits.load(Ordering::Relaxed),
            self.writes.load(Ordering::Relaxed),
        )
    }
}

impl Store for Counted {
    fn claim(&self) -> Result<Epoch, CommitError> {
        self.inner.claim()
    }

    fn commit(&self, epoch: Epoch, group: &[Write]) -> Result<Vec<Written>, CommitError> {
        self.commits.fetch_add(1, Ordering::Relaxed);
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
