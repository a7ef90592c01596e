//! What the store answers about instances. Every fault names the instance whose rows it was found in. Absent on purpose:
//! waiting for commits, which `mod` adds where the contract asks for it.

use super::disk::Disk;
use super::keys;
use super::rows::{self, Placed, RowFault};
use super::view::{self, View, guarded};
use crate::ids::InstanceNumber;
use crate::store::{InstanceRecord, ReadError, StoredInstance, StoredSignal};
use crate::time::Timestamp;
use ::sled::IVec;
use std::ops::Bound;
use std::sync::PoisonError;

fn of(instance: InstanceNumber) -> impl Fn(RowFault) -> ReadError {
    move |fault| match fault {
        RowFault::Io(reason) => ReadError::Unavailable { reason },
        RowFault::Rotten(_) | RowFault::Newer(_) => ReadError::Damaged {
            instance,
            reason: fault.reason(),
        },
    }
}

pub(super) fn load(disk: &Disk, instance: InstanceNumber) -> Result<Option<StoredInstance>, ReadError> {
    guarded(|| {
        // What commits may change meanwhile is read between two of them; journal rows never change.
        let between_commits = disk.applying.read().unwrap_or_else(PoisonError::into_inner);
        let Some(record) = known_record(disk, instance)? else {
            return Ok(None);
        };
        let signals = signals(disk, &record)?;
        let count = batch_count(disk, &record)?;
        drop(between_commits);
        let batches = (0..count).map(|index| batch(disk, instance, index));
        Ok(Some(StoredInstance {
            batches: batches.collect::<Result<_, RowFault>>()?,
            record,
            signals,
        }))
    })
    .map_err(of(instance))
}

pub(super) fn record(disk: &Disk, instance: InstanceNumber) -> Result<Option<InstanceRecord>, ReadError> {
    guarded(|| {
        let _between_commits = disk.applying.read().unwrap_or_else(PoisonError::into_inner);
        known_record(disk, instance)
    })
    .map_err(of(instance))
}

pub(super) fn find(disk: &Disk, id: &str) -> Result<Option<InstanceRecord>, ReadError> {
    let _between_commits = disk.applying.read().unwrap_or_else(PoisonError::into_inner);
    let number = guarded(|| view::number(&disk.tree, id));
    let Some(number) = number.map_err(|fault| of(search(disk, id))(fault))? else {
        return Ok(None);
    };
    let record = guarded(|| view::bearer(&disk.tree, id, number));
    record.map(Some).map_err(of(number))
}

/// Whose id this is, by looking through all records: the id's own row is damaged. Zero, which is nobody's number, if none
/// of the records that can be read has it.
fn search(disk: &Disk, id: &str) -> InstanceNumber {
    let mut records = disk.tree.scan_prefix(keys::RECORDS).filter_map(Result::ok);
    let record = records.find_map(|(key, value)| {
        let record = guarded(|| view::record_row(&disk.tree, &key, &value)).ok()?;
        (record.id == id).then_some(record.number)
    });
    record.unwrap_or(InstanceNumber(0))
}

pub(super) fn last_batch(disk: &Disk, instance: InstanceNumber) -> Result<Option<Vec<u8>>, ReadError> {
    guarded(|| {
        let Some(record) = known_record(disk, instance)? else {
            return Ok(None);
        };
        let count = batch_count(disk, &record)?;
        batch(disk, instance, count - 1).map(Some)
    })
    .map_err(of(instance))
}

pub(super) fn note(disk: &Disk, key: &str) -> Result<Option<Vec<u8>>, ReadError> {
    let key = keys::note(key);
    guarded(|| {
        // A commit may be replacing it, and with it the chunks that it refers to.
        let _between_commits = disk.applying.read().unwrap_or_else(PoisonError::into_inner);
        let Some(value) = View::get(&disk.tree, &key)? else {
            return Ok(None);
        };
        view::placed(&disk.tree, &Placed::decode(&key, rows::unseal(&key, &value)?)?).map(Some)
    })
    .map_err(of(InstanceNumber(0)))
}

pub(super) fn ready(
    disk: &Disk,
    after: Option<InstanceNumber>,
    limit: usize,
) -> Result<Vec<InstanceNumber>, ReadError> {
    let from = after.map_or(Bound::Included(keys::READY.to_vec()), |after| {
        Bound::Excluded(keys::ready(after))
    });
    let rows = range(disk, from, keys::READY, limit)?;
    rows.iter()
        .map(|(key, value)| {
            let instance = owner(key, 0)?;
            rows::unseal(key, value).map_err(of(instance))?;
            Ok(instance)
        })
        .collect()
}

