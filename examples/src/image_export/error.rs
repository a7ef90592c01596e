//! What can go wrong in an export, each as one sentence for a person. Absent on purpose: deciding what happens next;
//! only which trouble can pass by itself is said here.

use image::ImageError;
use std::error::Error;
use std::io;
use std::path::PathBuf;
use steadfast::{StepError, StepFailureKind};

/// Why a step of an export did not succeed. Nothing half-written is left under a final name.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum ExportError {
    #[error("the folder of pages {} cannot be read", .folder.display())]
    FolderUnreadable { folder: PathBuf, source: io::Error },
    #[error("the folder {} holds no pages", .folder.display())]
    NoPages { folder: PathBuf },
    #[error("the name of page {page} is not UTF-8")]
    NameUnreadable { page: String },
    #[error("page {page} cannot be read")]
    PageUnreadable { page: String, source: io::Error },
    #[error("page {page} is not an image that can be decoded")]
    NotAnImage { page: String, source: ImageError },
    #[error("page {page} cannot be encoded")]
    Unencodable { page: String, source: ImageError },
    #[error("the work file {} of page {page} cannot be read", .path.display())]
    WorkFileLost {
        page: String,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{} cannot be written", .path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("the export was told to stop")]
    Interrupted,
}

impl ExportError {
    /// Whether trying again may help although nobody repaired anything: a full disk may get room, a page that is no
    /// image stays none.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unwritable { .. } | Self::Interrupted => true,
            Self::FolderUnreadable { .. }
            | Self::NoPages { .. }
            | Self::NameUnreadable { .. }
            | Self::PageUnreadable { .. }
            | Self::NotAnImage { .. }
            | Self::Unencodable { .. }
            | Self::WorkFileLost { .. } => false,
        }
    }
}

/// Why an export ended without a ZIP, in the words of the step that gave up.
#[derive(Debug, thiserror::Error)]
#[error("{}", words(.0))]
pub struct ExportFailed(#[from] StepError);

fn words(step: &StepError) -> String {
    match step.kind() {
        StepFailureKind::Failed => [step.message()]
            .into_iter()
            .chain(step.causes().iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(": "),
        // It is not the page's fault then, so the step is worth naming.
        _ => step.to_string(),
    }
}

/// An error and its causes as one sentence.
pub fn sentence(error: &dyn Error) -> String {
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        // Some libraries repeat their cause in their own message.
        if !sentence.ends_with(&text) {
            sentence.push_str(": ");
            sentence.push_str(&text);
        }
        cause = error.source();
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_names_the_page_and_the_cause() {
        let source = io::Error::from(io::ErrorKind::PermissionDenied);
        let error = ExportError::PageUnreadable {
            page: "7.png".into(),
            source,
        };
        assert_eq!(sentence(&error), "page 7.png cannot be read: permission denied");
    }
}
