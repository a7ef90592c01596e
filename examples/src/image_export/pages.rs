//! Decides which files of a folder are pages, and their order. Absent on purpose: looking into them; a file that is no
//! image must stop the export, not go missing from it.

use super::error::ExportError;
use super::job::{ExportJob, Page};
use std::fs;

/// The pages of the job's folder, in natural order of their names: `page-2` comes before `page-10`.
///
/// Every file counts, except hidden ones (`.DS_Store`) and the job's own output. Folders inside are left alone.
pub(super) fn list(job: &ExportJob) -> Result<Vec<Page>, ExportError> {
    let unreadable = |source| ExportError::FolderUnreadable {
        folder: job.pages.clone(),
        source,
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(&job.pages).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        // A link to nowhere is a page that cannot be read, which the export has to say.
        let folder = fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_dir());
        if hidden || folder || entry.path() == job.out {
            continue;
        }
        names.push(
            entry
                .file_name()
                .into_string()
                .map_err(|name| ExportError::NameUnreadable {
                    page: name.to_string_lossy().into_owned(),
                })?,
        );
    }
    if names.is_empty() {
        return Err(ExportError::NoPages {
            folder: job.pages.clone(),
        });
    }
    names.sort_by_cached_key(|name| NaturalOrder::of(name));
    Ok((1..)
        .zip(names)
        .map(|(position, name)| Page { position, name })
        .collect())
}

/// A sort key: case is ignored and runs of digits compare as numbers of any length. Names that are equal so far
/// (`1.png`, `01.png`) compare as they are written, so the order of different names is always decided.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct NaturalOrder {
    parts: Vec<Part>,
    name: String,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// Without leading zeros, so the longer number is the greater one.
    Number {
        length: usize,
        digits: String,
    },
    Text(String),
}

impl NaturalOrder {
    fn of(name: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = name;
        while let Some(first) = rest.chars().next() {
            let is_number = first.is_ascii_digit();
            let end = rest
                .find(|c: char| c.is_ascii_digit() != is_number)
                .unwrap_or(rest.len());
            let (part, after) = rest.split_at(end);
            parts.push(if is_number {
                let digits = part.trim_start_matches('0').to_owned();
                Part::Number {
                    length: digits.len(),
                    digits,
                }
            } else {
                Part::Text(part.to_lowercase())
            });
            rest = after;
        }
        Self {
            parts,
            name: name.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image_export::Format;
    use std::path::Path;

    fn job(folder: &Path) -> ExportJob {
        ExportJob {
            id: "test".into(),
            pages: folder.to_owned(),
            out: folder.join("out.zip"),
            format: Format::Jpg,
            width: 800,
            prepare: 1,
            render: 1,
        }
    }

    fn listed(names: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::create_dir(folder.path().join("folder.png")).unwrap();
        list(&job(folder.path()))
            .unwrap()
            .into_iter()
            .map(|page| page.name)
            .collect()
    }

    #[test]
    fn numbers_in_names_count_as_numbers() {
        let names = ["page-10.png", "page-9.png", "Page-2.png", "page-100.png", "cover.png"];
        assert_eq!(
            listed(&names),
            ["cover.png", "Page-2.png", "page-9.png", "page-10.png", "page-100.png"]
        );
    }

    #[test]
    fn numbers_of_any_length_compare() {
        let names = ["99999999999999999999999.png", "100000000000000000000000.png", "3.png"];
        assert_eq!(
            listed(&names),
            ["3.png", "99999999999999999999999.png", "100000000000000000000000.png"]
        );
    }

    #[test]
    fn equal_numbers_are_ordered_by_how_they_are_written() {
        assert_eq!(listed(&["1.png", "001.png", "01.png"]), ["001.png", "01.png", "1.png"]);
    }

    #[test]
    fn hidden_files_folders_and_the_output_are_no_pages() {
        assert_eq!(
            listed(&[".DS_Store", "out.zip", "notes.txt", "1.png"]),
            ["1.png", "notes.txt"]
        );
    }

    #[test]
    fn an_empty_and_a_missing_folder_say_so() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(list(&job(folder.path())), Err(ExportError::NoPages { .. })));
        let missing = folder.path().join("missing");
        assert!(matches!(
            list(&job(&missing)),
            Err(ExportError::FolderUnreadable { .. })
        ));
    }
}
