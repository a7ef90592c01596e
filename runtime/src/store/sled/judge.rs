//! Judges the writes of a group one after another against the tails that those before it leave. Absent on purpose: disks,
//! threads, epochs. A write that is refused, or that meets damage, leaves no trace: everything that can go wrong with it
//! goes wrong before the first change.

use super::draft::Draft;
use super::entry::{Entry, Log, What};
use super::keys;
use super::rows::{self, Placed, RowFault};
use super::tail::{LookedUp, Tail};
use super::tails::Tails;
use super::view::guarded;
use crate::ids::InstanceNumber;
use crate::store::{Cancelled, InstanceRecord, RecordChange, Signalled, Started, Write, Written, rules};
use crate::time::Timestamp;
use ::sled::Tree;
use std::borrow::Cow;

/// Answers every write of a group, and puts into the draft what they leave. `Err` says why the disk could not be read:
/// the tails are no longer what is on disk then.
pub(super) fn group(
    tree: &Tree,
    tails: &mut Tails,
    draft: &mut Draft<'_>,
    writes: &[Write],
) -> Result<Vec<Written>, String> {
    let log = tails.begin();
    let mut judge = Judge {
        tree,
        tails,
        draft,
        log,
    };
    let mut answers = Vec::with_capacity(writes.len());
    for write in writes {
        if let Some(reason) = rules::name_fault(write) {
            answers.push(Written::Refused { reason });
            continue;
        }
        match guarded(|| judge.write(write)) {
            Ok(answer) => answers.push(answer),
            Err(RowFault::Io(reason)) => return Err(reason),
            Err(fault @ (RowFault::Rotten(_) | RowFault::Newer(_))) => {
                let reason = format!("{} is damaged in the store: {}", target(write), fault.reason());
                answers.push(Written::Refused { reason });
            }
        }
    }
    let Judge { tails, draft, log, .. } = judge;
    tails.put(draft, &log).map_err(RowFault::reason)?;
    Ok(answers)
}

fn target(write: &Write) -> String {
    match write {
        Write::Start { id, .. } | Write::Signal { id, .. } | Write::Cancel { id, .. } => format!("instance `{id}`"),
        Write::Turn { instance, .. } => format!("instance {instance}"),
        Write::Note { key, .. } => format!("note `{key}`"),
    }
}

struct Judge<'g, 't> {
    tree: &'g Tree,
    tails: &'g mut Tails,
    draft: &'g mut Draft<'t>,
    log: Log,
}

impl Judge<'_, '_> {
    fn write(&mut self, write: &Write) -> Result<Written, RowFault> {
        match write {
            Write::Start {
                id,
                workflow,
                version,
                input_digest,
                batch,
                at,
            } => {
                let start = Start {
                    id,
                    workflow,
                    version: *version,
                    input_digest: *input_digest,
                };
                self.start(start, batch, *at).map(Written::Start)
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
                self.turn(*instance, &turn).map(Written::Turn)
            }
            Write::Signal {
                id,
                name,
                payload,
                dedup_key,
                at,
            } => self
                .signal(id, name, payload, dedup_key.as_deref(), *at)
                .map(Written::Signal),
            Write::Cancel { id, reason, at } => self.cancel(id, reason, *at).map(Written::Cancel),
            Write::Note { key, value } => self.note(keys::note(key), value).map(|()| Written::Noted),
        }
    }

    fn start(&mut self, start: Start<'_>, batch: &[u8], at: Timestamp) -> Result<Started, RowFault> {
        if let Some(existing) = self.tails.load_by_id(self.tree, start.id)? {
            existing.touch(&mut self.log);
            return Ok(Started::Existing(Box::new(existing.record().clone())));
        }
        let number = InstanceNumber(self.draft.take_number());
        let Start {
            id,
            workflow,
            version,
            input_digest,
        } = start;
        let batch = self.draft.place(batch);
        let record = InstanceRecord::accepted(number, id, workflow, version, input_digest, at);
        let mut tail = Tail::started(record, &batch);
        let what = What::Start {
            id,
            workflow,
            version,
            input_digest,
            batch,
        };
        note_down(&mut self.log, &mut tail, 0, at, what);
        self.tails.insert(tail);
        Ok(Started::Created(number))
    }

