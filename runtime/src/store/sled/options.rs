//! How a sled store is opened: the options and the guards, in the order in which they must happen. Absent on purpose:
//! reads and commits.

use super::committer::Committer;
use super::disk::{Disk, Progress, io, let_go};
use super::files::{self, FolderLock, SideFile, io_error};
use super::garbage::Garbage;
use super::rows::{self, Head, RowFault};
use super::seam::Seam;
use super::tails::Tails;
use super::values::{Reader, Values};
use super::view::guarded;
use super::{Opened, SledStore, keys};
use crate::store::StoreOpenError;
use ::sled::{Batch, Db, Tree};
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

/// sled's threads may hold its own lock for a moment after a store was closed.
const SLED_LOCK_PATIENCE: Duration = Duration::from_secs(2);
/// How many rows of an unfinished commit are removed at a time.
const DROPPED_AT_A_TIME: usize = 1_000;

/// Options for opening a [`SledStore`].
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("steadfast-options-{}", std::process::id()));
/// use steadfast::store::{SledStore, Store};
/// let store = SledStore::options().cache_capacity(16 << 20).open(&folder)?;
/// store.close()?;
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SledOptions {
    cache_capacity: u64,
    watchdog: Duration,
    accept_lost_tail: bool,
    seam: Seam,
}

impl Default for SledOptions {
    fn default() -> Self {
        Self {
            cache_capacity: 64 << 20,
            watchdog: Duration::from_secs(30),
            accept_lost_tail: false,
            seam: Seam::default(),
        }
    }
}

impl SledOptions {
    /// How many bytes of pages sled keeps in memory: 64 MiB unless set. The process uses more than that.
    pub fn cache_capacity(mut self, bytes: u64) -> Self {
        self.cache_capacity = bytes;
        self
    }

    /// How long a commit may take before the store counts as failed: 30 seconds unless set.
    pub fn watchdog(mut self, patience: Duration) -> Self {
        self.watchdog = patience;
        self
    }

    /// Opens even if acknowledged commits are missing ([`StoreOpenError::TailLost`]) and goes on from the last one that is
    /// there. What was acknowledged after it is lost.
    pub fn accept_lost_tail(mut self, accept: bool) -> Self {
        self.accept_lost_tail = accept;
        self
    }

