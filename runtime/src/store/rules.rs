//! What every store decides alike: when an instance is ready or due, what a write does to a record, which writes are too
//! long. Absent on purpose: where anything is kept.

use super::{InstanceRecord, RecordChange, Status, Write};
use crate::ids::InstanceNumber;
use crate::time::Timestamp;

/// The longest id, signal name or deduplication key, in bytes. Keys of the embedded store hold them.
pub(crate) const NAME_BYTES_MAX: usize = 256;

impl InstanceRecord {
    /// The record of an instance that was just accepted, its first journal batch included.
    pub(crate) fn accepted(
        number: InstanceNumber,
        id: &str,
        workflow: &str,
        version: u32,
        input_digest: [u8; 32],
        at: Timestamp,
    ) -> Self {
        Self {
            number,
            id: id.to_owned(),
            workflow: workflow.to_owned(),
            version,
            input_digest,
            status: Status::Queued,
            created_at: at,
            updated_at: at,
            awaited_signals: Vec::new(),
            wake_at: None,
            cancel_requested: None,
            trouble: None,
            batches: 1,
            signals: 0,
        }
    }

    /// Takes over what a turn changed.
    pub(super) fn change(&mut self, change: &RecordChange, batches: u64, at: Timestamp) {
        self.status = change.status;
        self.awaited_signals.clone_from(&change.awaited_signals);
        self.wake_at = change.wake_at;
        self.trouble.clone_from(&change.trouble);
        self.batches = batches;
        self.updated_at = at;
    }

    /// Whether a signal of this name would move the instance.
    pub(super) fn awaits(&self, name: &str) -> bool {
        self.status == Status::Waiting && self.awaited_signals.iter().any(|awaited| awaited == name)
    }

    /// The names that an instance waits for, after a change if there is one, where buffered signals decide if it is ready.
    pub(super) fn names_that_decide<'r>(&'r self, change: Option<&'r RecordChange>) -> Option<&'r [String]> {
        let (status, names) = change.map_or((self.status, &self.awaited_signals), |change| {
            (change.status, &change.awaited_signals)
        });
        let decide =
            status == Status::Waiting && self.cancel_requested.is_none() && self.signals > 0 && !names.is_empty();
        decide.then_some(names)
    }

    /// Whether the instance must be looked at, given whether a signal that it waits for is buffered.
    pub(super) fn is_ready(&self, awaited_signal_is_buffered: bool) -> bool {
        if self.status == Status::Waiting {
            awaited_signal_is_buffered || self.cancel_requested.is_some()
        } else {
            !self.status.is_terminal()
        }
    }

    /// When time alone would move the instance.
    pub(super) fn due_at(&self, ready: bool) -> Option<Timestamp> {
        if self.status == Status::Waiting && !ready {
            self.wake_at
        } else {
            None
        }
    }
}

/// Why no store could keep a write: a defect of the caller, which must not stop the rest of its group.
pub(super) fn name_fault(write: &Write) -> Option<String> {
    let names = match write {
        Write::Start { id, .. } | Write::Cancel { id, .. } => [Some(("id", id)), None, None],
        Write::Turn { .. } => [None; 3],
        Write::Note { key, .. } => [Some(("key of a note", key)), None, None],
        Write::Signal {
            id, name, dedup_key, ..
        } => [
            Some(("id", id)),
            Some(("signal name", name)),
            dedup_key.as_ref().map(|key| ("deduplication key", key)),
        ],
    };
    let mut names = names.into_iter().flatten();
    let (what, name) = names.find(|(_, name)| !(1..=NAME_BYTES_MAX).contains(&name.len()))?;
    let length = name.len();
    Some(format!(
        "the {what} has {length} bytes, and 1 to {NAME_BYTES_MAX} are allowed"
    ))
}
