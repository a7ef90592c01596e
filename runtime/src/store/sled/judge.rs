//! Judges the writes of a group one after another against the rows that those before it leave. Absent on purpose: disks,
//! threads, epochs. A write that is refused, or that meets damage, leaves no trace.

use super::draft::Draft;
use super::keys;
use super::rows::{self, Placed, RowFault, SignalHeader};
use super::view::{self, View, guarded};
use crate::ids::InstanceNumber;
use crate::store::{Cancelled, InstanceRecord, RecordChange, Signalled, Started, Status, Write, Written, rules};
use crate::time::Timestamp;

/// Answers every write of a group. `Err` says why the disk could not be read; nothing of the group may be written then.
pub(super) fn group(draft: &mut Draft<'_>, writes: &[Write]) -> Result<Vec<Written>, String> {
    let mut answers = Vec::with_capacity(writes.len());
    for write in writes {
        if let Some(reason) = rules::name_fault(write) {
            answers.push(Written::Refused { reason });
            continue;
        }
        let answer = guarded(|| judge(draft, write));
        match answer {
            Ok(answer) => {
                draft.keep();
                answers.push(answer);
            }
            Err(RowFault::Io(reason)) => return Err(reason),
            Err(fault @ (RowFault::Rotten(_) | RowFault::Newer(_))) => {
                draft.take_back();
                let reason = format!("{} is damaged in the store: {}", target(write), fault.reason());
                answers.push(Written::Refused { reason });
            }
        }
    }
    Ok(answers)
}

fn target(write: &Write) -> String {
    match write {
        Write::Start { id, .. } | Write::Signal { id, .. } | Write::Cancel { id, .. } => format!("instance `{id}`"),
        Write::Turn { instance, .. } => format!("instance {instance}"),
        Write::Note { key, .. } => format!("note `{key}`"),
    }
}

fn judge(draft: &mut Draft<'_>, write: &Write) -> Result<Written, RowFault> {
    match write {
        Write::Start {
            id,
            workflow,
            version,
            input_digest,
            batch,
            at,
        } => {
            let record = InstanceRecord::accepted(InstanceNumber(0), id, workflow, *version, *input_digest, *at);
            start(draft, record, batch).map(Written::Start)
        }
        Write::Turn {
            instance,
            expected_batches,
            batch,
            change,
            consumed_signals,
            at,
        } => {
            let turn = Turn {
                expected_batches: *expected_batches,
                batch: batch.as_deref(),
                change: change.as_ref(),
                consumed_signals,
                at: *at,
            };
            turn.judge(draft, *instance).map(Written::Turn)
        }
        Write::Signal {
            id,
            name,
            payload,
            dedup_key,
            at,
        } => signal(draft, id, name, payload, dedup_key.as_deref(), *at).map(Written::Signal),
        Write::Cancel { id, reason, at } => cancel(draft, id, reason, *at).map(Written::Cancel),
        Write::Note { key, value } => replace(draft, keys::note(key), value).map(|()| Written::Noted),
    }
}

fn start(draft: &mut Draft<'_>, mut record: InstanceRecord, batch: &[u8]) -> Result<Started, RowFault> {
    if let Some(existing) = view::find(draft, &record.id)? {
        return Ok(Started::Existing(Box::new(existing)));
    }
    let number = InstanceNumber(draft.take_number());
    record.number = number;
    draft.put(keys::id(&record.id), &rows::encode(&number.0));
    draft.put_placed(keys::batch(number, 0), Vec::new(), batch);
    draft.put_placed(keys::record(number), Vec::new(), &rows::encode(&record));
    draft.put(keys::ready(number), &[]);
    Ok(Started::Created(number))
}

struct Turn<'w> {
    expected_batches: u64,
    batch: Option<&'w [u8]>,
    change: Option<&'w RecordChange>,
    consumed_signals: &'w [u64],
    at: Timestamp,
}

impl Turn<'_> {
    fn judge(&self, draft: &mut Draft<'_>, instance: InstanceNumber) -> Result<bool, RowFault> {
        let Some(before) = view::record(draft, instance)? else {
            return Ok(false);
        };
        if before.status.is_terminal() || !ends_at(draft, &before, self.expected_batches)? {
            return Ok(false);
        }
        for sequence in self.consumed_signals {
            consume(draft, instance, *sequence)?;
        }
        let mut batches = self.expected_batches;
        if let Some(batch) = self.batch {
            draft.put_placed(keys::batch(instance, batches), Vec::new(), batch);
            batches += 1;
        }
        if let Some(change) = self.change {
            let mut after = before.clone();
            after.change(change, batches, self.at);
            put_record(draft, &after)?;
            settle(draft, &before, &after)?;
        } else if !self.consumed_signals.is_empty() {
            settle(draft, &before, &before)?;
        }
        Ok(true)
    }
}

