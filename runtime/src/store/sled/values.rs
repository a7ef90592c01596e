//! Long values in files of our own: sled would cut them into rows of 4,000 bytes, each at the price of a row, and write four
//! times as much. Decides where a value goes, when it is on the disk, and what of it a crash leaves. Absent on purpose: who
//! refers to a value, and how many of a file's values are still referred to; both stand in rows, under commits.
//!
//! # The files
//!
//! `values/` holds segments, `0000000000000001` and so on in hexadecimal, so their names are sorted. A segment is values one
//! after the other, each from the beginning of a page of 4 KiB on, and nothing else: length and checksum of a value stand in
//! the row that refers to it, as a [`Filed`]. A value never spans two segments; one that is larger than a segment has its
//! own. Below the position that the head of the last commit names nothing is ever written again, not even a page in part.
//!
//! # What a crash does
//!
//! Values are appended and synced before the batch that refers to them is written, and the head in that batch names where
//! they end.
//!
//! - While values are appended, while they are synced, or before that batch is on the disk: the head names an earlier
//!   position. Opening cuts off what lies beyond it, and whole segments beyond it are removed.
//! - After a segment's file was made and before its folder was synced: no head names it yet.
//! - A disk that is full, or fails: what was appended since the last sync is taken back, and its place is used again. The
//!   caller's group fails as a whole, and may be tried again.
//! - While a segment is removed: removing it again does no harm.

mod segment;

use super::files::sync_folder;
use super::rows::RowFault;
use segment::{Piece, Segment};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// When the next value would go beyond this, it begins another segment.
const SEGMENT_BYTES: u64 = 64 << 20;
/// Values begin at multiples of this.
const PAGE_BYTES: u64 = 4_096;
/// A place in the segments. Ordered as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) segment: u64,
    pub(super) offset: u64,
}

impl Position {
    /// Before the first value.
    pub(super) const START: Position = Position { segment: 1, offset: 0 };

    /// Gives a value the next place and goes on behind it.
    pub(super) fn file(&mut self, bytes: &[u8]) -> Filed {
        let length = bytes.len() as u64;
        let Position { segment, offset } = self.before(length);
        let mut checksum = checksum_at(segment, offset);
        checksum.update(bytes);
        let filed = Filed {
            segment,
            offset,
            length,
            crc: checksum.finalize(),
        };
        *self = filed.end();
        filed
    }

    /// Where a value of this length begins if this is the next free place.
    fn before(self, length: u64) -> Position {
        if self.offset > 0 && self.offset.saturating_add(whole_pages(length)) > SEGMENT_BYTES {
            Position {
                segment: self.segment + 1,
                offset: 0,
            }
        } else {
            self
        }
    }
}

/// Where a value is, and what it is to be recognised by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Filed {
    pub(super) segment: u64,
    pub(super) offset: u64,
    pub(super) length: u64,
    /// Of the place and the bytes.
    pub(super) crc: u32,
}

impl Filed {
    /// How many bytes of its segment it takes. The spaces of all values of a segment add up to
    /// [`Reader::space_of`] that segment.
    pub(super) fn space(self) -> u64 {
        whole_pages(self.length)
    }

    fn begin(self) -> Position {
        Position {
            segment: self.segment,
            offset: self.offset,
        }
    }

    fn end(self) -> Position {
        Position {
            segment: self.segment,
            offset: self.offset.saturating_add(self.space()),
        }
    }
}

fn whole_pages(bytes: u64) -> u64 {
    bytes.div_ceil(PAGE_BYTES).saturating_mul(PAGE_BYTES)
}

fn checksum_at(segment: u64, offset: u64) -> crc32fast::Hasher {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&segment.to_be_bytes());
    checksum.update(&offset.to_be_bytes());
    checksum
}

