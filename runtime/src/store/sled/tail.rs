//! The tail of an instance: what was written of it and is not in rows of its own yet, together with what its rows say. It is
//! all that a commit needs to judge the next write, so an instance that moves is not read from the tree.
//!
//! A tail is made by a start, or from the rows when the first write after a fold comes. Live and at opening alike it grows
//! by [`Tail::take_in`] alone, so what is recovered from pages is what was there. Absent on purpose: pages, locks.

use super::entry::{Log, What};
use super::keys;
use super::pages::PAGE_BYTES;
use super::rows::{self, Far, InstanceRow, Placed, RowFault, SignalHeader};
use super::view::{self, Folded, Source};
use crate::ids::InstanceNumber;
use crate::store::{InstanceRecord, Status, StoredSignal};
use crate::time::Timestamp;
use ::sled::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// A tail of more bytes is folded. It is about what one row takes.
const TAIL_BYTES_MAX: usize = 3_600;
/// So is one with more signals, each of which gets rows of its own.
const TAIL_SIGNALS_MAX: usize = 16;

#[derive(Clone)]
pub(super) struct Tail {
    /// The head of the instance's row as the next fold writes it, but for the signals that are in the tail.
    pub(super) row: InstanceRow,
    /// The batches from `row.first` on, packed.
    pub(super) journal: Vec<u8>,
    /// What the rows say; nothing if there are none.
    pub(super) rows: Option<Rows>,
    /// Signals that were accepted since the last fold and are not consumed.
    pub(super) signals: BTreeMap<u64, NewSignal>,
    /// Signals that have rows and were consumed since.
    pub(super) consumed: BTreeSet<u64>,
    /// Deduplication keys that were accepted since.
    pub(super) accepted: BTreeMap<String, u64>,
    /// The commits whose pages hold entries of it, in order.
    pub(super) groups: Vec<u64>,
    /// The round of the last log that it is in, and its place there.
    touched: (u64, usize),
    /// How many entries the rows have.
    folded: u64,
    bytes: usize,
    /// Whether it has an entry that is too long for a page.
    is_oversized: bool,
    /// The round of the last group that put a long value of it elsewhere: that value can be read when the group is durable.
    far_round: u64,
}

/// The rows of an instance that the next fold may have to change.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) ready: bool,
    pub(super) due: Option<Timestamp>,
    pub(super) far: Option<Far>,
}

#[derive(Clone)]
pub(super) struct NewSignal {
    name: String,
    /// Of the row that it gets when it is folded.
    pub(super) body: Vec<u8>,
    far: Option<Far>,
}

/// What the tree had to say about a write.
#[derive(Default)]
pub(super) struct LookedUp {
    /// Which of the signals that it consumes have rows, and where their long values are.
    consumed: Vec<(u64, Option<Far>)>,
    /// Whether a signal is buffered that the instance waits for afterwards.
    is_awaited: bool,
}

impl Tail {
    /// Of a new instance. `record` is as the start leaves it.
    pub(super) fn started(record: InstanceRecord, batch: &Placed<'_>) -> Self {
        let mut journal = Vec::with_capacity(512);
        rows::append(&mut journal, batch);
        let row = InstanceRow {
            record,
            entries: 1,
            batches: 1,
            first: 0,
            stored: 0,
            ready: true,
        };
        Self::new(row, journal, None)
    }

    /// Of an instance whose rows were read.
    pub(super) fn loaded(Folded { row, journal, far }: Folded) -> Self {
        let rows = Rows {
            ready: row.ready,
            due: row.record.due_at(row.ready),
            far,
        };
        Self::new(row, journal, Some(rows))
    }

    fn new(row: InstanceRow, journal: Vec<u8>, rows: Option<Rows>) -> Self {
        Self {
            bytes: journal.len(),
            folded: if rows.is_some() { row.entries } else { 0 },
            row,
            journal,
            rows,
            signals: BTreeMap::new(),
            consumed: BTreeSet::new(),
            accepted: BTreeMap::new(),
            groups: Vec::new(),
            touched: (0, 0),
            is_oversized: false,
            far_round: 0,
        }
    }

    /// Its place in the log of a group, which it gets when the group first comes to it.
    pub(super) fn touch(&mut self, log: &mut Log) -> usize {
        if self.touched.0 != log.round {
            self.touched = (log.round, log.touch(self.row.record.number));
        }
        self.touched.1
    }

    /// Its place in the log of a group, if the group was about it.
    pub(super) fn place_in(&self, log: &Log) -> Option<usize> {
        (self.touched.0 == log.round).then_some(self.touched.1)
    }

