//! Prepares a page: proves that it is an image and keeps a copy that nobody changes. The copy is named by its content,
//! so preparing a page twice, or two equal pages, makes one file.

use super::error::ExportError;
use super::files::{WorkFolder, publish_once};
use super::job::{Page, Prepared, hexadecimal};
use super::render::decode;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Cursor;
use std::path::Path;

/// Reads `page` from `folder`, verifies that it decodes, and copies it to the work folder.
pub(super) fn prepare(folder: &Path, page: &Page, work: &WorkFolder) -> Result<Prepared, ExportError> {
    let bytes = fs::read(folder.join(&page.name)).map_err(|source| ExportError::PageUnreadable {
        page: page.name.clone(),
        source,
    })?;
    decode(page, Cursor::new(&bytes))?;
    let digest = hexadecimal(&Sha256::digest(&bytes));
    publish_once(&bytes, &work.temporary("prepare", page), &work.snapshot(&digest))?;
    Ok(Prepared {
        page: page.clone(),
        digest,
        size: bytes.len() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image_export::samples;

    fn page(name: &str) -> Page {
        Page {
            position: 1,
            name: name.into(),
        }
    }

    #[test]
    fn a_prepared_page_survives_a_change_of_its_original() {
        let folder = tempfile::tempdir().unwrap();
        let work = WorkFolder::of(folder.path(), "test");
        let original = samples::draw(1).unwrap();
        fs::write(folder.path().join("1.png"), &original).unwrap();
        let prepared = prepare(folder.path(), &page("1.png"), &work).unwrap();
        fs::write(folder.path().join("1.png"), "something else").unwrap();
        assert_eq!(fs::read(work.snapshot(&prepared.digest)).unwrap(), original);
        assert_eq!(prepared.size, original.len() as u64);
    }

    #[test]
    fn a_page_that_is_no_image_or_cut_short_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let work = WorkFolder::of(folder.path(), "test");
        let whole = samples::draw(1).unwrap();
        for bytes in [b"plain text".as_slice(), b"", &whole[..whole.len() / 2]] {
            fs::write(folder.path().join("1.png"), bytes).unwrap();
            let error = prepare(folder.path(), &page("1.png"), &work).unwrap_err();
            assert!(
                matches!(&error, ExportError::NotAnImage { page, .. } if page == "1.png"),
                "{error:?}"
            );
            assert!(!error.may_pass());
        }
        let error = prepare(folder.path(), &page("2.png"), &work).unwrap_err();
        assert!(
            matches!(&error, ExportError::PageUnreadable { page, .. } if page == "2.png"),
            "{error:?}"
        );
        assert!(!folder.path().join("work").exists(), "nothing was kept");
    }
}
