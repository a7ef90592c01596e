//! The journal's events and their bytes. Stored: variants are only appended, fields never change, golden bytes pin both.

use super::path::Path;
use crate::failure::{AttemptFailure, Failure};
use crate::payload::{self, Payload};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The version of the journal format, the first byte of every batch.
pub(super) const FORMAT: u8 = 1;

/// How many bytes an event has beside its value, as a first guess.
pub(super) const EVENT_BYTES: usize = 64;

/// One entry of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) at: Timestamp,
    pub(crate) kind: EventKind,
}

impl Event {
    /// The workflow's input, if this is the start, which is left without it.
    pub(crate) fn take_input(&mut self) -> Option<Payload> {
        if let EventKind::Started { input, .. } = &mut self.kind {
            Some(std::mem::take(input))
        } else {
            None
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EventKind {
    /// 0. Always the first event.
    Started { input: Payload, seed: [u8; 16] },
    /// 1. A step ended; its body never runs again.
    StepSucceeded { step: Path, attempt: u32, result: Payload },
    /// 2. A step ended without a result.
    StepFailed {
        step: Path,
        attempt: u32,
        failure: AttemptFailure,
    },
    /// 3. An attempt failed and the next one is due at `retry_at`.
    AttemptFailed {
        step: Path,
        attempt: u32,
        failure: AttemptFailure,
        retry_at: Timestamp,
    },
    /// 4. The next attempt after a back-off begins, or the only one of an at-most-once step; the event before implies the rest.
    AttemptStarted { step: Path, attempt: u32 },
    /// 5. The process died while this attempt may have been running; the next one begins.
    AttemptInterrupted { step: Path, attempt: u32 },
    /// 6. The workflow dropped a checkpoint before it was reached: nothing is delivered to it any more.
    Dropped { checkpoint: Path, kind: CheckpointKind },
    /// 7. A sleep began.
    SleepBegan { sleep: Path, due: Timestamp },
    /// 8. A sleep is over.
    SleepEnded { sleep: Path },
    /// 9. A wait for a signal with a deadline began. A wait without one leaves no trace until the signal comes.
    WaitBegan { wait: Path, deadline: Timestamp },
    /// 10. A wait got its signal.
    SignalReceived {
        wait: Path,
        sequence: u64,
        payload: Payload,
    },
    /// 11. A wait reached its deadline.
    WaitElapsed { wait: Path },
    /// 12. A signal did not decode as the type that the wait asked for; it is kept here and the wait goes on.
    SignalSetAside {
        wait: Path,
        sequence: u64,
        payload: Payload,
        reason: String,
    },
    /// 13. Chance was drawn. Recorded as a check: the value follows from the seed and the path.
    Drawn { path: Path, value: u64 },
    /// 14. A cancellation reached the instance.
    CancelRequested { reason: String },
    /// 15. The end: a result.
    Completed { output: Payload },
    /// 16. The end: an error.
    Failed { failure: Failure },
    /// 17. The end: cancelled.
    Cancelled { reason: String },
    /// 18. The instance runs the code after this change.
    Patched { id: String },
    /// 19. Always the second event: the engine behaviour that the instance was started with. If it is not there, the first.
    Behaviour { number: u32 },
    /// 20. The instance stays on the code before a change: bodies of which nothing else tells may have been running behind it.
    Kept { id: String },
}

/// What a checkpoint waits for. Two checkpoints of different kinds never stand in for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum CheckpointKind {
    Step,
    Sleep,
    Signal,
}

impl fmt::Display for CheckpointKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CheckpointKind::Step => "step",
            CheckpointKind::Sleep => "sleep",
            CheckpointKind::Signal => "signal wait",
        })
    }
}

impl EventKind {
    /// Whether the event must be on disk before anything outside may follow from it. What can be worked out again from
    /// what is on disk need not be: it rides along with the next commit.
    pub(super) fn forces_commit(&self) -> bool {
        !matches!(self, EventKind::Drawn { .. } | EventKind::Dropped { .. })
    }

