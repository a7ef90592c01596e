//! Writes files so that under its final name a file is either whole and on disk, or not there. Temporary names are
//! fixed, so what a kill leaves behind is overwritten by the next try.

use super::error::ExportError;
use super::job::{Page, Prepared, Rendered};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The work files of one export.
#[derive(Clone, Debug)]
pub(super) struct WorkFolder {
    root: PathBuf,
}

impl WorkFolder {
    /// The folder of the export `id` below `data`. Nothing is created yet.
    pub(super) fn of(data: &Path, id: &str) -> Self {
        Self {
            root: data.join("work").join(id),
        }
    }

    pub(super) fn snapshot(&self, digest: &str) -> PathBuf {
        self.root.join("snapshots").join(digest)
    }

    pub(super) fn rendered(&self, file: &str) -> PathBuf {
        self.root.join("rendered").join(file)
    }

    /// A temporary name that only this stage of this page uses.
    pub(super) fn temporary(&self, stage: &str, page: &Page) -> PathBuf {
        self.root.join(format!("{stage}-{}.part", page.position))
    }

    pub(super) fn open_snapshot(&self, prepared: &Prepared) -> Result<File, ExportError> {
        open(&prepared.page, self.snapshot(&prepared.digest))
    }

    pub(super) fn open_rendered(&self, rendered: &Rendered) -> Result<File, ExportError> {
        open(&rendered.page, self.rendered(&rendered.file))
    }

    /// Removes every work file. Doing it twice is fine.
    pub(super) fn remove(&self) -> Result<(), ExportError> {
        match fs::remove_dir_all(&self.root) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(ExportError::Unwritable {
                path: self.root.clone(),
                source,
            }),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn open(page: &Page, path: PathBuf) -> Result<File, ExportError> {
    File::open(&path).map_err(|source| ExportError::WorkFileLost {
        page: page.name.clone(),
        path,
        source,
    })
}

/// Writes `bytes` to `target` by way of `temporary`, unless an earlier attempt already did.
///
/// Only for names that are derived from their content, where an existing file is the right one.
pub(super) fn publish_once(bytes: &[u8], temporary: &Path, target: &Path) -> Result<(), ExportError> {
    if target.exists() {
        // The attempt that wrote it may have died before the name was on disk.
        return sync_folder_of(target).map_err(unwritable(target));
    }
    publish(temporary, target, |mut file| {
        file.write_all(bytes).map_err(unwritable(target))
    })
}

/// Lets `write` fill `temporary`, then makes it durable and gives it its final name. Both must be on one file system.
pub(super) fn publish<T>(
    temporary: &Path,
    target: &Path,
    write: impl FnOnce(&File) -> Result<T, ExportError>,
) -> Result<T, ExportError> {
    for path in [temporary, target] {
        create_folder_of(path).map_err(unwritable(path))?;
    }
    let file = File::create(temporary).map_err(unwritable(target))?;
    let written = write(&file).and_then(|written| {
        file.sync_all().map_err(unwritable(target))?;
        fs::rename(temporary, target).map_err(unwritable(target))?;
        Ok(written)
    });
    if written.is_err() {
        // The error that is on its way says more than a failed clean-up would.
        let _ = fs::remove_file(temporary);
    }
    let written = written?;
    sync_folder_of(target).map_err(unwritable(target))?;
    Ok(written)
}

/// An [`ExportError`] about `path`, for `map_err`.
pub(super) fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> ExportError {
    |source| ExportError::Unwritable {
        path: path.to_owned(),
        source,
    }
}

/// Creates the missing folders above `path`, each of them durably.
pub(super) fn create_folder_of(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    if folder.is_dir() {
        return Ok(());
    }
    create_folder_of(folder)?;
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(()) | Err(_) => sync_folder_of(folder),
    }
}

/// Makes a new name in the folder of `path` durable. Only Unix can sync a folder.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if cfg!(unix) => {
            let folder = if folder.as_os_str().is_empty() {
                Path::new(".")
            } else {
                folder
            };
            File::open(folder)?.sync_all()
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_temporary_one() {
        let folder = tempfile::tempdir().unwrap();
        let (temporary, target) = (folder.path().join(".part"), folder.path().join("file"));
        fs::write(&target, "old").unwrap();
        let result = publish(&temporary, &target, |mut file| {
            file.write_all(b"half of the n").unwrap();
            Err::<(), _>(ExportError::Interrupted)
        });
        assert!(matches!(result, Err(ExportError::Interrupted)));
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");
        assert!(!temporary.exists());
    }

    #[test]
    fn what_a_kill_left_is_overwritten_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (temporary, target) = (folder.path().join("a/b/.part"), folder.path().join("a/c/file"));
        create_folder_of(&temporary).unwrap();
        fs::write(&temporary, "a longer leftover of an earlier attempt").unwrap();
        publish_once(b"new", &temporary, &target).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert!(!temporary.exists());
    }
}