    pub(super) fn record(&self) -> &InstanceRecord {
        &self.row.record
    }

    pub(super) fn due(&self) -> Option<Timestamp> {
        self.row.record.due_at(self.row.ready)
    }

    /// Whether anything is here that the rows do not have.
    pub(super) fn is_ahead(&self) -> bool {
        self.row.entries > self.folded
    }

    /// Whether the instance is about to move again. Everything else is folded in the commit that leaves it so: what waits,
    /// stands still or has ended takes no memory.
    pub(super) fn moves(&self) -> bool {
        match self.row.record.status {
            Status::Queued | Status::Running => !self.is_oversized,
            Status::Waiting => self.row.ready && !self.is_oversized,
            Status::Paused
            | Status::Quarantined
            | Status::WaitingForCode
            | Status::Completed
            | Status::Failed
            | Status::Cancelled
            | Status::Terminated => false,
        }
    }

    /// Whether it is time to fold the tail, in this commit or one of the next.
    pub(super) fn is_long(&self) -> bool {
        self.bytes > TAIL_BYTES_MAX || self.rows_of_signals() > TAIL_SIGNALS_MAX
    }

    fn rows_of_signals(&self) -> usize {
        self.signals.len() + self.consumed.len() + self.accepted.len()
    }

    /// How many rows a fold writes, about.
    pub(super) fn rows_to_write(&self) -> usize {
        2 + self.rows_of_signals() + self.journal.len() / TAIL_BYTES_MAX
    }

    /// The sequence of the signal that was accepted with this key.
    pub(super) fn accepted(&self, tree: &Tree, dedup_key: &str) -> Result<Option<u64>, RowFault> {
        if let Some(sequence) = self.accepted.get(dedup_key) {
            return Ok(Some(*sequence));
        }
        let key = keys::accepted(self.row.record.number, dedup_key);
        if self.rows.is_none() {
            return Ok(None);
        }
        let value = tree.get(&key)?;
        let sequence = value.map(|value| rows::decode(&key, rows::unseal(&key, &value)?));
        sequence.transpose()
    }

    /// Everything that may go wrong with a write that was allowed. It changes nothing.
    pub(super) fn look_up(&self, tree: &Tree, what: &What<'_>) -> Result<LookedUp, RowFault> {
        let (change, consumed_signals) = match what {
            What::Turn {
                change,
                consumed_signals,
                ..
            } => (change.as_deref(), consumed_signals.as_ref()),
            What::Start { .. } | What::Signal { .. } | What::Cancel { .. } => return Ok(LookedUp::default()),
        };
        let consumed = self.stored_signals(tree, consumed_signals)?;
        let is_awaited = match self.record().names_that_decide(change) {
            None => false,
            Some(names) => {
                let mut new = self.signals.iter();
                let is_left = |sequence: &u64| !consumed_signals.contains(sequence);
                new.any(|(sequence, signal)| is_left(sequence) && names.contains(&signal.name))
                    || self.stored_signal_is_awaited(tree, names, consumed_signals, consumed.len())?
            }
        };
        Ok(LookedUp { consumed, is_awaited })
    }

    fn stored_signals(&self, tree: &Tree, sequences: &[u64]) -> Result<Vec<(u64, Option<Far>)>, RowFault> {
        let mut found = Vec::new();
        for &sequence in sequences {
            let is_gone = self.row.stored == 0 || self.consumed.contains(&sequence);
            if is_gone || self.signals.contains_key(&sequence) || found.iter().any(|(known, _)| *known == sequence) {
                continue;
            }
            let key = keys::signal(self.row.record.number, sequence);
            if let Some(value) = tree.get(&key)? {
                let (_, payload) = rows::signal(&key, rows::unseal(&key, &value)?)?;
                found.push((sequence, payload.far()));
            }
        }
        Ok(found)
    }

