//! A store with a seam before and after every commit, at which a test fails it, kills the process, or holds it back; and
//! one at the readings by which instances are brought into memory.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use steadfast::store::{CommitError, InstanceRecord, ReadError, Store, StoredInstance, Write, Written};
use steadfast::{Epoch, InstanceNumber, Timestamp};

/// Where a commit stands when the seam is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// Nothing of it is written.
    Before,
    /// All of it is durable, and nobody knows.
    After,
}

/// Told the number of the commit (0 is the claim), the moment and the group. An error is what the caller gets; after
/// `Failed` the store answers nothing more.
pub type Seam = dyn Fn(u64, Moment, &[Write]) -> Result<(), CommitError> + Send + Sync;

/// A reading by which instances are brought into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The due instances have been read, and nothing follows from it yet.
    Due,
    /// An instance is about to be loaded.
    Load,
}

/// A store with a seam.
pub struct Faulty<S> {
    inner: S,
    seam: Box<Seam>,
    reading: Box<dyn Fn(Reading) + Send + Sync>,
    commits: AtomicU64,
    failed: AtomicBool,
}

impl<S: Store> Faulty<S> {
    /// Puts the seam around a store.
    pub fn new(
        inner: S,
        seam: impl Fn(u64, Moment, &[Write]) -> Result<(), CommitError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            inner,
            seam: Box::new(seam),
            reading: Box::new(|_| {}),
            commits: AtomicU64::new(0),
            failed: AtomicBool::new(false),
        }
    }

    /// Puts a seam at the readings as well.
    pub fn reading(mut self, seam: impl Fn(Reading) + Send + Sync + 'static) -> Self {
        self.reading = Box::new(seam);
        self
    }

    fn reach(&self, number: u64, moment: Moment, group: &[Write]) -> Result<(), CommitError> {
        let reached = (self.seam)(number, moment, group);
        if let Err(CommitError::Failed { .. }) = reached {
            self.failed.store(true, Ordering::SeqCst);
        }
        reached
    }

    fn is_writable(&self) -> Result<(), CommitError> {
        if self.failed.load(Ordering::SeqCst) {
            return Err(failed());
        }
        Ok(())
    }

    fn is_readable(&self) -> Result<(), ReadError> {
        if self.failed.load(Ordering::SeqCst) {
            return Err(ReadError::Unavailable {
                reason: "the test failed the store".to_owned(),
            });
        }
        Ok(())
    }
}

/// The store is gone until it is opened again.
pub fn failed() -> CommitError {
    CommitError::Failed {
        reason: "the test failed the store".to_owned(),
    }
}

/// Nothing was written; it may be tried again.
pub fn unavailable() -> CommitError {
    CommitError::Unavailable {
        reason: "the test made the store unavailable".to_owned(),
    }
}

impl<S: Store> Store for Faulty<S> {
    fn claim(&self) -> Result<Epoch, CommitError> {
        self.is_writable()?;
        self.reach(0, Moment::Before, &[])?;
        let epoch = self.inner.claim()?;
        self.reach(0, Moment::After, &[])?;
        Ok(epoch)
    }

    fn commit(&self, epoch: Epoch, group: &[Write]) -> Result<Vec<Written>, CommitError> {
        self.is_writable()?;
        let number = self.commits.fetch_add(1, Ordering::SeqCst) + 1;
        self.reach(number, Moment::Before, group)?;
        let written = self.inner.commit(epoch, group)?;
        self.reach(number, Moment::After, group)?;
        Ok(written)
    }

    fn load(&self, instance: InstanceNumber) -> Result<Option<StoredInstance>, ReadError> {
        self.is_readable()?;
        (self.reading)(Reading::Load);
        self.inner.load(instance)
    }

    fn find(&self, id: &str) -> Result<Option<InstanceRecord>, ReadError> {
        self.is_readable()?;
        self.inner.find(id)
    }

    fn record(&self, instance: InstanceNumber) -> Result<Option<InstanceRecord>, ReadError> {
        self.is_readable()?;
        self.inner.record(instance)
    }

    fn last_batch(&self, instance: InstanceNumber) -> Result<Option<Vec<u8>>, ReadError> {
        self.is_readable()?;
        self.inner.last_batch(instance)
    }

    fn ready(&self, after: Option<InstanceNumber>, limit: usize) -> Result<Vec<InstanceNumber>, ReadError> {
        self.is_readable()?;
        self.inner.ready(after, limit)
    }

    fn due(
        &self,
        until: Timestamp,
        after: Option<(Timestamp, InstanceNumber)>,
        limit: usize,
    ) -> Result<Vec<(Timestamp, InstanceNumber)>, ReadError> {
        self.is_readable()?;
        let found = self.inner.due(until, after, limit);
        (self.reading)(Reading::Due);
        found
    }

    fn list(&self, after: Option<InstanceNumber>, limit: usize) -> Result<Vec<InstanceRecord>, ReadError> {
        self.is_readable()?;
        self.inner.list(after, limit)
    }

    fn note(&self, key: &str) -> Result<Option<Vec<u8>>, ReadError> {
        self.is_readable()?;
        self.inner.note(key)
    }

    fn close(&self) -> Result<(), CommitError> {
        self.inner.close()
    }
}

/// Ends this process as `kill -9` does, from inside.
pub fn kill_this_process() -> ! {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
        .expect("a process may kill itself");
    // The signal is on its way; nothing more may happen meanwhile.
    loop {
        std::thread::park();
    }
}

/// Holds threads back until it is opened.
#[derive(Clone, Default)]
pub struct Latch(Arc<(Mutex<bool>, Condvar)>);

impl Latch {
    /// Lets everybody through, now and later.
    pub fn open(&self) {
        *self.0.0.lock().expect("nothing panics meanwhile") = true;
        self.0.1.notify_all();
    }

    /// Blocks the thread until the gate is open.
    pub fn pass(&self) {
        let is_open = self.0.0.lock().expect("nothing panics meanwhile");
        let _open = self
            .0
            .1
            .wait_while(is_open, |is_open| !*is_open)
            .expect("nothing panics meanwhile");
    }
}
