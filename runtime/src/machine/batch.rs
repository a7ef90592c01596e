//! The events of a turn, encoded as they come: a value goes into the bytes and on to the code, and nowhere else. Absent on
//! purpose: what the events mean.

use super::event::{EVENT_BYTES, EventKind, FORMAT, encode_into};
use super::replay::CommandKey;
use crate::time::Timestamp;

/// What was appended since the last commit.
#[derive(Debug, Default)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    events: Vec<Mark>,
    /// How many of the events must be durable before anything follows from them.
    forcing: usize,
}

/// What of an event is still to be known once it is bytes.
#[derive(Debug)]
struct Mark {
    begins_at: usize,
    is_command: bool,
    forces_commit: bool,
}

impl Batch {
    pub(super) fn append(&mut self, at: Timestamp, kind: &EventKind) {
        self.bytes.reserve(EVENT_BYTES + kind.value_bytes());
        if self.bytes.is_empty() {
            self.bytes.push(FORMAT);
        }
        let mark = Mark {
            begins_at: self.bytes.len(),
            is_command: CommandKey::is_command(kind),
            forces_commit: kind.forces_commit(),
        };
        self.forcing += usize::from(mark.forces_commit);
        self.events.push(mark);
        encode_into(&mut self.bytes, at, kind);
    }

    pub(super) fn needs_commit(&self) -> bool {
        self.forcing > 0
    }

    /// Takes back what the code did by itself since the last event that came from outside.
    pub(super) fn discard_commands(&mut self) {
        while let Some(mark) = self.events.pop_if(|mark| mark.is_command) {
            self.bytes.truncate(mark.begins_at);
            self.forcing -= usize::from(mark.forces_commit);
        }
    }

    /// The bytes of the batch, if there is any event.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        let has_events = !self.events.is_empty();
        self.events.clear();
        self.forcing = 0;
        let bytes = std::mem::take(&mut self.bytes);
        has_events.then_some(bytes)
    }
}