    fn stored_signal_is_awaited(
        &self,
        tree: &Tree,
        names: &[String],
        consumed_now: &[u64],
        consumed_rows: usize,
    ) -> Result<bool, RowFault> {
        if self.row.stored <= consumed_rows as u64 {
            return Ok(false);
        }
        for (key, value) in view::scan(tree, &keys::signals(self.row.record.number))? {
            let sequence = keys::number(&key, 1).unwrap_or(u64::MAX);
            if self.consumed.contains(&sequence) || consumed_now.contains(&sequence) {
                continue;
            }
            let (header, _) = rows::signal(&key, rows::unseal(&key, &value)?)?;
            if names.contains(&header.name) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Does to the instance what a write does; gives the long values that nothing refers to any more.
    pub(super) fn take_in(&mut self, at: Timestamp, what: &What<'_>, looked_up: LookedUp) -> Vec<Far> {
        self.row.entries += 1;
        let mut given_up = Vec::new();
        let record = &mut self.row.record;
        match what {
            // Nothing but `started` makes a tail of it.
            What::Start { .. } => {}
            What::Turn {
                batch,
                change,
                consumed_signals,
            } => {
                let new = consumed_signals
                    .iter()
                    .filter_map(|sequence| self.signals.remove(sequence));
                given_up.extend(new.filter_map(|signal| signal.far));
                for (sequence, far) in looked_up.consumed {
                    self.consumed.insert(sequence);
                    self.row.stored = self.row.stored.saturating_sub(1);
                    given_up.extend(far);
                }
                if let Some(batch) = batch {
                    self.row.batches += 1;
                    rows::append(&mut self.journal, batch);
                }
                if let Some(change) = change {
                    record.change(change, self.row.batches, at);
                }
                self.row.ready = record.is_ready(looked_up.is_awaited);
            }
            What::Signal {
                name,
                payload,
                dedup_key,
            } => {
                let sequence = record.signals;
                record.signals += 1;
                record.updated_at = at;
                self.row.ready |= record.awaits(name);
                self.accepted.extend(dedup_key.map(|key| (key.to_owned(), sequence)));
                self.signals.insert(sequence, NewSignal::new(name, at, payload));
            }
            What::Cancel { reason } => {
                record.cancel_requested = Some((*reason).to_owned());
                record.updated_at = at;
                self.row.ready |= record.status == Status::Waiting;
            }
        }
        given_up
    }

    /// Counts what an entry of this length adds to memory.
    pub(super) fn grew(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.is_oversized |= bytes > PAGE_BYTES;
    }

    /// Remembers the round of a group that puts a long value of it elsewhere.
    pub(super) fn put_far(&mut self, round: u64) {
        self.far_round = round;
    }

    pub(super) fn far_round(&self) -> u64 {
        self.far_round
    }

    /// Every batch of the journal.
    pub(super) fn all_batches(&self, source: Source<'_>) -> Result<Vec<Vec<u8>>, RowFault> {
        let number = self.row.record.number;
        let mut batches = view::batches(source, number, self.row.first)?;
        let key = keys::record(number);
        for value in rows::unpack(&key, &self.journal) {
            batches.push(view::placed(source, &value?)?);
        }
        if batches.len() as u64 == self.row.batches {
            Ok(batches)
        } else {
            let missing = keys::batch(number, batches.len() as u64);
            Err(RowFault::rotten(&missing, "is missing"))
        }
    }

    pub(super) fn last_batch(&self, source: Source<'_>) -> Result<Vec<u8>, RowFault> {
        let number = self.row.record.number;
        let key = keys::record(number);
        match rows::unpack(&key, &self.journal).last() {
            Some(last) => view::placed(source, &last?),
            None => view::last_batch(source, number, self.row.first),
        }
    }

    /// Every signal that is not consumed, in order.
    pub(super) fn all_signals(&self, source: Source<'_>) -> Result<Vec<StoredSignal>, RowFault> {
        let number = self.row.record.number;
        // A commit under way may have given rows to new ones already, and taken those of consumed ones.
        let is_old = |sequence| {
            sequence < self.row.record.signals
                && !self.consumed.contains(&sequence)
                && !self.signals.contains_key(&sequence)
        };
        let mut signals = if self.row.stored == 0 {
            Vec::new()
        } else {
            view::signals(source, number, is_old)?
        };
        if signals.len() as u64 != self.row.stored {
            let rows = format!("{} of {} signal rows are there", signals.len(), self.row.stored);
            return Err(RowFault::Rotten(rows));
        }
        for (sequence, signal) in &self.signals {
            let key = keys::signal(number, *sequence);
            let (header, payload) = rows::signal(&key, &signal.body)?;
            signals.push(rows::stored_signal(&key, header, view::placed(source, &payload)?)?);
        }
        Ok(signals)
    }

    /// Its place in an index by number.
    pub(super) fn number(&self) -> InstanceNumber {
        self.row.record.number
    }
}

impl NewSignal {
    fn new(name: &str, at: Timestamp, payload: &Placed<'_>) -> Self {
        let header = SignalHeader {
            name: name.to_owned(),
            at,
        };
        let mut body = rows::encode(&header);
        payload.encode_to(&mut body);
        Self {
            name: header.name,
            body,
            far: payload.far(),
        }
    }
}
