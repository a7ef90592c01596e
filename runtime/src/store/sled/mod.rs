//! The embedded store on disk: sled 0.34.7, made to keep what it acknowledges.
//!
//! sled's `flush` never calls fsync, its `conf`, folders and blob files are never synced, it drops the end of its log
//! without a word, and it panics on damage. The rules that make it safe, each of them shown by a power-cut simulation:
//! one group is one batch, one flush and one fdatasync of our own (`disk`); nothing else writes to sled, whose values stay
//! below 4,000 bytes (`rows`); long values go to files of our own, which are synced before the batch (`values`); snapshots that were being written are removed, and files and folders synced, around opening
//! (`options`, `files`); the number of the last acknowledged commit is kept outside of sled too (`files`); calls into sled
//! run where a panic is caught (`view`) and where a hang is noticed (`committer`). Absent on purpose: async, clocks, a
//! second tree, sled's transactions, `flush_async`.
//!
//! # The folder
//!
//! `lock` (taken before anything is read) · `format` (checked before sled sees the folder) · `acknowledged` (the side file)
//! · `sled/` (sled's own; its `blobs` folder stays empty) · `values/` (files of long values).
//!
//! # Tails, pages, folds
//!
//! sled's cost is by the row. So a commit does not give every write a row of its own: what the writes of a group do to their
//! instances (`entry`) is packed into *pages* of up to 4,000 bytes (`pages`). Everything about an instance since its rows
//! were written last is its *tail* (`tail`, `tails`): it is durable in pages, and in memory as what a load would give, so
//! that neither judging a write nor folding reads a page. A *fold* (`fold`) writes the rows of an instance as its tail has
//! it, in the same commit as the write that makes it necessary, and ends the tail. It is necessary when the instance waits,
//! stands still or has ended, when the tail has about the length of a row, or when its pages are too old to keep. So what
//! is parked or ended takes no memory, and a step in a row of steps costs a part of a page and of a journal row.
//!
//! A page row's key is a slot. The head says which slots count; a slot whose group no tail is in any more is free by the
//! commit of the last fold, and is used again. Opening reads the pages that count, oldest first, and does their entries to
//! the instances again, leaving out those that a row has (`InstanceRow::entries`): tails are then what they were.
//!
//! # The rows
//!
//! One tree. Keys are a tag byte and then big-endian numbers of 8 bytes; values are sealed with a version and a checksum.
//! "placed" means: in the row, or, if too long for it, in chunk rows that the row refers to.
//!
//! | key | value |
//! |---|---|
//! | `c` | head: number and chain of the last commit, epoch, next instance number, which page slots count, where long values end |
//! | `p` slot | a page: number of the commit, place in it, entries |
//! | `i` id | the instance's number |
//! | `r` number | its record, how many entries, batches and signals are in rows, and the end of its journal, placed |
//! | `h` number, index | batches of the journal from this one on, packed; never changed |
//! | `y` number | nothing: the instance was ready when it was folded |
//! | `t` due, number | nothing: the instance waited when it was folded, was not ready, and is due then |
//! | `s` number, sequence | name and time of a signal, and its payload, placed; removed by the fold after it is consumed |
//! | `d` number, key | the sequence of the signal that was accepted with this deduplication key |
//! | `x` commit, value, piece | a chunk of the long value number `value` that this commit wrote |
//! | `v` file | how many bytes of a file of long values nothing refers to any more; gone when the file is |
//! | `g` commit, value | the length of a long value that nothing refers to any more, until its chunks are gone |
//! | `n` key | a note of the engine, placed |
//!
//! Batches and payloads above 1,500 bytes get chunks at once, those of 32 KiB and more a place in a file (`values`), and
//! entries and journals hold where they are: they are written once. Folders of format 1 have no pages, a row for each batch, and records without the rest; they are read as
//! they are, and each instance is rewritten by its next fold.
//!
//! # What a crash does
//!
//! - While the store is created: the side file is the last thing that the first open writes. Without it nothing was ever
//!   acknowledged, so files that sled cannot read are set aside and the store is created anew.
//! - Before or while the chunk rows of a large group are written: chunk rows with a commit number above the head. Nothing
//!   refers to them; opening removes them before that number is given out again.
//! - Before, while or after long values are put into files: the files are longer than the head says; opening cuts them.
//! - In the batch of a group, or before its sync: sled recovers the batch whole or not at all; the head tells which. Pages,
//!   folds, index rows and the slots that they free or take are in that one batch, so there is no state between them: before
//!   it an instance is in its old pages, after it in new ones or in its rows.
//! - After the sync, before the side file is written: the side file names an earlier commit, which is fine.
//! - After the side file: the group is acknowledged. A head below the side file is loss, and is reported.
//! - While a discarded value is removed: its `g` row says how much of it is left, and goes in the batch of the last chunk.
//!
//! # Damage
//!
//! A row that rotted stops the instance that it belongs to. A page belongs to many, and nothing else says to whom: a store
//! with a page that counts and cannot be read does not open. Entries that do not go on where the rows of their instance end
//! stop that instance, keep their page, and are reported whenever it is asked for.

