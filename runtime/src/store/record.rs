//! The plain values that pass between an engine and its store.

use crate::ids::InstanceNumber;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What an instance is doing, seen from outside.
///
/// Stored: variants are only ever appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Status {
    /// Started, durable, and not moved yet.
    Queued,
    /// A turn or a body is under way, or goes on as soon as a process opens the store.
    Running,
    /// Waits for signals, sleeps or the next attempt of a step; no body runs.
    Waiting,
    /// Held by an operator; goes on when resumed.
    Paused,
    /// Stopped because code and journal disagree or a stored value cannot be read. Nothing is lost; fixed code goes on.
    Quarantined,
    /// No registered workflow has its name and version; goes on when one appears.
    WaitingForCode,
    /// Ended with a result.
    Completed,
    /// Ended with an error.
    Failed,
    /// Ended by a request to cancel.
    Cancelled,
    /// Ended by an operator, without cleaning up.
    Terminated,
}

impl Status {
    /// Whether the instance has ended and never moves again.
    pub const fn is_terminal(self) -> bool {
        match self {
            Status::Completed | Status::Failed | Status::Cancelled | Status::Terminated => true,
            Status::Queued
            | Status::Running
            | Status::Waiting
            | Status::Paused
            | Status::Quarantined
            | Status::WaitingForCode => false,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Status::Queued => "Queued",
            Status::Running => "Running",
            Status::Waiting => "Waiting",
            Status::Paused => "Paused",
            Status::Quarantined => "Quarantined",
            Status::WaitingForCode => "WaitingForCode",
            Status::Completed => "Completed",
            Status::Failed => "Failed",
            Status::Cancelled => "Cancelled",
            Status::Terminated => "Terminated",
        })
    }
}

/// What a store knows of an instance beside its journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceRecord {
    /// Its number in this store.
    pub number: InstanceNumber,
    /// Its id, unique in the store; 1 to 256 bytes.
    pub id: String,
    /// The workflow's name.
    pub workflow: String,
    /// The workflow's version.
    pub version: u32,
    /// SHA-256 of the encoded input, by which a second start is told apart.
    pub input_digest: [u8; 32],
    /// What it is doing.
    pub status: Status,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When this record last changed.
    pub updated_at: Timestamp,
    /// While waiting: the signal names that would move it, sorted.
    pub awaited_signals: Vec<String>,
    /// While waiting: the earliest instant that would move it.
    pub wake_at: Option<Timestamp>,
    /// The reason of a cancellation that was requested.
    pub cancel_requested: Option<String>,
    /// Why it is quarantined or waits for code, for people.
    pub trouble: Option<String>,
    /// How many journal batches it had when this record was written; it has at least these.
    pub batches: u64,
    /// How many signals were ever accepted for it; the next one gets this number.
    pub signals: u64,
}

/// A signal that is stored and not consumed yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSignal {
    /// Its place in the order of all signals of the instance, from 0.
    pub sequence: u64,
    /// Its name.
    pub name: String,
    /// Its encoded value.
    pub payload: Vec<u8>,
    /// When it was accepted.
    pub at: Timestamp,
}

/// Everything needed to replay an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredInstance {
    /// Its record.
    pub record: InstanceRecord,
    /// Its journal, batch by batch, without a gap.
    pub batches: Vec<Vec<u8>>,
    /// Signals not consumed yet, in order.
    pub signals: Vec<StoredSignal>,
}

/// The part of a record that a turn changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordChange {
    /// See [`InstanceRecord::status`].
    pub status: Status,
    /// See [`InstanceRecord::awaited_signals`].
    pub awaited_signals: Vec<String>,
    /// See [`InstanceRecord::wake_at`].
    pub wake_at: Option<Timestamp>,
    /// See [`InstanceRecord::trouble`].
    pub trouble: Option<String>,
}