pub(super) fn due(
    disk: &Disk,
    until: Timestamp,
    after: Option<(Timestamp, InstanceNumber)>,
    limit: usize,
) -> Result<Vec<(Timestamp, InstanceNumber)>, ReadError> {
    let from = after.map_or(Bound::Included(keys::DUE.to_vec()), |(at, instance)| {
        Bound::Excluded(keys::due(at, instance))
    });
    let mut due = Vec::new();
    for (key, value) in range(disk, from, keys::DUE, limit)? {
        let instance = owner(&key, 1)?;
        let at = Timestamp::from_micros(keys::number(&key, 0).unwrap_or(u64::MAX));
        if at > until {
            break;
        }
        rows::unseal(&key, &value).map_err(of(instance))?;
        due.push((at, instance));
    }
    Ok(due)
}

pub(super) fn list(disk: &Disk, after: Option<InstanceNumber>, limit: usize) -> Result<Vec<InstanceRecord>, ReadError> {
    let from = after.map_or(Bound::Included(keys::RECORDS.to_vec()), |after| {
        Bound::Excluded(keys::record(after))
    });
    let _between_commits = disk.applying.read().unwrap_or_else(PoisonError::into_inner);
    let rows = range(disk, from, keys::RECORDS, limit)?;
    rows.iter()
        .map(|(key, value)| {
            let instance = owner(key, 0)?;
            guarded(|| view::record_row(&disk.tree, key, value)).map_err(of(instance))
        })
        .collect()
}

/// Up to `limit` rows of one kind, from a key on.
fn range(disk: &Disk, from: Bound<Vec<u8>>, prefix: &[u8], limit: usize) -> Result<Vec<(IVec, IVec)>, ReadError> {
    let rows = guarded(|| {
        let rows = disk.tree.range((from, Bound::Unbounded)).take(limit);
        let rows = rows.take_while(|row| row.as_ref().map_or(true, |(key, _)| key.starts_with(prefix)));
        rows.map(|row| Ok(row?)).collect()
    });
    rows.map_err(of(InstanceNumber(0)))
}

fn owner(key: &[u8], place: usize) -> Result<InstanceNumber, ReadError> {
    keys::number(key, place)
        .map(InstanceNumber)
        .ok_or_else(|| of(InstanceNumber(0))(RowFault::rotten(key, "has a short key")))
}

/// The record, which must be there if a journal is.
fn known_record(disk: &Disk, instance: InstanceNumber) -> Result<Option<InstanceRecord>, RowFault> {
    let record = view::record(&disk.tree, instance)?;
    if record.is_none()
        && disk
            .tree
            .scan_prefix(keys::journal(instance))
            .next()
            .transpose()?
            .is_some()
    {
        return Err(RowFault::rotten(&keys::record(instance), "is missing"));
    }
    Ok(record)
}

/// How many batches the journal has; at least as many as the record says, and at least one.
fn batch_count(disk: &Disk, record: &InstanceRecord) -> Result<u64, RowFault> {
    let last = disk
        .tree
        .scan_prefix(keys::journal(record.number))
        .next_back()
        .transpose()?;
    let count = last
        .and_then(|(key, _)| keys::number(&key, 1))
        .map_or(0, |last| last.saturating_add(1));
    if count == 0 || count < record.batches {
        return Err(RowFault::rotten(&keys::batch(record.number, count), "is missing"));
    }
    Ok(count)
}

fn batch(disk: &Disk, instance: InstanceNumber, index: u64) -> Result<Vec<u8>, RowFault> {
    let key = keys::batch(instance, index);
    let value = View::get(&disk.tree, &key)?.ok_or_else(|| RowFault::rotten(&key, "is missing"))?;
    view::placed(&disk.tree, &Placed::decode(&key, rows::unseal(&key, &value)?)?)
}

fn signals(disk: &Disk, record: &InstanceRecord) -> Result<Vec<StoredSignal>, RowFault> {
    if record.signals == 0 {
        return Ok(Vec::new());
    }
    let rows = View::scan(&disk.tree, &keys::signals(record.number))?;
    rows.iter()
        .map(|(key, value)| {
            let (header, payload) = rows::signal(key, rows::unseal(key, value)?)?;
            rows::stored_signal(key, header, view::placed(&disk.tree, &payload)?)
        })
        .collect()
}
