//! Streams rendered pages into one ZIP, in page order, with one buffer. The same pages give the same bytes: entries
//! carry no time and no owner. Absent on purpose: compression; the pages are compressed already.

use super::error::ExportError;
use super::files::{WorkFolder, create_folder_of, publish, unwritable};
use super::job::{Page, Rendered};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Sizes from here on need the 64-bit fields of a ZIP entry.
const ZIP64_FROM: u64 = u32::MAX as u64;

/// Writes the ZIP to `out` and returns its size. `out` changes in one instant, from what it was to the whole ZIP.
///
/// `stopped` is asked before each page, so that a shutdown does not wait for a long archive.
pub(super) fn archive(
    rendered: &[Rendered],
    work: &WorkFolder,
    out: &Path,
    temporary: &Path,
    stopped: impl Fn() -> bool,
) -> Result<u64, ExportError> {
    publish(temporary, out, |file| {
        let mut zip = ZipWriter::new(BufWriter::new(file));
        for page in rendered {
            if stopped() {
                return Err(ExportError::Interrupted);
            }
            let mut source = work.open_rendered(page)?;
            append(&mut zip, page, &mut source).map_err(unwritable(out))?;
        }
        zip.finish()
            .map_err(io::Error::from)
            .and_then(|writer| Ok(writer.into_inner()?))
            .map_err(unwritable(out))?;
        file.metadata().map(|metadata| metadata.len()).map_err(unwritable(out))
    })
}

fn append(zip: &mut ZipWriter<BufWriter<&File>>, page: &Rendered, source: &mut File) -> io::Result<()> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644)
        .large_file(page.size >= ZIP64_FROM);
    let extension = page.file.rsplit('.').next().unwrap_or_default();
    zip.start_file(entry_name(&page.page, extension), options)?;
    io::copy(source, zip)?;
    Ok(())
}

/// `page-7.png`, seventh of the export, becomes `0007-page-7.jpg`: viewers that sort by name show the right order, and
/// `7.png` beside `7.jpg` stay two entries.
fn entry_name(page: &Page, extension: &str) -> String {
    let stem = page.name.rsplit_once('.').map_or(page.name.as_str(), |(stem, _)| stem);
    // Allowed in a file name here, but not wherever the ZIP is unpacked.
    let portable = stem.replace(|c: char| c.is_control() || r#"\/:*?"<>|"#.contains(c), "_");
    format!("{:04}-{portable}.{extension}", page.position)
}

/// Fails if [`archive`] could not write to `out` now. Leaves nothing behind, and an older ZIP as it is.
pub(super) fn check_writable(out: &Path) -> Result<(), ExportError> {
    if out.is_dir() {
        return Err(unwritable(out)(io::ErrorKind::IsADirectory.into()));
    }
    let probe = temporary_beside(out, "probe");
    create_folder_of(&probe)
        .and_then(|()| File::create(&probe))
        .map_err(unwritable(out))?;
    match fs::remove_file(&probe) {
        // Somebody else probed at the same time.
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unwritable(out)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Beside `out`, hidden, and different for each owner: two exports to one file never write into each other.
pub(super) fn temporary_beside(out: &Path, owner: &str) -> PathBuf {
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    let digest = super::job::hexadecimal(&Sha256::digest(owner));
    out.with_file_name(format!(".{name}.{}.part", &digest[..8]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(position: usize, name: &str) -> Page {
        Page {
            position,
            name: name.into(),
        }
    }

    /// Work files with these contents, and references to them.
    fn work(folder: &Path, contents: &[&str]) -> (WorkFolder, Vec<Rendered>) {
        let work = WorkFolder::of(folder, "test");
        let rendered = (1..).zip(contents).map(|(position, content)| {
            let file = format!("{position}-800.jpg");
            let path = work.rendered(&file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
            Rendered {
                page: page(position, "same name.png"),
                file,
                size: content.len() as u64,
            }
        });
        let rendered = rendered.collect();
        (work, rendered)
    }

    #[test]
    fn the_same_pages_give_the_same_bytes_in_page_order() {
        let folder = tempfile::tempdir().unwrap();
        let (work, rendered) = work(folder.path(), &["first", "second", "third"]);
        let write = |name: &str| {
            let out = folder.path().join(name);
            let size = archive(&rendered, &work, &out, &temporary_beside(&out, "owner"), || false).unwrap();
            let bytes = fs::read(out).unwrap();
            assert_eq!(bytes.len() as u64, size);
            bytes
        };
        let bytes = write("a.zip");
        assert_eq!(bytes, write("b.zip"));
        let mut zip = zip::ZipArchive::new(io::Cursor::new(bytes)).unwrap();
        let names: Vec<_> = (0..3)
            .map(|index| zip.by_index(index).unwrap().name().unwrap().into_owned())
            .collect();
        assert_eq!(
            names,
            ["0001-same name.jpg", "0002-same name.jpg", "0003-same name.jpg"]
        );
        assert_eq!(io::read_to_string(zip.by_index(2).unwrap()).unwrap(), "third");
    }

    #[test]
    fn an_interrupted_archive_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (work, rendered) = work(folder.path(), &["first", "second"]);
        let out = folder.path().join("results").join("out.zip");
        let asked = std::cell::Cell::new(0);
        let stopped = || asked.replace(asked.get() + 1) == 1;
        let result = archive(&rendered, &work, &out, &temporary_beside(&out, "owner"), stopped);
        assert!(matches!(result, Err(ExportError::Interrupted)));
        assert_eq!(fs::read_dir(out.parent().unwrap()).unwrap().count(), 0);
    }

    #[test]
    fn a_lost_work_file_is_named_and_an_unwritable_output_too() {
        let folder = tempfile::tempdir().unwrap();
        let (work, rendered) = work(folder.path(), &["first"]);
        let blocked = work.rendered("1-800.jpg").join("out.zip");
        let error = archive(&rendered, &work, &blocked, &temporary_beside(&blocked, ""), || false).unwrap_err();
        assert!(matches!(error, ExportError::Unwritable { .. }), "{error:?}");
        assert!(check_writable(&blocked).is_err() && check_writable(folder.path()).is_err());

        work.remove().unwrap();
        let out = folder.path().join("out.zip");
        let error = archive(&rendered, &work, &out, &temporary_beside(&out, ""), || false).unwrap_err();
        assert!(matches!(error, ExportError::WorkFileLost { .. }), "{error:?}");
        check_writable(&out).unwrap();
    }

    #[test]
    fn entry_names_unpack_everywhere() {
        assert_eq!(entry_name(&page(7, r"a\b:c.tar.png"), "webp"), "0007-a_b_c.tar.webp");
        assert_eq!(entry_name(&page(12_345, "no-ending"), "jpg"), "12345-no-ending.jpg");
    }
}
