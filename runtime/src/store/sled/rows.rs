//! The bytes of the rows. Every value is `version (1 byte) | crc32 of key, version and body (4 bytes) | body`, at most
//! [`VALUE_BYTES_MAX`] long, so that a row that rotted, or that sits under another key, is recognised.
//!
//! Formats only grow: a new body is a new version, and the golden tests pin the old ones. Version 1 of a record and of a
//! journal row is what the format of folders 1 has; it is still read. Absent on purpose: which rows there are (`keys`) and
//! when they are written (`judge`, `fold`).

use super::keys;
use super::values::{Filed, Position};
use crate::payload;
use crate::store::{InstanceRecord, StoredSignal};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize, Serializer};

/// sled moves pages above a quarter of a segment into files that it never syncs. Values of at most this size stay clear of that.
pub(super) const VALUE_BYTES_MAX: usize = 4_000;
/// The newest version of the bytes of any row: of the head, of records and of journal rows. All other kinds have version 1.
pub(super) const VERSION: u8 = 2;
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

/// The newest version of the rows of this kind.
fn version_of(key: &[u8]) -> u8 {
    match key.first() {
        Some(b'c' | b'h' | b'r') => VERSION,
        Some(_) | None => 1,
    }
}

/// The value of a row with this body.
pub(super) fn seal(key: &[u8], body: &[u8]) -> Vec<u8> {
    let version = version_of(key);
    let mut value = Vec::with_capacity(SEAL_BYTES + body.len());
    value.push(version);
    value.extend_from_slice(&checksum(key, version, body));
    value.extend_from_slice(body);
    value
}

/// The body of a row of which there is only one version.
pub(super) fn unseal<'v>(key: &[u8], value: &'v [u8]) -> Result<&'v [u8], RowFault> {
    unseal_any(key, value).map(|(_, body)| body)
}

/// The version and the body of a row.
pub(super) fn unseal_any<'v>(key: &[u8], value: &'v [u8]) -> Result<(u8, &'v [u8]), RowFault> {
    let (version, sum, body) = match value {
        [version, a, b, c, d, body @ ..] => (*version, [*a, *b, *c, *d], body),
        _ => return Err(RowFault::rotten(key, "is cut short")),
    };
    if sum != checksum(key, version, body) {
        return Err(RowFault::rotten(key, "fails its checksum"));
    }
    if (1..=version_of(key)).contains(&version) {
        Ok((version, body))
    } else {
        Err(RowFault::Newer(version))
    }
}

/// The state that every commit advances.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    /// The number of the last commit.
    pub(super) group: u64,
    /// A checksum over the rows of that commit and the chain before it: tells two histories of one length apart.
    pub(super) chain: u32,
    /// The present owner's epoch.
    pub(super) epoch: u64,
    /// The number of the next instance.
    pub(super) next_number: u64,
    /// Which page slots hold entries that count and are in no other row: bit n of byte n / 8, lowest first.
    pub(super) pages: Vec<u8>,
    /// Behind the last long value that has a place in a file.
    pub(super) values: Position,
}

/// A head as version 1 wrote it, without pages.
#[derive(Deserialize)]
struct HeadV1 {
    group: u64,
    chain: u32,
    epoch: u64,
    next_number: u64,
}

impl Head {
    /// Before the first commit.
    pub(super) const NEW: Head = Head {
        group: 0,
        chain: 0,
        epoch: 0,
        next_number: 1,
        pages: Vec::new(),
        values: Position::START,
    };

    pub(super) fn read(value: &[u8]) -> Result<Self, RowFault> {
        match unseal_any(keys::HEAD, value)? {
            (1, body) => {
                let HeadV1 {
                    group,
                    chain,
                    epoch,
                    next_number,
                } = decode(keys::HEAD, body)?;
                Ok(Self {
                    group,
                    chain,
                    epoch,
                    next_number,
                    pages: Vec::new(),
                    values: Position::START,
                })
            }
            (_, body) => decode(keys::HEAD, body),
        }
    }
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

/// A value of any length: where it is wanted, or, if it is too long, in chunk rows or in a file.
///
/// A row that is one such value ends with [`Placed::encode_to`]; entries and packed journals hold the serialised form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Placed<'v> {
    Inline(#[serde(borrow, serialize_with = "as_bytes")] &'v [u8]),
    Chunked(Chunks),
    Filed(Filed),
}

/// Where the bytes of a long value are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Far {
    Chunked(Chunks),
    Filed(Filed),
}