/// The only writer. What was appended counts from the next [`sync`](Values::sync) on; a call that fails takes back whatever
/// was appended since the last one.
pub(super) struct Values {
    reader: Reader,
    /// Behind the last value that was synced.
    synced: Position,
    /// Behind the last value.
    next: Position,
    /// The segment of `synced`.
    first: Segment,
    /// The segments that were begun since, in order.
    begun: Vec<Segment>,
    piece: Piece,
    /// Whether a file was made, by this process or an earlier one, whose name may not be on the disk.
    has_new_name: bool,
    /// How many more bytes the disk takes.
    #[cfg(test)]
    pub(super) room: usize,
}

impl Values {
    /// Opens the values in this folder, or creates it. `end` is what the head of the last commit names; what lies beyond it
    /// never counted and is removed. [`RowFault::Rotten`] if something below it is missing.
    pub(super) fn open(folder: &Path, end: Position) -> Result<Self, RowFault> {
        let values = folder.join("values");
        fs::create_dir_all(&values).map_err(io)?;
        // The process that made it may have died before it came to this.
        sync_folder(folder).map_err(io)?;
        remove_after(&values, end.segment).map_err(io)?;
        let reader = Reader::of(folder);
        let path = reader.path(end.segment);
        let found = fs::metadata(&path).map_or(0, |file| file.len());
        if found < end.offset {
            return Err(RowFault::Rotten(format!(
                "{} has {found} bytes, and values up to byte {} were acknowledged: data was lost",
                Reader::describe(end.segment),
                end.offset
            )));
        }
        let first = Segment::open(path).map_err(io)?;
        if found > end.offset {
            first.file.set_len(end.offset).map_err(io)?;
            // Its length tells later when all of it is given up.
            first.file.sync_all().map_err(io)?;
        }
        Ok(Self {
            reader,
            synced: end,
            next: end,
            first,
            begun: Vec::new(),
            piece: Piece::at(end.offset),
            has_new_name: true,
            #[cfg(test)]
            room: usize::MAX,
        })
    }

    /// What reads values, here or on other threads.
    pub(super) fn reader(&self) -> Reader {
        self.reader.clone()
    }

    /// Behind the last value: once it was synced, what the head of the next commit names.
    #[cfg(test)]
    pub(super) fn position(&self) -> Position {
        self.next
    }

    /// Adds the value that [`Position::file`] gave the next place. It can be read, and may be referred to, when it was
    /// synced.
    pub(super) fn append(&mut self, filed: Filed, bytes: &[u8]) -> io::Result<()> {
        let appended = self.try_append(filed, bytes);
        if appended.is_err() {
            self.take_back();
        }
        appended
    }

    fn try_append(&mut self, filed: Filed, bytes: &[u8]) -> io::Result<()> {
        let begin = self.next.before(bytes.len() as u64);
        if filed.begin() != begin || filed.length != bytes.len() as u64 {
            let reason = format!("a value was given another place than the next, {begin:?}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        if begin.segment > self.next.segment {
            self.begin_segment()?;
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.piece.is_full() {
                self.write_piece()?;
            }
            rest = self.piece.take(rest);
        }
        self.piece.fill_page();
        self.next = filed.end();
        Ok(())
    }

    /// Puts everything that was appended on the disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        let synced = self.try_sync();
        if synced.is_err() {
            self.take_back();
        }
        synced
    }

    fn try_sync(&mut self) -> io::Result<()> {
        if self.next == self.synced {
            return Ok(());
        }
        self.write_piece()?;
        for segment in std::iter::once(&self.first).chain(&self.begun) {
            if segment.is_dirty {
                segment.file.sync_data()?;
            }
        }
        if self.has_new_name {
            sync_folder(&self.reader.0)?;
            self.has_new_name = false;
        }
        if let Some(last) = self.begun.pop() {
            self.first = last;
            self.begun.clear();
        }
        self.first.is_dirty = false;
        self.synced = self.next;
        Ok(())
    }

