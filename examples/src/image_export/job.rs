//! What an export is asked for, and the small references its steps hand on. Absent on purpose: image bytes. They stay
//! in files, so the journal stays small.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// One export: the workflow's input. Equal arguments make an equal job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportJob {
    /// The id of the instance; it names the folder of the work files too.
    pub id: String,
    /// The folder of page images, absolute.
    pub pages: PathBuf,
    /// The ZIP to write, absolute.
    pub out: PathBuf,
    /// How the rendered pages are encoded.
    pub format: Format,
    /// Wider pages are scaled down to this many pixels; narrower ones keep their size.
    pub width: u32,
    /// How many pages are prepared at once, at most.
    pub prepare: u16,
    /// How many pages are rendered at once, at most.
    pub render: u16,
}

impl ExportJob {
    /// The id of an export that nobody named. Exports to one file share it, so that the program finds them all.
    pub fn default_id(&self) -> String {
        let digest = Sha256::digest(self.out.as_os_str().as_encoded_bytes());
        format!("export-{}", &hexadecimal(&digest)[..8])
    }
}

/// How rendered pages are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
pub enum Format {
    /// JPEG, quality 85: small files.
    Jpg,
    /// PNG: nothing is lost.
    Png,
    /// WebP: nothing is lost, smaller than PNG.
    Webp,
}

impl Format {
    /// The ending of a file name in this format.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Jpg => "jpg",
            Format::Png => "png",
            Format::Webp => "webp",
        }
    }
}

/// A page as found in the folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Its place in the export, counted from 1.
    pub position: usize,
    /// The name of its file.
    pub name: String,
}

/// A page that decodes, copied to where later changes of the folder cannot reach it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// The page this was.
    pub page: Page,
    /// SHA-256 of its bytes, which is the name of its snapshot.
    pub digest: String,
    /// Its size in bytes.
    pub size: u64,
}

/// A page at its final size and in its final format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// The page this was.
    pub page: Page,
    /// The name of its file among the work files.
    pub file: String,
    /// Its size in bytes.
    pub size: u64,
}

/// A finished export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exported {
    /// The ZIP.
    pub out: PathBuf,
    /// How many pages it holds.
    pub pages: usize,
    /// Its size in bytes.
    pub size: u64,
}

/// Lower-case hexadecimal digits, two for each byte.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