/// Whether the journal has exactly this many batches. The record may know of fewer: not every turn writes it.
fn ends_at(draft: &Draft<'_>, record: &InstanceRecord, batches: u64) -> Result<bool, RowFault> {
    if batches < record.batches || draft.get(&keys::batch(record.number, batches))?.is_some() {
        return Ok(false);
    }
    Ok(batches == record.batches || draft.get(&keys::batch(record.number, batches - 1))?.is_some())
}

fn consume(draft: &mut Draft<'_>, instance: InstanceNumber, sequence: u64) -> Result<(), RowFault> {
    let key = keys::signal(instance, sequence);
    let Some(value) = draft.get(&key)? else {
        return Ok(());
    };
    let (_, payload) = rows::signal(&key, rows::unseal(&key, &value)?)?;
    draft.discard(&payload);
    draft.remove(key);
    Ok(())
}

fn signal(
    draft: &mut Draft<'_>,
    id: &str,
    name: &str,
    payload: &[u8],
    dedup_key: Option<&str>,
    at: Timestamp,
) -> Result<Signalled, RowFault> {
    let Some(before) = view::find(draft, id)? else {
        return Ok(Signalled::Unknown);
    };
    let (number, sequence) = (before.number, before.signals);
    if let Some(dedup_key) = dedup_key {
        let key = keys::accepted(number, dedup_key);
        if let Some(value) = draft.get(&key)? {
            let sequence = rows::decode(&key, rows::unseal(&key, &value)?)?;
            return Ok(Signalled::Duplicate { sequence });
        }
        if !before.status.is_terminal() {
            draft.put(key, &rows::encode(&sequence));
        }
    }
    if before.status.is_terminal() {
        return Ok(Signalled::Finished(before.status));
    }
    let header = SignalHeader {
        name: name.to_owned(),
        at,
    };
    draft.put_placed(keys::signal(number, sequence), rows::encode(&header), payload);
    let mut after = before.clone();
    after.signals += 1;
    after.updated_at = at;
    put_record(draft, &after)?;
    if after.awaits(name) {
        settle(draft, &before, &after)?;
    }
    Ok(Signalled::Buffered {
        sequence,
        record: Box::new(before),
    })
}

fn cancel(draft: &mut Draft<'_>, id: &str, reason: &str, at: Timestamp) -> Result<Cancelled, RowFault> {
    let Some(before) = view::find(draft, id)? else {
        return Ok(Cancelled::Unknown);
    };
    if before.status.is_terminal() {
        return Ok(Cancelled::Finished(before.status));
    }
    if before.cancel_requested.is_some() {
        return Ok(Cancelled::AlreadyRequested);
    }
    let mut after = before.clone();
    after.cancel_requested = Some(reason.to_owned());
    after.updated_at = at;
    put_record(draft, &after)?;
    settle(draft, &before, &after)?;
    Ok(Cancelled::Requested(Box::new(before)))
}

/// Writes a record over the one that is there.
fn put_record(draft: &mut Draft<'_>, record: &InstanceRecord) -> Result<(), RowFault> {
    replace(draft, keys::record(record.number), &rows::encode(record))
}

/// Writes a value over the one that is there, whose chunks, if it was that long, are given up.
fn replace(draft: &mut Draft<'_>, key: Vec<u8>, after: &[u8]) -> Result<(), RowFault> {
    if let Some(value) = draft.get(&key)? {
        let placed = Placed::decode(&key, rows::unseal(&key, &value)?)?;
        draft.discard(&placed);
    }
    draft.put_placed(key, Vec::new(), after);
    Ok(())
}

/// Brings the ready row and the timer row in line with a record that changed.
fn settle(draft: &mut Draft<'_>, before: &InstanceRecord, after: &InstanceRecord) -> Result<(), RowFault> {
    let waited = before.status == Status::Waiting;
    let ready = after.is_ready(after.depends_on_signals() && awaited_signal_is_buffered(draft, after)?);
    if waited || !ready {
        draft.mark(keys::ready(after.number), ready)?;
    }
    let due = after.due_at(ready);
    if let Some(old) = before.wake_at.filter(|old| waited && due != Some(*old)) {
        draft.mark(keys::due(old, after.number), false)?;
    }
    if let Some(due) = due {
        draft.mark(keys::due(due, after.number), true)?;
    }
    Ok(())
}

fn awaited_signal_is_buffered(draft: &Draft<'_>, record: &InstanceRecord) -> Result<bool, RowFault> {
    for (key, value) in draft.scan(&keys::signals(record.number))? {
        let (header, _) = rows::signal(&key, rows::unseal(&key, &value)?)?;
        if record.awaits(&header.name) {
            return Ok(true);
        }
    }
    Ok(false)
}
