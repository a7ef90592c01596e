//! The bytes of the rows. Every value is `version (1 byte) | crc32 of key, version and body (4 bytes) | body`, at most
//! [`VALUE_BYTES_MAX`] long, so that a row that rotted, or that sits under another key, is recognised.
//!
//! Formats only grow: a new body is a new version, and the golden tests pin the old ones. Absent on purpose: which rows
//! there are (`keys`) and when they are written (`judge`).

use super::keys;
use crate::store::{InstanceRecord, StoredSignal};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// sled moves pages above a quarter of a segment into files that it never syncs. Values of at most this size stay clear of that.
pub(super) const VALUE_BYTES_MAX: usize = 4_000;
/// The newest version of the bytes of any row.
pub(super) const VERSION: u8 = 1;
const SEAL_BYTES: usize = 5;
/// How much of a long value one chunk row takes.
pub(super) const CHUNK_BYTES: usize = VALUE_BYTES_MAX - SEAL_BYTES;

/// Why a row could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RowFault {
    /// The bytes are not what was written.
    Rotten(String),
    /// A later version wrote the row.
    Newer(u8),
    /// The operating system refused; the row may be fine.
    Io(String),
}

impl RowFault {
    pub(super) fn rotten(key: &[u8], what: &str) -> Self {
        Self::Rotten(format!("{} {what}", keys::describe(key)))
    }

    pub(super) fn reason(self) -> String {
        match self {
            RowFault::Rotten(reason) | RowFault::Io(reason) => reason,
            RowFault::Newer(version) => format!("a row has format {version}, and this version reads up to {VERSION}"),
        }
    }
}

impl From<::sled::Error> for RowFault {
    fn from(error: ::sled::Error) -> Self {
        match error {
            ::sled::Error::Io(io) => RowFault::Io(io.to_string()),
            ::sled::Error::Corruption { .. }
            | ::sled::Error::CollectionNotFound(_)
            | ::sled::Error::Unsupported(_)
            | ::sled::Error::ReportableBug(_) => RowFault::Rotten(error.to_string()),
        }
    }
}

fn checksum(key: &[u8], version: u8, body: &[u8]) -> [u8; 4] {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(&[version]);
    hasher.update(body);
    hasher.finalize().to_le_bytes()
}

/// The value of a row with this body.
pub(super) fn seal(key: &[u8], body: &[u8]) -> Vec<u8> {
    let mut value = Vec::with_capacity(SEAL_BYTES + body.len());
    value.push(VERSION);
    value.extend_from_slice(&checksum(key, VERSION, body));
    value.extend_from_slice(body);
    value
}

/// The body of a row.
pub(super) fn unseal<'v>(key: &[u8], value: &'v [u8]) -> Result<&'v [u8], RowFault> {
    let (version, sum, body) = match value {
        [version, a, b, c, d, body @ ..] => (*version, [*a, *b, *c, *d], body),
        _ => return Err(RowFault::rotten(key, "is cut short")),
    };
    if sum != checksum(key, version, body) {
        return Err(RowFault::rotten(key, "fails its checksum"));
    }
    if version != VERSION {
        return Err(RowFault::Newer(version));
    }
    Ok(body)
}

/// The state that every commit advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    /// The number of the last commit.
    pub(super) group: u64,
    /// A checksum over the rows of that commit and the chain before it: tells two histories of one length apart.
    pub(super) chain: u32,
    /// The present owner's epoch.
    pub(super) epoch: u64,
    /// The number of the next instance.
    pub(super) next_number: u64,
}

impl Head {
    /// Before the first commit.
    pub(super) const NEW: Head = Head {
        group: 0,
        chain: 0,
        epoch: 0,
        next_number: 1,
    };
}

/// Where a long value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Chunks {
    /// The commit that wrote it.
    pub(super) group: u64,
    /// Its number within that commit.
    pub(super) value: u64,
    /// Its length in bytes.
    pub(super) length: u64,
}

impl Chunks {
    pub(super) fn pieces(self) -> u64 {
        self.length.div_ceil(CHUNK_BYTES as u64)
    }
}

/// A value of any length: in its row, or, if it is too long, in chunk rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Placed<'v> {
    Inline(&'v [u8]),
    Chunked(Chunks),
}

/// How many bytes of a value fit in its row beside `header` bytes.
pub(super) fn room(header: usize) -> usize {
    VALUE_BYTES_MAX.saturating_sub(SEAL_BYTES + 1 + header)
}

impl<'v> Placed<'v> {
    pub(super) fn encode_to(&self, body: &mut Vec<u8>) {
        match self {
            Placed::Inline(bytes) => {
                body.push(0);
                body.extend_from_slice(bytes);
            }
            Placed::Chunked(chunks) => {
                body.push(1);
                body.extend_from_slice(&encode(chunks));
            }
        }
    }

    pub(super) fn decode(key: &[u8], body: &'v [u8]) -> Result<Self, RowFault> {
        match body {
            [0, bytes @ ..] => Ok(Placed::Inline(bytes)),
            [1, bytes @ ..] => Ok(Placed::Chunked(decode(key, bytes)?)),
            _ => Err(RowFault::rotten(key, "has no known form")),
        }
    }
}

/// A signal row's body before its payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SignalHeader {
    pub(super) name: String,
    pub(super) at: Timestamp,
}

/// Splits a signal row's body.
pub(super) fn signal<'v>(key: &[u8], body: &'v [u8]) -> Result<(SignalHeader, Placed<'v>), RowFault> {
    let (header, rest) =
        postcard::take_from_bytes(body).map_err(|error| RowFault::rotten(key, &format!("cannot be read: {error}")))?;
    Ok((header, Placed::decode(key, rest)?))
}

/// The signal of a row and its payload.
pub(super) fn stored_signal(key: &[u8], header: SignalHeader, payload: Vec<u8>) -> Result<StoredSignal, RowFault> {
    let sequence = keys::number(key, 1).ok_or_else(|| RowFault::rotten(key, "has a short key"))?;
    Ok(StoredSignal {
        sequence,
        name: header.name,
        payload,
        at: header.at,
    })
}

/// A record's bytes, checked against the key that they were found under.
pub(super) fn instance_record(key: &[u8], bytes: &[u8]) -> Result<InstanceRecord, RowFault> {
    let record: InstanceRecord = decode(key, bytes)?;
    if keys::record(record.number) == key {
        Ok(record)
    } else {
        Err(RowFault::rotten(key, "belongs to another instance"))
    }
}

pub(super) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_stdvec(value).expect("plain structs of numbers and strings always encode")
}

pub(super) fn decode<'v, T: Deserialize<'v>>(key: &[u8], bytes: &'v [u8]) -> Result<T, RowFault> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok(_) => Err(RowFault::rotten(key, "is too long")),
        Err(error) => Err(RowFault::rotten(key, &format!("cannot be read: {error}"))),
    }
}
