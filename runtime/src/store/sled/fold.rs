//! Folding: the tail of an instance becomes rows of its own, in the commit that makes it necessary, and leaves memory with
//! that commit. An instance of five steps costs a row for its id and one for its record, which holds the journal too as long as
//! it is short; a longer one gets a journal row every four kilobytes. Absent on purpose: when to fold (`tail`, `judge`).

use super::draft::Draft;
use super::keys;
use super::rows::{self, CHUNK_BYTES, InstanceRow, Placed, RowFault};
use super::tail::Tail;

/// Writes the rows of an instance as they are after everything that its tail holds. The tail itself does not change: it is
/// read until the commit is done.
pub(super) fn fold(draft: &mut Draft<'_>, tail: &Tail) -> Result<(), RowFault> {
    let record = tail.record();
    let number = record.number;
    if tail.rows.is_none() {
        draft.put(keys::id(&record.id), &rows::encode(&number.0));
    }
    for (sequence, signal) in &tail.signals {
        draft.put(keys::signal(number, *sequence), &signal.body);
    }
    for sequence in &tail.consumed {
        draft.remove(keys::signal(number, *sequence));
    }
    for (dedup_key, sequence) in &tail.accepted {
        draft.put(keys::accepted(number, dedup_key), &rows::encode(sequence));
    }
    index(draft, tail);
    put_record(draft, tail)
}

/// Brings the ready row and the timer row in line.
fn index(draft: &mut Draft<'_>, tail: &Tail) {
    let number = tail.number();
    let (was_ready, was_due) = tail.rows.map_or((false, None), |rows| (rows.ready, rows.due));
    match (was_ready, tail.row.ready) {
        (false, true) => draft.put(keys::ready(number), &[]),
        (true, false) => draft.remove(keys::ready(number)),
        (true, true) | (false, false) => {}
    }
    let due = tail.due();
    if was_due != due {
        if let Some(was_due) = was_due {
            draft.remove(keys::due(was_due, number));
        }
        if let Some(due) = due {
            draft.put(keys::due(due, number), &[]);
        }
    }
}

/// The record, with the end of the journal behind it if there is room for it.
fn put_record(draft: &mut Draft<'_>, tail: &Tail) -> Result<(), RowFault> {
    let head = InstanceRow {
        record: tail.record(),
        entries: tail.row.entries,
        batches: tail.row.batches,
        first: tail.row.first,
        stored: tail.row.stored + tail.signals.len() as u64,
        ready: tail.row.ready,
    };
    let key = keys::record(tail.number());
    draft.discard(tail.rows.and_then(|rows| rows.far));
    let mut body = rows::encode(&head);
    if body.len() + tail.journal.len() <= rows::room(0) {
        body.extend_from_slice(&tail.journal);
    } else {
        put_journal(draft, tail)?;
        body = rows::encode(&InstanceRow {
            first: tail.row.batches,
            ..head
        });
    }
    draft.put_placed(key, Vec::new(), &body);
    Ok(())
}

/// The end of the journal as rows, each as full as it gets.
fn put_journal(draft: &mut Draft<'_>, tail: &Tail) -> Result<(), RowFault> {
    let number = tail.number();
    let record = keys::record(number);
    let (mut index, mut first) = (tail.row.first, tail.row.first);
    let (mut row, mut left) = (Vec::new(), tail.journal.as_slice());
    while !left.is_empty() {
        let (_, rest): (Placed<'_>, _) = rows::take(&record, left)?;
        let (value, rest) = left.split_at(left.len() - rest.len());
        if row.len() + value.len() > CHUNK_BYTES {
            draft.put(keys::batch(number, first), &row);
            row.clear();
            first = index;
        }
        row.extend_from_slice(value);
        index += 1;
        left = rest;
    }
    if !row.is_empty() {
        draft.put(keys::batch(number, first), &row);
    }
    Ok(())
}