mod committer;
mod disk;
mod draft;
mod entry;
mod files;
mod fold;
mod garbage;
mod judge;
mod keys;
mod options;
mod pages;
mod read;
mod rows;
mod seam;
mod tail;
mod tails;
#[cfg(test)]
mod tests;
mod values;
mod view;

pub use options::SledOptions;

use super::{CommitError, InstanceRecord, ReadError, Store, StoreOpenError, StoredInstance, Write, Written};
use crate::ids::{Epoch, InstanceNumber};
use crate::time::Timestamp;
use committer::Committer;
use disk::Disk;
use draft::Draft;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::time::{Duration, Instant};

/// Keeps instances in a folder on disk. See the [module](super) for what it promises.
///
/// A store that was opened holds the folder until [`Store::close`], or until it is dropped; another open meanwhile, from
/// this process or another, is [`StoreOpenError::InUse`].
///
/// # The folder
///
/// `lock` and `format` are what they are called; `acknowledged` names the last commit that was answered; `sled/` has
/// everything that is short, `values/` what has 32 KiB and more, in files of up to 64 MiB. They belong together: to make a
/// copy, close the store and copy the whole folder, to its place on the same or another machine; a copy of a store that is
/// open, or of some of the files, is refused as damaged or as having lost its end ([`StoreOpenError::TailLost`]). What has
/// ended stays in the folder. A file in `values/` is removed when nothing in it is needed any more, which is true of consumed
/// signals and never of step results.
///
/// A folder that an earlier version wrote is taken over by the first open; the earlier version refuses it from then on
/// ([`StoreOpenError::NewerFormat`]).
///
/// Damage stops the instances whose data it is in. Only damage to what belongs to many, which is the little that moved last,
/// keeps the store from opening ([`StoreOpenError::Damaged`]): restore a copy.
pub struct SledStore {
    opened: RwLock<Option<Opened>>,
    patience: Duration,
}

struct Opened {
    disk: Arc<Disk>,
    committer: Mutex<Committer>,
}

const CLOSED: &str = "it was closed";

impl SledStore {
    /// Opens the store in this folder with default options, or creates it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreOpenError> {
        Self::options().open(path)
    }

    /// Options for opening.
    pub fn options() -> SledOptions {
        SledOptions::default()
    }

    fn opened(&self) -> RwLockReadGuard<'_, Option<Opened>> {
        self.opened.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the calls that are under way, but not for ever: one of them may hang.
    fn take_opened(&self) -> Result<Option<Opened>, CommitError> {
        let begun = Instant::now();
        loop {
            let mut guard: RwLockWriteGuard<'_, Option<Opened>> = match self.opened.try_write() {
                Ok(guard) => guard,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) if begun.elapsed() < self.patience => {
                    std::thread::sleep(Duration::from_millis(1));
                    continue;
                }
                Err(TryLockError::WouldBlock) => return Err(failed("a call that is under way does not end")),
            };
            return Ok(guard.take());
        }
    }
}

impl Opened {
    fn committer(&self) -> Result<MutexGuard<'_, Committer>, CommitError> {
        let committer = self.committer.lock().map_err(|_| failed("a commit panicked"))?;
        match self.disk.progress.failed() {
            Some(reason) => Err(failed(&reason)),
            None => Ok(committer),
        }
    }

    fn close(self) -> Result<(), CommitError> {
        let committer = self.committer.into_inner().unwrap_or_else(PoisonError::into_inner);
        committer.close(self.disk).map_err(|reason| failed(&reason))
    }
}