/// Slices are serialised element by element otherwise.
fn as_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}

/// How many bytes of a value fit in its row beside `header` bytes.
pub(super) fn room(header: usize) -> usize {
    VALUE_BYTES_MAX.saturating_sub(SEAL_BYTES + 1 + header)
}

impl<'v> Placed<'v> {
    pub(super) fn far(&self) -> Option<Far> {
        match self {
            Placed::Inline(_) => None,
            Placed::Chunked(chunks) => Some(Far::Chunked(*chunks)),
            Placed::Filed(filed) => Some(Far::Filed(*filed)),
        }
    }

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
            Placed::Filed(filed) => {
                body.push(2);
                body.extend_from_slice(&encode(filed));
            }
        }
    }

    pub(super) fn decode(key: &[u8], body: &'v [u8]) -> Result<Self, RowFault> {
        match body {
            [0, bytes @ ..] => Ok(Placed::Inline(bytes)),
            [1, bytes @ ..] => Ok(Placed::Chunked(decode(key, bytes)?)),
            [2, bytes @ ..] => Ok(Placed::Filed(decode(key, bytes)?)),
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
    let (header, rest) = take(key, body)?;
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

/// What the row of an instance holds before the end of its journal. Version 1 holds the record alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InstanceRow<Record = InstanceRecord> {
    pub(super) record: Record,
    /// How many entries are folded into the rows: what pages have of the instance counts from this place on.
    pub(super) entries: u64,
    /// How many batches the journal has.
    pub(super) batches: u64,
    /// How many of them are in journal rows. The others follow this header, packed.
    pub(super) first: u64,
    /// How many signal rows there are.
    pub(super) stored: u64,
    /// Whether there is a ready row.
    pub(super) ready: bool,
}

impl InstanceRow {
    /// Of a row of version 2 and the packed end of the journal.
    pub(super) fn read<'v>(key: &[u8], body: &'v [u8]) -> Result<(Self, &'v [u8]), RowFault> {
        let (row, journal): (InstanceRow, _) = take(key, body)?;
        check_owner(key, &row.record)?;
        Ok((row, journal))
    }
}

/// A record of version 1.
pub(super) fn instance_record(key: &[u8], bytes: &[u8]) -> Result<InstanceRecord, RowFault> {
    let record: InstanceRecord = decode(key, bytes)?;
    check_owner(key, &record)?;
    Ok(record)
}

/// Bytes belong to the key that they were found under.
fn check_owner(key: &[u8], record: &InstanceRecord) -> Result<(), RowFault> {
    if keys::record(record.number) == key {
        Ok(())
    } else {
        Err(RowFault::rotten(key, "belongs to another instance"))
    }
}

/// The values of a packed row, in order.
pub(super) fn unpack<'v>(key: &'v [u8], mut packed: &'v [u8]) -> impl Iterator<Item = Result<Placed<'v>, RowFault>> {
    std::iter::from_fn(move || {
        if packed.is_empty() {
            return None;
        }
        let taken = take(key, packed);
        // What follows a value that cannot be read cannot be read either.
        packed = taken.as_ref().map_or(&[][..], |(_, rest)| *rest);
        Some(taken.map(|(value, _)| value))
    })
}

/// Adds a value to a packed row.
pub(super) fn append<T: Serialize>(packed: &mut Vec<u8>, value: &T) {
    payload::append(packed, value).expect("plain structs of numbers and strings always encode");
}

/// Reads a value off the front of a row's body.
pub(super) fn take<'v, T: Deserialize<'v>>(key: &[u8], body: &'v [u8]) -> Result<(T, &'v [u8]), RowFault> {
    postcard::take_from_bytes(body).map_err(|error| RowFault::rotten(key, &format!("cannot be read: {error}")))
}

pub(super) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    append(&mut bytes, value);
    bytes
}

pub(super) fn decode<'v, T: Deserialize<'v>>(key: &[u8], bytes: &'v [u8]) -> Result<T, RowFault> {
    match take(key, bytes)? {
        (value, []) => Ok(value),
        _ => Err(RowFault::rotten(key, "is too long")),
    }
}
