//! Reads that are the same over the tree and over a group that is being judged. Absent on purpose: what waits for what.

use super::keys;
use super::rows::{self, Chunks, Placed, RowFault};
use crate::ids::InstanceNumber;
use crate::store::InstanceRecord;
use ::sled::IVec;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Somewhere to read rows from.
pub(super) trait View {
    fn get(&self, key: &[u8]) -> Result<Option<IVec>, RowFault>;
    fn scan(&self, prefix: &[u8]) -> Result<Vec<(IVec, IVec)>, RowFault>;
}

impl View for ::sled::Tree {
    fn get(&self, key: &[u8]) -> Result<Option<IVec>, RowFault> {
        Ok(::sled::Tree::get(self, key)?)
    }

    fn scan(&self, prefix: &[u8]) -> Result<Vec<(IVec, IVec)>, RowFault> {
        self.scan_prefix(prefix).map(|row| Ok(row?)).collect()
    }
}

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

/// The record of an instance.
pub(super) fn record(view: &impl View, instance: InstanceNumber) -> Result<Option<InstanceRecord>, RowFault> {
    let key = keys::record(instance);
    view.get(&key)?.map(|value| record_row(view, &key, &value)).transpose()
}

/// The record of a row that was found.
pub(super) fn record_row(view: &impl View, key: &[u8], value: &[u8]) -> Result<InstanceRecord, RowFault> {
    let bytes = placed(view, &Placed::decode(key, rows::unseal(key, value)?)?)?;
    rows::instance_record(key, &bytes)
}

/// The record of the instance with this id.
pub(super) fn find(view: &impl View, id: &str) -> Result<Option<InstanceRecord>, RowFault> {
    match number(view, id)? {
        Some(number) => bearer(view, id, number).map(Some),
        None => Ok(None),
    }
}

/// The number of the instance with this id.
pub(super) fn number(view: &impl View, id: &str) -> Result<Option<InstanceNumber>, RowFault> {
    let key = keys::id(id);
    let Some(value) = view.get(&key)? else {
        return Ok(None);
    };
    let number = rows::decode(&key, rows::unseal(&key, &value)?)?;
    Ok(Some(InstanceNumber(number)))
}

/// The record that the row of this id points to.
pub(super) fn bearer(view: &impl View, id: &str, number: InstanceNumber) -> Result<InstanceRecord, RowFault> {
    match record(view, number)? {
        Some(record) if record.id == id => Ok(record),
        Some(_) => Err(RowFault::rotten(
            &keys::record(number),
            "has another id than points to it",
        )),
        None => Err(RowFault::rotten(&keys::record(number), "is missing")),
    }
}

/// The bytes of a value, gathered from its chunks if it is long.
pub(super) fn placed(view: &impl View, value: &Placed<'_>) -> Result<Vec<u8>, RowFault> {
    let chunks = match value {
        Placed::Inline(bytes) => return Ok(bytes.to_vec()),
        Placed::Chunked(chunks) => chunks,
    };
    gather(view, *chunks)
}

fn gather(view: &impl View, chunks: Chunks) -> Result<Vec<u8>, RowFault> {
    let mut bytes = Vec::new();
    for piece in 0..chunks.pieces() {
        let key = keys::chunk(chunks.group, chunks.value, piece);
        let row = view.get(&key)?.ok_or_else(|| RowFault::rotten(&key, "is missing"))?;
        bytes.extend_from_slice(rows::unseal(&key, &row)?);
    }
    if bytes.len() as u64 == chunks.length {
        Ok(bytes)
    } else {
        let key = keys::chunk(chunks.group, chunks.value, 0);
        Err(RowFault::rotten(&key, "has another length than was written"))
    }
}