    /// How large the value is that the event holds.
    pub(super) fn value_bytes(&self) -> usize {
        match self {
            EventKind::Started { input: value, .. }
            | EventKind::StepSucceeded { result: value, .. }
            | EventKind::SignalReceived { payload: value, .. }
            | EventKind::SignalSetAside { payload: value, .. }
            | EventKind::Completed { output: value } => value.0.len(),
            EventKind::StepFailed { .. }
            | EventKind::AttemptFailed { .. }
            | EventKind::AttemptStarted { .. }
            | EventKind::AttemptInterrupted { .. }
            | EventKind::Dropped { .. }
            | EventKind::SleepBegan { .. }
            | EventKind::SleepEnded { .. }
            | EventKind::WaitBegan { .. }
            | EventKind::WaitElapsed { .. }
            | EventKind::Drawn { .. }
            | EventKind::CancelRequested { .. }
            | EventKind::Failed { .. }
            | EventKind::Cancelled { .. }
            | EventKind::Patched { .. }
            | EventKind::Kept { .. }
            | EventKind::Behaviour { .. } => 0,
        }
    }

    /// The checkpoint that the event is about.
    pub(super) fn checkpoint(&self) -> Option<(CheckpointKind, &Path)> {
        match self {
            EventKind::StepSucceeded { step, .. }
            | EventKind::StepFailed { step, .. }
            | EventKind::AttemptFailed { step, .. }
            | EventKind::AttemptStarted { step, .. }
            | EventKind::AttemptInterrupted { step, .. } => Some((CheckpointKind::Step, step)),
            EventKind::SleepBegan { sleep, .. } | EventKind::SleepEnded { sleep } => {
                Some((CheckpointKind::Sleep, sleep))
            }
            EventKind::WaitBegan { wait, .. }
            | EventKind::SignalReceived { wait, .. }
            | EventKind::WaitElapsed { wait }
            | EventKind::SignalSetAside { wait, .. } => Some((CheckpointKind::Signal, wait)),
            EventKind::Dropped { checkpoint, kind } => Some((*kind, checkpoint)),
            EventKind::Started { .. }
            | EventKind::Drawn { .. }
            | EventKind::CancelRequested { .. }
            | EventKind::Completed { .. }
            | EventKind::Failed { .. }
            | EventKind::Cancelled { .. }
            | EventKind::Patched { .. }
            | EventKind::Kept { .. }
            | EventKind::Behaviour { .. } => None,
        }
    }

    /// Whether a checkpoint has its answer by this event.
    pub(super) fn ends_checkpoint(&self) -> bool {
        match self {
            EventKind::StepSucceeded { .. }
            | EventKind::StepFailed { .. }
            | EventKind::SleepEnded { .. }
            | EventKind::SignalReceived { .. }
            | EventKind::WaitElapsed { .. } => true,
            EventKind::Started { .. }
            | EventKind::AttemptFailed { .. }
            | EventKind::AttemptStarted { .. }
            | EventKind::AttemptInterrupted { .. }
            | EventKind::Dropped { .. }
            | EventKind::SleepBegan { .. }
            | EventKind::WaitBegan { .. }
            | EventKind::SignalSetAside { .. }
            | EventKind::Drawn { .. }
            | EventKind::CancelRequested { .. }
            | EventKind::Completed { .. }
            | EventKind::Failed { .. }
            | EventKind::Cancelled { .. }
            | EventKind::Patched { .. }
            | EventKind::Kept { .. }
            | EventKind::Behaviour { .. } => false,
        }
    }
}

