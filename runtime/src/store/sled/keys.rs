//! The keys of the rows: one tag byte, then fixed-length big-endian numbers, so that the order of keys is the order of
//! numbers. Absent on purpose: what the rows hold.

use crate::ids::InstanceNumber;
use crate::time::Timestamp;

pub(super) const HEAD: &[u8] = b"c";
pub(super) const CHUNKS: &[u8] = b"x";
pub(super) const GARBAGE: &[u8] = b"g";
pub(super) const RECORDS: &[u8] = b"r";
pub(super) const DEAD: &[u8] = b"v";
pub(super) const READY: &[u8] = b"y";
pub(super) const DUE: &[u8] = b"t";

fn key(tag: u8, numbers: &[u64]) -> Vec<u8> {
    let mut key = Vec::with_capacity(1 + 8 * numbers.len());
    key.push(tag);
    for number in numbers {
        key.extend_from_slice(&number.to_be_bytes());
    }
    key
}

pub(super) fn id(id: &str) -> Vec<u8> {
    [b"i", id.as_bytes()].concat()
}

pub(super) fn note(key: &str) -> Vec<u8> {
    [b"n", key.as_bytes()].concat()
}

pub(super) fn record(instance: InstanceNumber) -> Vec<u8> {
    key(b'r', &[instance.0])
}

pub(super) fn ready(instance: InstanceNumber) -> Vec<u8> {
    key(b'y', &[instance.0])
}

pub(super) fn due(at: Timestamp, instance: InstanceNumber) -> Vec<u8> {
    key(b't', &[at.as_micros(), instance.0])
}

pub(super) fn journal(instance: InstanceNumber) -> Vec<u8> {
    key(b'h', &[instance.0])
}

pub(super) fn batch(instance: InstanceNumber, index: u64) -> Vec<u8> {
    key(b'h', &[instance.0, index])
}

/// A place for a page of entries, which is used again and again.
pub(super) fn page(slot: u64) -> Vec<u8> {
    key(b'p', &[slot])
}

pub(super) fn signals(instance: InstanceNumber) -> Vec<u8> {
    key(b's', &[instance.0])
}

pub(super) fn signal(instance: InstanceNumber, sequence: u64) -> Vec<u8> {
    key(b's', &[instance.0, sequence])
}

pub(super) fn accepted(instance: InstanceNumber, dedup_key: &str) -> Vec<u8> {
    let mut row = key(b'd', &[instance.0]);
    row.extend_from_slice(dedup_key.as_bytes());
    row
}

/// The pieces of one long value, in order.
pub(super) fn chunk(group: u64, value: u64, piece: u64) -> Vec<u8> {
    key(b'x', &[group, value, piece])
}

/// The first key of the chunks that commits after `group` wrote.
pub(super) fn chunks_after(group: u64) -> Vec<u8> {
    key(b'x', &[group.saturating_add(1)])
}

pub(super) fn garbage(group: u64, value: u64) -> Vec<u8> {
    key(b'g', &[group, value])
}

/// How much of a file of long values is given up.
pub(super) fn dead(segment: u64) -> Vec<u8> {
    key(b'v', &[segment])
}

/// The number at `place` (0, 1, …) of a key; `None` if the key is too short to be one of ours.
pub(super) fn number(key: &[u8], place: usize) -> Option<u64> {
    let from = place.checked_mul(8)?.checked_add(1)?;
    let bytes = key.get(from..from.checked_add(8)?)?;
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}

/// A key for people: what kind of row it is and its numbers.
pub(super) fn describe(key: &[u8]) -> String {
    let kind = match key.first() {
        Some(b'c') => "commit head",
        Some(b'd') => "deduplication row",
        Some(b'g') => "row of deleted chunks",
        Some(b'h') => "journal batch",
        Some(b'i') => return named("id row of", key),
        Some(b'n') => return named("note", key),
        Some(b'p') => "page of entries",
        Some(b'r') => "record",
        Some(b's') => "signal",
        Some(b't') => "timer row",
        Some(b'v') => "row of a file of values",
        Some(b'x') => "chunk",
        Some(b'y') => "ready row",
        Some(_) | None => "row of no known kind",
    };
    let numbers = (0..3).map_while(|place| number(key, place));
    numbers.fold(kind.to_owned(), |text, number| format!("{text} {number}"))
}

fn named(kind: &str, key: &[u8]) -> String {
    let name = String::from_utf8_lossy(key.get(1..).unwrap_or_default());
    format!("{kind} `{name}`")
}
