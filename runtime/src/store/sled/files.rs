//! The files around sled's: the lock, the format, the side file with the last acknowledged commit, and syncing.
//! Absent on purpose: sled.

use super::rows::Head;
use crate::store::StoreOpenError;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The format of the folder and of the set of rows. A later one is refused before anything is touched.
///
/// Folders of format 1 are taken over as they are: what their rows hold is still read, and from the first open on a version
/// that knows no pages refuses them.
pub(super) const FORMAT: u32 = 2;
/// The oldest format that is taken over.
const FORMAT_MIN: u32 = 1;

/// Where the number of the last acknowledged commit is kept, outside of sled.
const SIDE_FILE: &str = "acknowledged";

/// Keeps a second store, of this process or another, away from the folder until it is dropped.
pub(super) struct FolderLock(File);

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Closing the file alone is not enough: a child that was forked a moment ago holds a copy of it until it execs.
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the store's lock was not released at once");
        }
    }
}

pub(super) fn lock(folder: &Path) -> Result<FolderLock, StoreOpenError> {
    let path = folder.join("lock");
    let options = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    let file = options.map_err(|source| io_error(folder, source))?;
    match file.try_lock() {
        Ok(()) => Ok(FolderLock(file)),
        Err(TryLockError::WouldBlock) => Err(StoreOpenError::InUse {
            path: folder.display().to_string(),
        }),
        Err(TryLockError::Error(source)) => Err(io_error(folder, source)),
    }
}

/// Checks the folder's format, or writes it if nothing was ever stored in it.
pub(super) fn check_format(folder: &Path) -> Result<(), StoreOpenError> {
    let path = folder.join("format");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(io_error(folder, source)),
    };
    let found = text
        .strip_prefix("steadfast ")
        .and_then(|rest| rest.trim().parse().ok());
    match found {
        Some(FORMAT) => Ok(()),
        Some(FORMAT_MIN..FORMAT) => write_format(folder, &path).map_err(|source| io_error(folder, source)),
        Some(found) if found > FORMAT => Err(StoreOpenError::NewerFormat {
            found,
            supported: FORMAT,
        }),
        Some(_) | None if data_file(folder).exists() => Err(StoreOpenError::Damaged {
            reason: format!("{} does not name a format of Steadfast", path.display()),
        }),
        Some(_) | None => write_format(folder, &path).map_err(|source| io_error(folder, source)),
    }
}

fn write_format(folder: &Path, path: &Path) -> io::Result<()> {
    let unfinished = folder.join("format.new");
    let mut file = File::create(&unfinished)?;
    file.write_all(format!("steadfast {FORMAT}\n").as_bytes())?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    sync_folder(folder)
}

/// Whether an open of this folder ever came to its end: it leaves the side file, synced.
pub(super) fn was_opened(folder: &Path) -> bool {
    fs::metadata(folder.join(SIDE_FILE)).is_ok_and(|file| file.len() > 0)
}

/// Puts what sled has written out of the way, under a name that is free, so that the store can be created anew.
pub(super) fn set_aside(folder: &Path) -> io::Result<()> {
    let names = (0..u32::MAX).map(|number| folder.join(format!("sled.unfinished-{number}")));
    let free = names.into_iter().find(|name| !name.exists());
    let free = free.ok_or_else(|| io::Error::other("no free name for what an unfinished creation left"))?;
    tracing::warn!(aside = %free.display(), "the store's creation was cut off; it is created anew");
    fs::rename(sled_folder(folder), free)?;
    sync_folder(folder)
}

pub(super) fn sled_folder(folder: &Path) -> PathBuf {
    folder.join("sled")
}

pub(super) fn data_file(folder: &Path) -> PathBuf {
    sled_folder(folder).join("db")
}

/// Makes the data file fit for sled after a power cut: a snapshot that was being written is rubbish that sled would trust,
/// and what survived in the file must not be lost by a second cut while sled reads it.
pub(super) fn prepare(folder: &Path) -> io::Result<()> {
    let sled = sled_folder(folder);
    if !sled.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(&sled)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            fs::remove_file(entry.path())?;
        }
    }
    match OpenOptions::new().write(true).open(data_file(folder)) {
        Ok(file) => file.sync_data(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Syncs what sled never does: its configuration, its folder, and the names above it up to the first old one.
pub(super) fn sync_names(folder: &Path, new_folders: usize) -> io::Result<()> {
    let sled = sled_folder(folder);
    OpenOptions::new().write(true).open(sled.join("conf"))?.sync_all()?;
    for folder in sled.ancestors().take(new_folders + 3) {
        sync_folder(folder)?;
    }
    Ok(())
}

#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere a folder cannot be opened as a file, and the file system keeps names by itself.
#[cfg(not(unix))]
pub(super) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

pub(super) fn io_error(folder: &Path, source: io::Error) -> StoreOpenError {
    StoreOpenError::Io {
        path: folder.display().to_string(),
        source,
    }
}

/// Keeps the number of the last acknowledged commit outside of sled, which drops the end of its log without a word.
/// Written after each commit and not synced: a power cut may leave an older number, never a newer one.
pub(super) struct SideFile(File);

const SIDE_BYTES: usize = 16;

impl SideFile {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.join(SIDE_FILE);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)?;
        Ok(Self(file))
    }

    /// Number and chain of the last acknowledged commit, if the file tells.
    pub(super) fn read(&self) -> io::Result<Option<(u64, u32)>> {
        let mut bytes = Vec::with_capacity(SIDE_BYTES);
        (&self.0).seek(SeekFrom::Start(0))?;
        (&self.0).take(SIDE_BYTES as u64).read_to_end(&mut bytes)?;
        Ok(decode_side(&bytes))
    }

    pub(super) fn write(&self, head: &Head) -> io::Result<()> {
        (&self.0).seek(SeekFrom::Start(0))?;
        (&self.0).write_all(&encode_side(head))
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }
}

pub(super) fn encode_side(head: &Head) -> [u8; SIDE_BYTES] {
    let mut bytes = [0; SIDE_BYTES];
    let (body, sum) = bytes.split_at_mut(12);
    let (group, chain) = body.split_at_mut(8);
    group.copy_from_slice(&head.group.to_be_bytes());
    chain.copy_from_slice(&head.chain.to_be_bytes());
    sum.copy_from_slice(&crc32fast::hash(body).to_be_bytes());
    bytes
}

pub(super) fn decode_side(bytes: &[u8]) -> Option<(u64, u32)> {
    let (body, sum) = bytes.split_at_checked(12)?;
    if sum != crc32fast::hash(body).to_be_bytes() {
        return None;
    }
    let (group, chain) = body.split_at_checked(8)?;
    let group = u64::from_be_bytes(group.try_into().ok()?);
    Some((group, u32::from_be_bytes(chain.try_into().ok()?)))
}