    /// Gives up what was appended since the last sync.
    pub(super) fn take_back(&mut self) {
        // What cannot be removed here is overwritten, or removed when the store is opened: until then it costs space.
        for segment in self.begun.drain(..) {
            let _ = fs::remove_file(&segment.path);
        }
        if self.first.is_dirty {
            let _ = self.first.file.set_len(self.synced.offset);
        }
        self.next = self.synced;
        self.piece.restart(self.synced.offset);
    }

    fn begin_segment(&mut self) -> io::Result<()> {
        self.write_piece()?;
        let segment = self.next.segment + 1;
        let begun = Segment::open(self.reader.path(segment))?;
        begun.file.set_len(0)?;
        self.begun.push(begun);
        self.has_new_name = true;
        self.next = Position { segment, offset: 0 };
        self.piece.restart(0);
        Ok(())
    }

    fn write_piece(&mut self) -> io::Result<()> {
        let bytes = self.piece.bytes();
        let segment = self.begun.last_mut().unwrap_or(&mut self.first);
        #[cfg(test)]
        if let Some(written) = bytes.get(..self.room).filter(|written| written.len() < bytes.len()) {
            segment.write(self.piece.offset, written)?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        segment.write(self.piece.offset, bytes)?;
        self.piece.restart(self.piece.offset + bytes.len() as u64);
        Ok(())
    }

    /// Removes a segment, of which no value is referred to any more. When it returns the segment is gone for good.
    pub(super) fn remove(&self, segment: u64) -> io::Result<()> {
        if segment >= self.synced.segment {
            let reason = format!("{} is still written to", Reader::describe(segment));
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        match fs::remove_file(self.reader.path(segment)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => sync_folder(&self.reader.0),
        }
    }
}

fn io(error: io::Error) -> RowFault {
    RowFault::Io(error.to_string())
}

fn remove_after(values: &Path, segment: u64) -> io::Result<()> {
    for entry in fs::read_dir(values)? {
        let entry = entry?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| u64::from_str_radix(name, 16).ok());
        if number.is_some_and(|number| number > segment) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Reads values, from any thread, while others are appended. The folder is all it knows: each read opens the file anew.
#[derive(Clone)]
pub(super) struct Reader(Arc<Path>);

impl Reader {
    /// Of the values of the store in this folder.
    pub(super) fn of(folder: &Path) -> Self {
        Self(folder.join("values").into())
    }

    fn path(&self, segment: u64) -> PathBuf {
        self.0.join(format!("{segment:016x}"))
    }

    fn describe(segment: u64) -> String {
        format!("the file of values {segment:016x}")
    }

    /// How many bytes the values of a segment before that of the position take together: when as many are dead, it can be
    /// removed. Nothing if it is gone.
    pub(super) fn space_of(&self, segment: u64) -> io::Result<Option<u64>> {
        match fs::metadata(self.path(segment)) {
            Ok(file) => Ok(Some(file.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The bytes of a value, checked. [`RowFault::Rotten`] says what is there instead.
    pub(super) fn read(&self, value: Filed) -> Result<Vec<u8>, RowFault> {
        let name = Reader::describe(value.segment);
        let mut file = match File::open(self.path(value.segment)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(RowFault::Rotten(format!("{name} is missing")));
            }
            Err(error) => return Err(io(error)),
        };
        let Filed { offset, length, .. } = value;
        let found = file.metadata().map_err(io)?.len();
        if found < offset.saturating_add(length) {
            return Err(RowFault::Rotten(format!(
                "{name} has {found} bytes, and a value of {length} bytes begins at byte {offset}"
            )));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
        file.seek(SeekFrom::Start(offset)).map_err(io)?;
        file.take(length).read_to_end(&mut bytes).map_err(io)?;
        let mut checksum = checksum_at(value.segment, offset);
        checksum.update(&bytes);
        match checksum.finalize() {
            crc if crc == value.crc => Ok(bytes),
            crc => Err(RowFault::Rotten(format!(
                "{name} holds another value at byte {offset} than was written: the checksum of the {length} bytes is \
                 {crc:08x} and not {:08x}",
                value.crc
            ))),
        }
    }
}
