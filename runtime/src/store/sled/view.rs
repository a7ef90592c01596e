//! Reads of rows as they are in the tree. Absent on purpose: tails, and what waits for what.

use super::keys;
use super::rows::{self, Chunks, Far, InstanceRow, Placed, RowFault};
use super::values::Reader;
use crate::ids::InstanceNumber;
use crate::store::{InstanceRecord, StoredSignal};
use ::sled::{IVec, Tree};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs something that calls into sled, which panics where it finds damage.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, RowFault>) -> Result<T, RowFault> {
    // What the closure leaves half done is thrown away by every caller, or fails the store.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("without a message");
        Err(RowFault::Rotten(format!("sled panicked: {message}")))
    })
}

pub(super) fn scan(tree: &Tree, prefix: &[u8]) -> Result<Vec<(IVec, IVec)>, RowFault> {
    tree.scan_prefix(prefix).map(|row| Ok(row?)).collect()
}

/// Where long values are read from.
#[derive(Clone, Copy)]
pub(super) struct Source<'d> {
    pub(super) tree: &'d Tree,
    pub(super) values: &'d Reader,
}

/// What the rows of an instance say of it.
pub(super) struct Folded {
    pub(super) row: InstanceRow,
    /// The end of the journal, packed.
    pub(super) journal: Vec<u8>,
    /// Where the row's value is, if it is long.
    pub(super) far: Option<Far>,
}

/// The rows of an instance; a journal without a record is damage.
pub(super) fn folded(tree: &Tree, instance: InstanceNumber) -> Result<Option<Folded>, RowFault> {
    let key = keys::record(instance);
    match tree.get(&key)? {
        Some(value) => folded_row(tree, instance, &value).map(Some),
        None if tree.scan_prefix(keys::journal(instance)).next().transpose()?.is_none() => Ok(None),
        None => Err(RowFault::rotten(&key, "is missing")),
    }
}

/// The same, of a record's row that was found.
pub(super) fn folded_row(tree: &Tree, instance: InstanceNumber, value: &[u8]) -> Result<Folded, RowFault> {
    let key = keys::record(instance);
    let (version, body) = rows::unseal_any(&key, value)?;
    let place = Placed::decode(&key, body)?;
    let far = place.far();
    let gathered;
    let body = match place {
        Placed::Inline(body) => body,
        Placed::Chunked(chunks) => {
            gathered = gather(tree, chunks)?;
            &gathered
        }
        Placed::Filed(_) => return Err(RowFault::rotten(&key, "is in a file, where no record belongs")),
    };
    let (row, journal) = if version == 1 {
        (row_of_version_1(tree, rows::instance_record(&key, body)?)?, Vec::new())
    } else {
        let (row, journal) = InstanceRow::read(&key, body)?;
        (row, journal.to_vec())
    };
    Ok(Folded { row, journal, far })
}

/// Version 1 has the record alone, a row for each batch, and finds the rest in other rows.
fn row_of_version_1(tree: &Tree, record: InstanceRecord) -> Result<InstanceRow, RowFault> {
    let number = record.number;
    let last = tree.scan_prefix(keys::journal(number)).next_back().transpose()?;
    let batches = last
        .and_then(|(key, _)| keys::number(&key, 1))
        .map_or(0, |last| last.saturating_add(1));
    if batches == 0 || batches < record.batches {
        return Err(RowFault::rotten(&keys::batch(number, batches), "is missing"));
    }
    Ok(InstanceRow {
        entries: 0,
        batches,
        first: batches,
        stored: scan(tree, &keys::signals(number))?.len() as u64,
        ready: tree.contains_key(keys::ready(number))?,
        record,
    })
}

/// The number of the instance with this id, if it has rows.
pub(super) fn number(tree: &Tree, id: &str) -> Result<Option<InstanceNumber>, RowFault> {
    let key = keys::id(id);
    let Some(value) = tree.get(&key)? else {
        return Ok(None);
    };
    let number = rows::decode(&key, rows::unseal(&key, &value)?)?;
    Ok(Some(InstanceNumber(number)))
}