/// One line for people, without values: they may be secret and are not self-describing.
impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EventKind::Started { input, .. } => write!(f, "started with an input of {input:?}"),
            EventKind::StepSucceeded { step, attempt, result } => {
                write!(f, "step `{step}` succeeded on attempt {attempt} with {result:?}")
            }
            EventKind::StepFailed { step, attempt, failure } => {
                write!(
                    f,
                    "step `{step}` failed for good on attempt {attempt}: {}",
                    failure.message
                )
            }
            EventKind::AttemptFailed {
                step,
                attempt,
                failure,
                retry_at,
            } => {
                write!(
                    f,
                    "step `{step}` attempt {attempt} failed, next at {retry_at}: {}",
                    failure.message
                )
            }
            EventKind::AttemptStarted { step, attempt } => write!(f, "step `{step}` attempt {attempt} began"),
            EventKind::AttemptInterrupted { step, attempt } => {
                write!(
                    f,
                    "step `{step}` attempt {attempt} was interrupted; attempt {} begins",
                    attempt.saturating_add(1)
                )
            }
            EventKind::Dropped { checkpoint, kind } => write!(f, "{kind} `{checkpoint}` was dropped"),
            EventKind::SleepBegan { sleep, due } => write!(f, "sleep `{sleep}` began, until {due}"),
            EventKind::SleepEnded { sleep } => write!(f, "sleep `{sleep}` ended"),
            EventKind::WaitBegan { wait, deadline } => write!(f, "signal wait `{wait}` began, until {deadline}"),
            EventKind::SignalReceived {
                wait,
                sequence,
                payload,
            } => {
                write!(f, "signal wait `{wait}` received signal {sequence} of {payload:?}")
            }
            EventKind::WaitElapsed { wait } => write!(f, "signal wait `{wait}` reached its deadline"),
            EventKind::SignalSetAside {
                wait, sequence, reason, ..
            } => write!(f, "signal wait `{wait}` set signal {sequence} aside: {reason}"),
            EventKind::Drawn { path, .. } => write!(f, "chance `{path}` was drawn"),
            EventKind::CancelRequested { reason } => write!(f, "cancellation requested: {reason}"),
            EventKind::Completed { output } => write!(f, "completed with {output:?}"),
            EventKind::Failed { failure } => write!(f, "failed: {failure}"),
            EventKind::Cancelled { reason } => write!(f, "cancelled: {reason}"),
            EventKind::Patched { id } => write!(f, "change `{id}` applies from here on"),
            EventKind::Kept { id } => write!(f, "change `{id}` does not apply here"),
            EventKind::Behaviour { number } => write!(f, "runs with engine behaviour {number}"),
        }
    }
}

/// The bytes of one batch: the format, then the events one after the other.
pub(crate) fn encode_batch(events: &[Event]) -> Vec<u8> {
    let values: usize = events.iter().map(|event| EVENT_BYTES + event.kind.value_bytes()).sum();
    let mut bytes = Vec::with_capacity(values);
    bytes.push(FORMAT);
    for Event { at, kind } in events {
        encode_into(&mut bytes, *at, kind);
    }
    bytes
}

/// Adds the bytes of one event, which are those of [`Event`].
pub(super) fn encode_into(bytes: &mut Vec<u8>, at: Timestamp, kind: &EventKind) {
    payload::append(bytes, &(at, kind)).expect("events hold nothing that postcard refuses");
}

pub(crate) fn decode_batch(bytes: &[u8]) -> Result<Vec<Event>, String> {
    let mut events = Vec::new();
    decode_into(bytes, &mut events)?;
    Ok(events)
}