    /// Leaves out the sync that makes commits durable, to show that the power-cut test notices.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn without_sync(mut self) -> Self {
        self.seam.without_sync = true;
        self
    }

    /// Lets only so many pages count at once, so that short runs meet the limit.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn pages_max(mut self, pages: usize) -> Self {
        self.seam.pages_max = Some(pages);
        self
    }

    #[cfg(test)]
    pub(super) fn seam(mut self, seam: Seam) -> Self {
        self.seam = seam;
        self
    }

    /// Opens the store in this folder, or creates it.
    pub fn open(self, path: impl AsRef<Path>) -> Result<SledStore, StoreOpenError> {
        let path = path.as_ref();
        let new_folders = path.ancestors().take_while(|folder| !folder.exists()).count();
        let folder = fs::create_dir_all(path)
            .and_then(|()| path.canonicalize())
            .map_err(|source| io_error(path, source))?;
        let was_opened = files::was_opened(&folder);
        match self.open_folder(&folder, new_folders) {
            // The power failed while the store was being created. Nothing in it was ever acknowledged.
            Err(StoreOpenError::Damaged { .. }) if !was_opened => {
                files::set_aside(&folder).map_err(|source| io_error(&folder, source))?;
                self.open_folder(&folder, new_folders)
            }
            answer => answer,
        }
    }

    fn open_folder(&self, folder: &Path, new_folders: usize) -> Result<SledStore, StoreOpenError> {
        let lock = files::lock(folder)?;
        files::check_format(folder)?;
        files::prepare(folder).map_err(|source| io_error(folder, source))?;

        let disk = Arc::new(self.open_disk(folder, lock)?);
        match self.recover(folder, &disk, new_folders) {
            Ok(committer) => Ok(SledStore {
                opened: RwLock::new(Some(Opened {
                    disk,
                    committer: Mutex::new(committer),
                })),
                patience: self.watchdog,
            }),
            Err(error) => {
                // The first error is the one to tell.
                let _ = let_go(disk);
                Err(error)
            }
        }
    }

    fn open_disk(&self, folder: &Path, lock: FolderLock) -> Result<Disk, StoreOpenError> {
        let (db, tree) = guarded(|| self.open_sled(folder)).map_err(|fault| open_fault(folder, fault))?;
        let data = OpenOptions::new().write(true).open(files::data_file(folder));
        Ok(Disk {
            tree,
            db,
            data: data.map_err(|source| io_error(folder, source))?,
            values: Reader::of(folder),
            side: SideFile::open(folder).map_err(|source| io_error(folder, source))?,
            progress: Progress::default(),
            tails: RwLock::default(),
            applying: RwLock::new(()),
            seam: self.seam.clone(),
            _lock: lock,
        })
    }

    /// Makes what sled found durable, checks that it is all that was acknowledged, and tidies up.
    fn recover(&self, folder: &Path, disk: &Arc<Disk>, new_folders: usize) -> Result<Committer, StoreOpenError> {
        let fault = |fault| open_fault(folder, fault);
        guarded(|| disk.sync()).map_err(fault)?;
        files::sync_names(folder, new_folders).map_err(|source| io_error(folder, source))?;
        let head = guarded(|| read_head(&disk.tree)).map_err(fault)?;
        *disk.tails_mut() = guarded(|| Tails::recover(&disk.tree, &head, self.seam.pages_max())).map_err(fault)?;
        let acknowledged = disk.side.read().map_err(|source| io_error(folder, source))?;
        self.check_tail(&head, acknowledged)?;
        guarded(|| tidy(disk, &head)).map_err(fault)?;
        let values = Values::open(folder, head.values).map_err(fault)?;
        let garbage = guarded(|| Garbage::find(&disk.tree, values.reader())).map_err(fault)?;
        Committer::start(disk, head, garbage, values, self.watchdog).map_err(|source| io_error(folder, source))
    }

    fn check_tail(&self, head: &Head, acknowledged: Option<(u64, u32)>) -> Result<(), StoreOpenError> {
        match acknowledged {
            Some((group, _)) if group > head.group && !self.accept_lost_tail => Err(StoreOpenError::TailLost {
                found: head.group,
                acknowledged: group,
            }),
            Some((group, chain)) if group == head.group && chain != head.chain => Err(StoreOpenError::Damaged {
                reason: format!(
                    "commit {group} is not the one that was acknowledged; the folder mixes files of two stores"
                ),
            }),
            Some(_) | None => Ok(()),
        }
    }

    fn open_sled(&self, folder: &Path) -> Result<(Db, Tree), RowFault> {
        let config = ::sled::Config::new()
            .path(files::sled_folder(folder))
            .cache_capacity(self.cache_capacity)
            .flush_every_ms(None);
        let begun = Instant::now();
        let db = loop {
            match config.open() {
                Err(::sled::Error::Io(error))
                    if error.to_string().contains("could not acquire lock") && begun.elapsed() < SLED_LOCK_PATIENCE =>
                {
                    std::thread::sleep(Duration::from_millis(5));
                }
                other => break other?,
            }
        };
        let tree = db.open_tree("steadfast")?;
        Ok((db, tree))
    }
}

fn open_fault(folder: &Path, fault: RowFault) -> StoreOpenError {
    match fault {
        RowFault::Rotten(reason) => StoreOpenError::Damaged { reason },
        RowFault::Newer(version) => StoreOpenError::NewerFormat {
            found: version.into(),
            supported: rows::VERSION.into(),
        },
        RowFault::Io(reason) => io_error(folder, std::io::Error::other(reason)),
    }
}

fn read_head(tree: &Tree) -> Result<Head, RowFault> {
    match tree.get(keys::HEAD)? {
        Some(value) => Head::read(&value),
        None if tree.iter().next().transpose()?.is_none() => Ok(Head::NEW),
        None => Err(RowFault::rotten(keys::HEAD, "is missing")),
    }
}

/// Removes the chunks that a commit that never counted left behind, and brings the side file up to date.
fn tidy(disk: &Disk, head: &Head) -> Result<(), RowFault> {
    let mut batch = Batch::default();
    let mut rows = 0;
    for row in disk.tree.range(keys::chunks_after(head.group)..) {
        let (key, _) = row?;
        if !key.starts_with(keys::CHUNKS) {
            break;
        }
        batch.remove(key);
        rows += 1;
        if rows == DROPPED_AT_A_TIME {
            disk.tree.apply_batch(std::mem::take(&mut batch))?;
            disk.sync()?;
            rows = 0;
        }
    }
    if rows > 0 {
        disk.tree.apply_batch(batch)?;
        disk.sync()?;
    }
    disk.side.write(head).map_err(io)?;
    disk.side.sync().map_err(io)
}
