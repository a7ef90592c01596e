//! What the store answers about instances: of those with a tail from the tail, of all others from their rows. Every fault
//! names the instance whose rows it was found in. Absent on purpose: waiting until an answer is durable, which `mod` adds
//! where the contract asks for it; here only long values are waited for that are on their way.
//!
//! A reader asks the tails first and keeps commits from being applied until it has read its rows. So it finds an instance
//! as some commit left it: whole in its tail, or, since a tail outlives the commit that folds it, whole in its rows.

use super::disk::Disk;
use super::keys;
use super::rows::{self, Placed, RowFault};
use super::tail::Tail;
use super::unavailable;
use super::view::{self, guarded};
use crate::ids::InstanceNumber;
use crate::store::{InstanceRecord, ReadError, StoredInstance, StoredSignal};
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{PoisonError, RwLockReadGuard};

fn of(instance: InstanceNumber) -> impl Fn(RowFault) -> ReadError {
    move |fault| match fault {
        RowFault::Io(reason) => ReadError::Unavailable { reason },
        RowFault::Rotten(_) | RowFault::Newer(_) => ReadError::Damaged {
            instance,
            reason: fault.reason(),
        },
    }
}

fn between_commits(disk: &Disk) -> RwLockReadGuard<'_, ()> {
    disk.applying.read().unwrap_or_else(PoisonError::into_inner)
}

/// An instance as its tail has it, or, without one, its rows, and whether long values of it are on their way to the disk.
/// `None` if there is none.
fn tail(disk: &Disk, instance: InstanceNumber) -> Result<Option<(Tail, bool)>, RowFault> {
    let tails = disk.tails();
    if let Some(tail) = tails.get(instance)? {
        return Ok(Some((tail.clone(), tails.is_on_its_way(tail))));
    }
    drop(tails);
    let folded = view::folded(&disk.tree, instance)?;
    Ok(folded.map(|folded| (Tail::loaded(folded), false)))
}

/// The same, as some commit left it.
fn whole_tail(disk: &Disk, instance: InstanceNumber) -> Result<Option<(Tail, bool)>, ReadError> {
    let tail = guarded(|| {
        let _whole = between_commits(disk);
        tail(disk, instance)
    });
    tail.map_err(of(instance))
}

/// What a tail that was read refers to is on the disk after this.
fn arrived(disk: &Disk) -> Result<(), ReadError> {
    disk.progress.await_durable().map_err(unavailable)
}

/// How often an instance is read again whose signals were consumed while it was read.
const READ_AGAIN_MAX: usize = 100;

pub(super) fn load(disk: &Disk, instance: InstanceNumber) -> Result<Option<StoredInstance>, ReadError> {
    let mut again = 0;
    loop {
        let Some((tail, signals)) = tail_and_signals(disk, instance)? else {
            return Ok(None);
        };
        let signals = match signals {
            Ok(signals) => signals,
            Err(RowFault::Rotten(_)) if again < READ_AGAIN_MAX => {
                again += 1;
                continue;
            }
            Err(fault) => return Err(of(instance)(fault)),
        };
        let batches = guarded(|| tail.all_batches(disk.source())).map_err(of(instance))?;
        return Ok(Some(StoredInstance {
            record: tail.row.record,
            batches,
            signals,
        }));
    }
}

type Signals = Result<Vec<StoredSignal>, RowFault>;

/// An instance and its signals. What commits may change meanwhile is read between two of them (the rows of a journal never
/// change); if long values are on their way, after these have arrived. Then signals may have been consumed since, which looks
/// like damage until it is read again.
fn tail_and_signals(disk: &Disk, instance: InstanceNumber) -> Result<Option<(Tail, Signals)>, ReadError> {
    let read = guarded(|| {
        let _whole = between_commits(disk);
        let Some((tail, is_on_its_way)) = tail(disk, instance)? else {
            return Ok(None);
        };
        let signals = if is_on_its_way {
            None
        } else {
            Some(tail.all_signals(disk.source())?)
        };
        Ok(Some((tail, signals)))
    });
    Ok(match read.map_err(of(instance))? {
        None => None,
        Some((tail, Some(signals))) => Some((tail, Ok(signals))),
        Some((tail, None)) => {
            arrived(disk)?;
            let signals = guarded(|| tail.all_signals(disk.source()));
            Some((tail, signals))
        }
    })
}

pub(super) fn record(disk: &Disk, instance: InstanceNumber) -> Result<Option<InstanceRecord>, ReadError> {
    Ok(whole_tail(disk, instance)?.map(|(tail, _)| tail.row.record))
}

pub(super) fn last_batch(disk: &Disk, instance: InstanceNumber) -> Result<Option<Vec<u8>>, ReadError> {
    let Some((tail, is_on_its_way)) = whole_tail(disk, instance)? else {
        return Ok(None);
    };
    if is_on_its_way {
        arrived(disk)?;
    }
    guarded(|| tail.last_batch(disk.source()).map(Some)).map_err(of(instance))
}

pub(super) fn find(disk: &Disk, id: &str) -> Result<Option<InstanceRecord>, ReadError> {
    let _whole = between_commits(disk);
    let tails = disk.tails();
    if let Some(number) = tails.number(id) {
        let tail = tails.get(number).map_err(of(number))?;
        return Ok(tail.map(|tail| tail.record().clone()));
    }
    drop(tails);
    let number = guarded(|| view::number(&disk.tree, id));
    let Some(number) = number.map_err(|fault| of(search(disk, id))(fault))? else {
        return Ok(None);
    };
    disk.tails().get(number).map_err(of(number))?;
    let folded = guarded(|| view::bearer(&disk.tree, id, number)).map_err(of(number))?;
    Ok(Some(folded.row.record))
}