/// Adds the events of one batch to those of the batches before it.
pub(crate) fn decode_into(bytes: &[u8], events: &mut Vec<Event>) -> Result<(), String> {
    let Some((&format, mut rest)) = bytes.split_first() else {
        return Err("an empty journal batch".to_owned());
    };
    if format != FORMAT {
        return Err(format!(
            "a journal batch of format {format}; this version reads format {FORMAT}"
        ));
    }
    while !rest.is_empty() {
        let (event, tail) = postcard::take_from_bytes(rest).map_err(|error| error.to_string())?;
        events.push(event);
        rest = tail;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::StepFailureKind;

    fn hex(kind: EventKind) -> String {
        let bytes = encode_batch(&[Event {
            at: Timestamp::from_micros(5),
            kind,
        }]);
        assert_eq!(decode_batch(&bytes).expect("it was just encoded").len(), 1);
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_bytes_of_every_event_are_frozen() {
        let path = || Path::from("a");
        let failure = || AttemptFailure {
            code: Some("c".into()),
            causes: vec!["d".into()],
            ..AttemptFailure::new(StepFailureKind::Panicked, "m")
        };
        let due = Timestamp::from_micros(300);
        let payload = || Payload(vec![7, 8]);
        assert_eq!(
            hex(EventKind::Started {
                input: payload(),
                seed: [1; 16]
            }),
            "01050002070801010101010101010101010101010101"
        );
        assert_eq!(
            hex(EventKind::StepSucceeded {
                step: path(),
                attempt: 1,
                result: payload()
            }),
            "0105010161010207 08".replace(' ', "")
        );
        assert_eq!(
            hex(EventKind::StepFailed {
                step: path(),
                attempt: 2,
                failure: failure()
            }),
            "0105020161020201 6d0101630101 64".replace(' ', "")
        );
        assert_eq!(
            hex(EventKind::AttemptFailed {
                step: path(),
                attempt: 2,
                failure: failure(),
                retry_at: due
            }),
            "01050301610202016d010163010164ac02"
        );
        assert_eq!(
            hex(EventKind::AttemptStarted {
                step: path(),
                attempt: 2
            }),
            "010504016102"
        );
        assert_eq!(
            hex(EventKind::AttemptInterrupted {
                step: path(),
                attempt: 2
            }),
            "010505016102"
        );
        assert_eq!(
            hex(EventKind::Dropped {
                checkpoint: path(),
                kind: CheckpointKind::Signal
            }),
            "010506016102"
        );
        assert_eq!(hex(EventKind::SleepBegan { sleep: path(), due }), "0105070161ac02");
        assert_eq!(hex(EventKind::SleepEnded { sleep: path() }), "0105080161");
        assert_eq!(
            hex(EventKind::WaitBegan {
                wait: path(),
                deadline: due
            }),
            "0105090161ac02"
        );
        assert_eq!(
            hex(EventKind::SignalReceived {
                wait: path(),
                sequence: 3,
                payload: payload()
            }),
            "01050a016103020708"
        );
        assert_eq!(hex(EventKind::WaitElapsed { wait: path() }), "01050b0161");
        assert_eq!(
            hex(EventKind::SignalSetAside {
                wait: path(),
                sequence: 3,
                payload: payload(),
                reason: "r".into()
            }),
            "01050c0161030207080172"
        );
        assert_eq!(hex(EventKind::Drawn { path: path(), value: 9 }), "01050d016109");
        assert_eq!(hex(EventKind::CancelRequested { reason: "r".into() }), "01050e0172");
        assert_eq!(hex(EventKind::Completed { output: payload() }), "01050f020708");
        assert_eq!(
            hex(EventKind::Failed {
                failure: Failure::new("m")
            }),
            "010510016d0000000000"
        );
        assert_eq!(hex(EventKind::Cancelled { reason: "r".into() }), "0105110172");
        assert_eq!(hex(EventKind::Patched { id: "c".into() }), "0105120163");
        assert_eq!(hex(EventKind::Kept { id: "c".into() }), "0105140163");
        assert_eq!(hex(EventKind::Behaviour { number: 2 }), "01051302");
    }

    #[test]
    fn an_unknown_format_is_refused() {
        assert_eq!(
            decode_batch(&[2, 0]).unwrap_err(),
            "a journal batch of format 2; this version reads format 1"
        );
        assert!(decode_batch(&[]).is_err());
        assert!(decode_batch(&[1, 0, 99]).is_err());
    }

    #[test]
    fn the_numbers_of_checkpoint_kinds_are_frozen() {
        for (number, kind) in [
            (0, CheckpointKind::Step),
            (1, CheckpointKind::Sleep),
            (2, CheckpointKind::Signal),
        ] {
            assert_eq!(postcard::to_stdvec(&kind).expect("a kind encodes"), [number], "{kind}");
        }
    }
}