/// The rows that the row of this id points to.
pub(super) fn bearer(tree: &Tree, id: &str, number: InstanceNumber) -> Result<Folded, RowFault> {
    match folded(tree, number)? {
        Some(folded) if folded.row.record.id == id => Ok(folded),
        Some(_) => Err(RowFault::rotten(
            &keys::record(number),
            "has another id than points to it",
        )),
        None => Err(RowFault::rotten(&keys::record(number), "is missing")),
    }
}

/// The batches that are in journal rows, which must be this many.
pub(super) fn batches(source: Source<'_>, instance: InstanceNumber, count: u64) -> Result<Vec<Vec<u8>>, RowFault> {
    let mut batches = Vec::new();
    if count == 0 {
        return Ok(batches);
    }
    for row in source
        .tree
        .range(keys::batch(instance, 0)..keys::batch(instance, count))
    {
        let (key, value) = row?;
        if key != keys::batch(instance, batches.len() as u64) {
            break;
        }
        for value in unpack_row(&key, &value)? {
            batches.push(placed(source, &value)?);
        }
    }
    if batches.len() as u64 == count {
        Ok(batches)
    } else {
        let missing = keys::batch(instance, batches.len() as u64);
        Err(RowFault::rotten(&missing, "is missing"))
    }
}

/// The last of the batches that are in journal rows, which are this many.
pub(super) fn last_batch(source: Source<'_>, instance: InstanceNumber, count: u64) -> Result<Vec<u8>, RowFault> {
    let missing = || RowFault::rotten(&keys::batch(instance, count.saturating_sub(1)), "is missing");
    let mut rows = source
        .tree
        .range(keys::batch(instance, 0)..keys::batch(instance, count));
    let (key, value) = rows.next_back().transpose()?.ok_or_else(missing)?;
    let values = unpack_row(&key, &value)?;
    let first = keys::number(&key, 1).unwrap_or(u64::MAX);
    match values.last() {
        Some(last) if first.saturating_add(values.len() as u64) == count => placed(source, last),
        Some(_) | None => Err(missing()),
    }
}

fn unpack_row<'v>(key: &'v [u8], value: &'v [u8]) -> Result<Vec<Placed<'v>>, RowFault> {
    match rows::unseal_any(key, value)? {
        (1, body) => Ok(vec![Placed::decode(key, body)?]),
        (_, body) => rows::unpack(key, body).collect(),
    }
}

/// The signals that have rows and that are wanted: the chunks of others may be gone.
pub(super) fn signals(
    source: Source<'_>,
    instance: InstanceNumber,
    is_wanted: impl Fn(u64) -> bool,
) -> Result<Vec<StoredSignal>, RowFault> {
    let rows = scan(source.tree, &keys::signals(instance))?;
    rows.iter()
        .filter(|(key, _)| keys::number(key, 1).is_none_or(&is_wanted))
        .map(|(key, value)| {
            let (header, payload) = rows::signal(key, rows::unseal(key, value)?)?;
            rows::stored_signal(key, header, placed(source, &payload)?)
        })
        .collect()
}

/// The bytes of a value, wherever they are.
pub(super) fn placed(source: Source<'_>, value: &Placed<'_>) -> Result<Vec<u8>, RowFault> {
    match value {
        Placed::Inline(bytes) => Ok(bytes.to_vec()),
        Placed::Chunked(chunks) => gather(source.tree, *chunks),
        Placed::Filed(filed) => source.values.read(*filed),
    }
}

fn gather(tree: &Tree, chunks: Chunks) -> Result<Vec<u8>, RowFault> {
    let mut bytes = Vec::new();
    for piece in 0..chunks.pieces() {
        let key = keys::chunk(chunks.group, chunks.value, piece);
        let row = tree.get(&key)?.ok_or_else(|| RowFault::rotten(&key, "is missing"))?;
        bytes.extend_from_slice(rows::unseal(&key, &row)?);
    }
    if bytes.len() as u64 == chunks.length {
        Ok(bytes)
    } else {
        let key = keys::chunk(chunks.group, chunks.value, 0);
        Err(RowFault::rotten(&key, "has another length than was written"))
    }
}
