//! The open files and sled's tree, and what is known of them: how far commits have come and whether the store has failed.
//! Absent on purpose: what is written.

use super::files::{FolderLock, SideFile};
use super::rows::RowFault;
use super::seam::{CommitPoint, Seam};
use super::tails::Tails;
use super::values::{Reader, Values};
use super::view::{Source, guarded};
use crate::store::sled::draft::Group;
use ::sled::{Db, Tree};
use std::fs::File;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Everything that is open. Fields are dropped in order: the lock goes last, so there are never two `Db`s on a folder.
pub(super) struct Disk {
    pub(super) tree: Tree,
    pub(super) db: Db,
    /// Our own handle of sled's data file, opened before our first write so that the kernel reports its errors to us.
    pub(super) data: File,
    pub(super) side: SideFile,
    pub(super) values: Reader,
    pub(super) progress: Progress,
    /// What was written and is not in rows of its own yet. Only the committer changes it.
    pub(super) tails: RwLock<Tails>,
    /// Held while a batch is put into the tree, so that a read of several rows sees all of a commit or nothing.
    pub(super) applying: RwLock<()>,
    pub(super) seam: Seam,
    pub(super) _lock: FolderLock,
}

impl Disk {
    pub(super) fn tails(&self) -> RwLockReadGuard<'_, Tails> {
        self.tails.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tails_mut(&self) -> RwLockWriteGuard<'_, Tails> {
        self.tails.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn source(&self) -> Source<'_> {
        Source {
            tree: &self.tree,
            values: &self.values,
        }
    }

    /// Writes a group: piece by piece what nothing refers to yet, then the batch that makes it count.
    pub(super) fn write(&self, values: &mut Values, group: Group) -> Result<(), RowFault> {
        for (filed, bytes) in group.filed {
            values.append(filed, &bytes).map_err(io)?;
        }
        values.sync().map_err(io)?;
        for batch in group.staged {
            self.tree.apply_batch(batch)?;
            self.sync()?;
        }
        {
            let _whole = self.applying.write().unwrap_or_else(PoisonError::into_inner);
            self.tree.apply_batch(group.last)?;
        }
        self.sync()?;
        self.side.write(&group.head).map_err(io)?;
        for segment in group.removed_files {
            // The commit is durable. What stays is tried again with the next one.
            if let Err(error) = values.remove(segment) {
                tracing::warn!(%error, segment, "a file of values that nothing refers to could not be removed");
            }
        }
        Ok(())
    }

    /// Puts everything that was applied on the disk. sled's `flush` alone does not: it never calls fsync.
    pub(super) fn sync(&self) -> Result<(), RowFault> {
        self.seam.reach(CommitPoint::Applied).map_err(io)?;
        self.db.flush()?;
        self.seam.reach(CommitPoint::Flushed).map_err(io)?;
        if self.seam.syncs() {
            self.data.sync_data().map_err(io)?;
        }
        self.seam.reach(CommitPoint::Synced).map_err(io)
    }
}

pub(super) fn io(error: std::io::Error) -> RowFault {
    RowFault::Io(error.to_string())
}

/// How far commits have come, for those who wait.
#[derive(Default)]
pub(super) struct Progress {
    known: Mutex<Known>,
    changed: Condvar,
}

#[derive(Default)]
struct Known {
    /// How many commits reads may have seen something of.
    visible: u64,
    /// How many of them are on disk.
    durable: u64,
    /// Why the store answers nothing more.
    failed: Option<String>,
}

impl Progress {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on reads may see something of another commit.
    pub(super) fn begin(&self) {
        self.known().visible += 1;
    }

    /// All that reads may have seen is on disk.
    pub(super) fn finish(&self) {
        let mut known = self.known();
        known.durable = known.visible;
        drop(known);
        self.changed.notify_all();
    }

    /// The first reason stays.
    pub(super) fn fail(&self, reason: &str) {
        self.known().failed.get_or_insert_with(|| reason.to_owned());
        self.changed.notify_all();
    }

    pub(super) fn failed(&self) -> Option<String> {
        self.known().failed.clone()
    }

    /// Waits until everything that was visible before this call is on disk.
    pub(super) fn await_durable(&self) -> Result<(), String> {
        let mut known = self.known();
        let visible = known.visible;
        loop {
            if let Some(reason) = &known.failed {
                return Err(reason.clone());
            }
            if known.durable >= visible {
                return Ok(());
            }
            known = self.changed.wait(known).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Drops what is open where a panic of sled's own clean-up stays inside.
pub(super) fn let_go(disk: std::sync::Arc<Disk>) -> Result<(), RowFault> {
    guarded(|| {
        drop(disk);
        Ok(())
    })
}