/// Whose id this is, by looking through all records: the id's own row is damaged. Zero, which is nobody's number, if none
/// of the records that can be read has it.
fn search(disk: &Disk, id: &str) -> InstanceNumber {
    let mut rows = disk.tree.scan_prefix(keys::RECORDS).filter_map(Result::ok);
    let number = rows.find_map(|(key, value)| {
        let number = InstanceNumber(keys::number(&key, 0)?);
        let folded = guarded(|| view::folded_row(&disk.tree, number, &value)).ok()?;
        (folded.row.record.id == id).then_some(number)
    });
    number.unwrap_or(InstanceNumber(0))
}

pub(super) fn note(disk: &Disk, key: &str) -> Result<Option<Vec<u8>>, ReadError> {
    let key = keys::note(key);
    guarded(|| {
        // A commit may be replacing it, and with it the chunks that it refers to.
        let _whole = between_commits(disk);
        let Some(value) = disk.tree.get(&key)? else {
            return Ok(None);
        };
        view::placed(disk.source(), &Placed::decode(&key, rows::unseal(&key, &value)?)?).map(Some)
    })
    .map_err(of(InstanceNumber(0)))
}

pub(super) fn ready(
    disk: &Disk,
    after: Option<InstanceNumber>,
    limit: usize,
) -> Result<Vec<InstanceNumber>, ReadError> {
    let _whole = between_commits(disk);
    let tails = disk.tails();
    let moving = tails.above(after).filter(|tail| tail.row.ready).map(Tail::number);
    // Whoever looks at one that cannot be read learns why.
    let mut ready: BTreeSet<InstanceNumber> = moving.take(limit).chain(tails.damaged(after).take(limit)).collect();
    let from = after.map_or(Bound::Included(keys::READY.to_vec()), |after| {
        Bound::Excluded(keys::ready(after))
    });
    let mut found = 0;
    each(disk, from, keys::READY, |key, value| {
        let instance = owner(key, 0)?;
        if found < limit && !tails.is_damaged(instance) && tails.get(instance).map_err(of(instance))?.is_none() {
            rows::unseal(key, value).map_err(of(instance))?;
            ready.insert(instance);
            found += 1;
        }
        Ok(found < limit)
    })?;
    Ok(ready.into_iter().take(limit).collect())
}

pub(super) fn due(
    disk: &Disk,
    until: Timestamp,
    after: Option<(Timestamp, InstanceNumber)>,
    limit: usize,
) -> Result<Vec<(Timestamp, InstanceNumber)>, ReadError> {
    let _whole = between_commits(disk);
    let tails = disk.tails();
    let from = after.map_or(Bound::Included(keys::DUE.to_vec()), |(at, instance)| {
        Bound::Excluded(keys::due(at, instance))
    });
    let mut due = Vec::new();
    each(disk, from, keys::DUE, |key, value| {
        let instance = owner(key, 1)?;
        let at = Timestamp::from_micros(keys::number(key, 0).unwrap_or(u64::MAX));
        if at > until || due.len() == limit {
            return Ok(false);
        }
        rows::unseal(key, value).map_err(of(instance))?;
        // The row of an instance that moves again stays until it is folded. One that cannot be read is ready.
        let due_at = |tail: &Tail| tail.due() == Some(at);
        if !tails.is_damaged(instance) && tails.get(instance).map_err(of(instance))?.is_none_or(due_at) {
            due.push((at, instance));
        }
        Ok(due.len() < limit)
    })?;
    Ok(due)
}

pub(super) fn list(disk: &Disk, after: Option<InstanceNumber>, limit: usize) -> Result<Vec<InstanceRecord>, ReadError> {
    let _whole = between_commits(disk);
    let tails = disk.tails();
    let first = tails.above(after).take(limit);
    let mut records: BTreeMap<InstanceNumber, InstanceRecord> =
        first.map(|tail| (tail.number(), tail.record().clone())).collect();
    let from = after.map_or(Bound::Included(keys::RECORDS.to_vec()), |after| {
        Bound::Excluded(keys::record(after))
    });
    let mut found = 0;
    each(disk, from, keys::RECORDS, |key, value| {
        let instance = owner(key, 0)?;
        if found < limit && tails.get(instance).map_err(of(instance))?.is_none() {
            let folded = guarded(|| view::folded_row(&disk.tree, instance, value)).map_err(of(instance))?;
            records.insert(instance, folded.row.record);
        }
        found += 1;
        Ok(found < limit)
    })?;
    if let Some(damaged) = tails.damaged(after).next()
        && (records.len() < limit || records.keys().nth(limit - 1).is_some_and(|last| damaged < *last))
    {
        tails.get(damaged).map_err(of(damaged))?;
    }
    Ok(records.into_values().take(limit).collect())
}

/// Shows `look` the rows of one kind, from a key on, until it has seen enough.
fn each(
    disk: &Disk,
    from: Bound<Vec<u8>>,
    prefix: &[u8],
    mut look: impl FnMut(&[u8], &[u8]) -> Result<bool, ReadError>,
) -> Result<(), ReadError> {
    let mut seen = Ok(());
    let read = guarded(|| {
        for row in disk.tree.range((from, Bound::Unbounded)) {
            let (key, value) = row?;
            if !key.starts_with(prefix) {
                break;
            }
            match look(&key, &value) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    seen = Err(error);
                    break;
                }
            }
        }
        Ok(())
    });
    read.map_err(of(InstanceNumber(0)))?;
    seen
}

fn owner(key: &[u8], place: usize) -> Result<InstanceNumber, ReadError> {
    keys::number(key, place)
        .map(InstanceNumber)
        .ok_or_else(|| of(InstanceNumber(0))(RowFault::rotten(key, "has a short key")))
}