    fn turn(&mut self, instance: InstanceNumber, turn: &Turn<'_>) -> Result<bool, RowFault> {
        let Some(tail) = self.tails.load(self.tree, instance)? else {
            return Ok(false);
        };
        tail.touch(&mut self.log);
        if tail.record().status.is_terminal() || tail.row.batches != turn.expected_batches {
            return Ok(false);
        }
        let looked_up = tail.look_up(self.tree, &turn.what(None))?;
        let batch = turn.batch.map(|batch| self.draft.place(batch));
        take_in(&mut self.log, self.draft, tail, turn.at, turn.what(batch), looked_up);
        Ok(true)
    }

    fn signal(
        &mut self,
        id: &str,
        name: &str,
        payload: &[u8],
        dedup_key: Option<&str>,
        at: Timestamp,
    ) -> Result<Signalled, RowFault> {
        let Some(tail) = self.tails.load_by_id(self.tree, id)? else {
            return Ok(Signalled::Unknown);
        };
        tail.touch(&mut self.log);
        let accepted = dedup_key.map(|key| tail.accepted(self.tree, key)).transpose()?;
        if let Some(sequence) = accepted.flatten() {
            return Ok(Signalled::Duplicate { sequence });
        }
        if tail.record().status.is_terminal() {
            return Ok(Signalled::Finished(tail.record().status));
        }
        let before = Box::new(tail.record().clone());
        let payload = self.draft.place(payload);
        let what = What::Signal {
            name,
            payload,
            dedup_key,
        };
        take_in(&mut self.log, self.draft, tail, at, what, LookedUp::default());
        Ok(Signalled::Buffered {
            sequence: before.signals,
            record: before,
        })
    }

    fn cancel(&mut self, id: &str, reason: &str, at: Timestamp) -> Result<Cancelled, RowFault> {
        let Some(tail) = self.tails.load_by_id(self.tree, id)? else {
            return Ok(Cancelled::Unknown);
        };
        tail.touch(&mut self.log);
        if tail.record().status.is_terminal() {
            return Ok(Cancelled::Finished(tail.record().status));
        }
        if tail.record().cancel_requested.is_some() {
            return Ok(Cancelled::AlreadyRequested);
        }
        let before = Box::new(tail.record().clone());
        let what = What::Cancel { reason };
        take_in(&mut self.log, self.draft, tail, at, what, LookedUp::default());
        Ok(Cancelled::Requested(before))
    }

    /// Writes a note over the one that is there, whose chunks, if it was that long, are given up.
    fn note(&mut self, key: Vec<u8>, after: &[u8]) -> Result<(), RowFault> {
        if let Some(value) = self.draft.get(&key)? {
            let far = Placed::decode(&key, rows::unseal(&key, &value)?)?.far();
            self.draft.discard(far);
        }
        self.draft.put_placed(key, Vec::new(), after);
        Ok(())
    }
}

struct Start<'w> {
    id: &'w str,
    workflow: &'w str,
    version: u32,
    input_digest: [u8; 32],
}

struct Turn<'w> {
    expected_batches: u64,
    batch: Option<&'w [u8]>,
    change: Option<&'w RecordChange>,
    consumed_signals: &'w [u64],
    at: Timestamp,
}

impl<'w> Turn<'w> {
    fn what(&self, batch: Option<Placed<'w>>) -> What<'w> {
        What::Turn {
            batch,
            change: self.change.map(Cow::Borrowed),
            consumed_signals: Cow::Borrowed(self.consumed_signals),
        }
    }
}

/// Does to an instance what a write does, and notes it down.
fn take_in(log: &mut Log, draft: &mut Draft<'_>, tail: &mut Tail, at: Timestamp, what: What<'_>, looked_up: LookedUp) {
    let place = tail.row.entries;
    for far in tail.take_in(at, &what, looked_up) {
        draft.discard(Some(far));
    }
    note_down(log, tail, place, at, what);
}

/// Adds to the log the entry of a write that the tail has taken in.
fn note_down(log: &mut Log, tail: &mut Tail, place: u64, at: Timestamp, what: What<'_>) {
    if what.is_far() {
        tail.put_far(log.round);
    }
    let entry = Entry {
        instance: tail.number().0,
        place,
        at,
        what,
    };
    let who = tail.touch(log);
    tail.grew(log.push(who, &entry));
}
