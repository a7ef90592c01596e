//! How bytes get into a segment's file. Where the system offers it they go to the disk past the page cache, a mebibyte at a
//! time: nobody reads them soon, and to find pages for 16 MiB takes several times as long as to write them. Absent on
//! purpose: what the bytes are, and when they are synced.

use super::{PAGE_BYTES, whole_pages};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// How much is written at a time. A multiple of a page, as a direct write must be, in the file and in memory.
const PIECE_BYTES: usize = 1 << 20;

/// A file that is written to.
pub(super) struct Segment {
    pub(super) path: PathBuf,
    pub(super) file: File,
    is_direct: bool,
    /// Whether it was written to since it was last synced.
    pub(super) is_dirty: bool,
}

impl Segment {
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        let (file, is_direct) = match open_direct(&options, &path) {
            Some(file) => (file, true),
            None => (options.open(&path)?, false),
        };
        Ok(Self {
            path,
            file,
            is_direct,
            is_dirty: false,
        })
    }

    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.is_dirty = true;
        match self.write_at(offset, bytes) {
            // A file system that lets a file be opened for direct writes need not take them.
            Err(error) if self.is_direct && error.kind() == io::ErrorKind::InvalidInput => {
                self.file = OpenOptions::new().write(true).open(&self.path)?;
                self.is_direct = false;
                self.write_at(offset, bytes)
            }
            outcome => outcome,
        }
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.write_all(bytes)
    }
}

#[cfg(target_os = "linux")]
fn open_direct(options: &OpenOptions, path: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    options.clone().custom_flags(libc::O_DIRECT).open(path).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_direct(_options: &OpenOptions, _path: &Path) -> Option<File> {
    None
}

/// The bytes that are written next, in memory that a direct write can be made from.
pub(super) struct Piece {
    /// Empty until the first value: most stores have none.
    memory: Vec<u8>,
    /// Where in `memory` a page begins.
    begin: usize,
    length: usize,
    /// Where in the file the bytes go.
    pub(super) offset: u64,
}

impl Piece {
    pub(super) fn at(offset: u64) -> Self {
        Self {
            memory: Vec::new(),
            begin: 0,
            length: 0,
            offset,
        }
    }

    pub(super) fn restart(&mut self, offset: u64) {
        self.length = 0;
        self.offset = offset;
    }

    pub(super) fn is_full(&self) -> bool {
        self.length >= PIECE_BYTES
    }

    pub(super) fn bytes(&self) -> &[u8] {
        let bytes = self.memory.get(self.begin..self.begin + self.length);
        bytes.unwrap_or_default()
    }

    /// Takes as many of the bytes as it has room for; gives the others.
    pub(super) fn take<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        if self.memory.is_empty() {
            self.memory = vec![0; PIECE_BYTES + PAGE_BYTES as usize];
            self.begin = self.memory.as_ptr().align_offset(PAGE_BYTES as usize);
        }
        let room = PIECE_BYTES.saturating_sub(self.length);
        let (taken, left) = bytes.split_at(bytes.len().min(room));
        let from = self.begin + self.length;
        let place = self.memory.get_mut(from..from + taken.len());
        place
            .expect("a page begins within the first page's length of memory, and then there is room for a piece")
            .copy_from_slice(taken);
        self.length += taken.len();
        left
    }

    /// Adds zeros up to the end of a page.
    pub(super) fn fill_page(&mut self) {
        let filled = whole_pages(self.length as u64) as usize;
        let rest = self.memory.get_mut(self.begin + self.length..self.begin + filled);
        rest.unwrap_or_default().fill(0);
        self.length = filled;
    }
}