fn failed(reason: &str) -> CommitError {
    CommitError::Failed {
        reason: reason.to_owned(),
    }
}

impl Store for SledStore {
    fn claim(&self) -> Result<Epoch, CommitError> {
        let opened = self.opened();
        let opened = opened.as_ref().ok_or_else(|| failed(CLOSED))?;
        let mut committer = opened.committer()?;
        let mut draft = Draft::after(&opened.disk.tree, committer.head.clone());
        draft.raise_epoch();
        committer.write(&opened.disk, draft).map_err(|reason| failed(&reason))?;
        Ok(Epoch(committer.head.epoch))
    }

    fn commit(&self, epoch: Epoch, group: &[Write]) -> Result<Vec<Written>, CommitError> {
        let opened = self.opened();
        let opened = opened.as_ref().ok_or_else(|| failed(CLOSED))?;
        let mut committer = opened.committer()?;
        if epoch.0 != committer.head.epoch {
            return Err(CommitError::Fenced {
                ours: epoch,
                current: Epoch(committer.head.epoch),
            });
        }
        committer.commit(&opened.disk, group).map_err(|reason| failed(&reason))
    }

    fn load(&self, instance: InstanceNumber) -> Result<Option<StoredInstance>, ReadError> {
        self.read(|disk| read::load(disk, instance))
    }

    fn find(&self, id: &str) -> Result<Option<InstanceRecord>, ReadError> {
        self.read_durable(|disk| read::find(disk, id))
    }

    fn record(&self, instance: InstanceNumber) -> Result<Option<InstanceRecord>, ReadError> {
        self.read_durable(|disk| read::record(disk, instance))
    }

    fn last_batch(&self, instance: InstanceNumber) -> Result<Option<Vec<u8>>, ReadError> {
        self.read_durable(|disk| read::last_batch(disk, instance))
    }

    fn note(&self, key: &str) -> Result<Option<Vec<u8>>, ReadError> {
        self.read_durable(|disk| read::note(disk, key))
    }

    fn ready(&self, after: Option<InstanceNumber>, limit: usize) -> Result<Vec<InstanceNumber>, ReadError> {
        self.read(|disk| read::ready(disk, after, limit))
    }

    fn due(
        &self,
        until: Timestamp,
        after: Option<(Timestamp, InstanceNumber)>,
        limit: usize,
    ) -> Result<Vec<(Timestamp, InstanceNumber)>, ReadError> {
        self.read(|disk| read::due(disk, until, after, limit))
    }

    fn list(&self, after: Option<InstanceNumber>, limit: usize) -> Result<Vec<InstanceRecord>, ReadError> {
        self.read_durable(|disk| read::list(disk, after, limit))
    }

    fn close(&self) -> Result<(), CommitError> {
        match self.take_opened()? {
            Some(opened) => opened.close(),
            None => Ok(()),
        }
    }
}

impl SledStore {
    fn read<T>(&self, read: impl FnOnce(&Disk) -> Result<T, ReadError>) -> Result<T, ReadError> {
        let opened = self.opened();
        let opened = opened.as_ref().ok_or_else(|| unavailable(CLOSED.to_owned()))?;
        match opened.disk.progress.failed() {
            Some(reason) => Err(unavailable(reason)),
            None => read(&opened.disk),
        }
    }

    /// Answers when what was read is on disk. It waits for at most one commit and keeps none waiting.
    fn read_durable<T>(&self, read: impl FnOnce(&Disk) -> Result<T, ReadError>) -> Result<T, ReadError> {
        self.read(|disk| {
            let answer = read(disk);
            disk.progress.await_durable().map_err(unavailable)?;
            answer
        })
    }
}

fn unavailable(reason: String) -> ReadError {
    ReadError::Unavailable { reason }
}

impl Drop for SledStore {
    fn drop(&mut self) {
        let opened = self.opened.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = opened.take() {
            // Whoever wants to know closes the store first.
            let _ = opened.close();
        }
    }
}

impl fmt::Debug for SledStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SledStore").finish_non_exhaustive()
    }
}