/// One write of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Creates an instance unless its id exists. Answered by [`Written::Start`].
    Start {
        /// The id; 1 to 256 bytes.
        id: String,
        /// The workflow's name.
        workflow: String,
        /// The workflow's version.
        version: u32,
        /// SHA-256 of the encoded input.
        input_digest: [u8; 32],
        /// The first journal batch.
        batch: Vec<u8>,
        /// Now.
        at: Timestamp,
    },
    /// What one turn of an instance produced. Answered by [`Written::Turn`].
    Turn {
        /// Whose turn it was.
        instance: InstanceNumber,
        /// How many batches the journal has so far. Anything else means a second writer: the turn is refused.
        expected_batches: u64,
        /// The events of the turn, if it produced any.
        batch: Option<Vec<u8>>,
        /// What changed in the record, if anything did.
        change: Option<RecordChange>,
        /// Sequence numbers of the signals that the turn consumed.
        consumed_signals: Vec<u64>,
        /// Now.
        at: Timestamp,
    },
    /// Buffers a signal. Answered by [`Written::Signal`]. A key that was seen before is a duplicate even when the instance
    /// has ended since, so that a sender that tries again gets the answer it missed.
    Signal {
        /// The receiver.
        id: String,
        /// The name; 1 to 256 bytes.
        name: String,
        /// The encoded value.
        payload: Vec<u8>,
        /// A second signal to the instance with the same key is answered like the first and not stored; 1 to 256 bytes.
        dedup_key: Option<String>,
        /// Now.
        at: Timestamp,
    },
    /// Asks for a cancellation. Answered by [`Written::Cancel`].
    Cancel {
        /// Whom to cancel.
        id: String,
        /// Why, for people.
        reason: String,
        /// Now.
        at: Timestamp,
    },
    /// Keeps a value of the engine's own, beside all instances, in place of the one with the same key. Answered by
    /// [`Written::Noted`].
    Note {
        /// Its key; 1 to 256 bytes.
        key: String,
        /// What is kept.
        value: Vec<u8>,
    },
}

/// The answer to one [`Write`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// Of [`Write::Start`].
    Start(Started),
    /// Of [`Write::Turn`]: `true` if it was written, `false` if the instance is unknown, finished, or has other batches than expected.
    Turn(bool),
    /// Of [`Write::Signal`].
    Signal(Signalled),
    /// Of [`Write::Cancel`].
    Cancel(Cancelled),
    /// Of [`Write::Note`].
    Noted,
    /// Of any write that cannot be judged or kept: the instance's stored rows cannot be read, or a name is too long. Nothing
    /// of it was written, and trying again changes nothing.
    Refused {
        /// What was found, and whose it is.
        reason: String,
    },
}

/// What became of a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Started {
    /// The instance is new.
    Created(InstanceNumber),
    /// The id exists; whether with the same workflow and input is for the caller to tell from the record.
    Existing(Box<InstanceRecord>),
}

/// What became of a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signalled {
    /// It is buffered as number `sequence`. The record is as the signal found it.
    Buffered {
        /// Its place in the order of all signals of the instance.
        sequence: u64,
        /// The receiver before this signal.
        record: Box<InstanceRecord>,
    },
    /// A signal with the same key was accepted before, as number `sequence`.
    Duplicate {
        /// The place of the first one.
        sequence: u64,
    },
    /// No instance has this id.
    Unknown,
    /// The instance has ended.
    Finished(Status),
}

/// What became of a request to cancel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// Recorded. The record is as the request found it.
    Requested(Box<InstanceRecord>),
    /// A request was recorded before; this one changes nothing.
    AlreadyRequested,
    /// No instance has this id.
    Unknown,
    /// The instance has ended.
    Finished(Status),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_statuses_are_frozen() {
        for (number, status) in [
            (0, Status::Queued),
            (1, Status::Running),
            (2, Status::Waiting),
            (3, Status::Paused),
            (4, Status::Quarantined),
            (5, Status::WaitingForCode),
            (6, Status::Completed),
            (7, Status::Failed),
            (8, Status::Cancelled),
            (9, Status::Terminated),
        ] {
            assert_eq!(
                postcard::to_stdvec(&status).expect("a status encodes"),
                [number],
                "{status}"
            );
        }
    }
}
