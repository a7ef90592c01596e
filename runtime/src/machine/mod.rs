//! Layer 1: the pure core. It decides what an instance does next; it never polls, waits, reads or writes.
//!
//! Told everything, asks nothing: time, chance and the outcomes of bodies come in as arguments; events to commit, bodies to
//! release and answers to checkpoints are taken out. Absent on purpose: tokio, sled, threads, clocks, randomness, hash maps.
//!
//! # Why live order and replay order are the same
//!
//! Workflow code moves only because [`Machine::next`] delivers one event to one checkpoint and the driver then polls the
//! workflow to rest. Live, the event is made from what arrived and appended to the batch; on replay it is the next of the
//! journal. What the code does by itself in that poll (begins a sleep, draws chance, drops a loser) are *commands*; they
//! follow their event in the journal as one *segment*. On replay a segment's commands are laid out before the poll and
//! must be claimed by it exactly: one that is missing or left over is a divergence. In the last segment new commands are
//! allowed, because nothing recorded contradicts them.
//!
//! # Attempts
//!
//! A first attempt leaves no event: the events before it imply it. So after a crash an open step of an instance that was
//! not waiting *may have begun*: [`Machine::resume`] records it as interrupted, together with the attempt that follows.
//! The only attempt of a step that runs at most once is announced in a commit of its own before it begins, so that one
//! which never began is not called interrupted.

mod batch;
mod change;
mod checkpoint;
mod divergence;
mod event;
mod index;
mod live;
mod path;
mod recorded;
mod replay;
mod retry;
mod signals;
mod slots;
mod waiting;

#[cfg(test)]
mod tests;

pub use checkpoint::WaitingFor;
pub(crate) use checkpoint::{Activity, Delivery, SignalCheck, StepOutcome, StepRules, StepView};
pub(crate) use divergence::{Fault, FaultKind};
pub(crate) use event::{CheckpointKind, Event, EventKind, decode_batch, decode_into, encode_batch};
pub(crate) use path::{Location, Path, ScopeNames};
pub use retry::Retry;
pub(crate) use slots::OpenNo;
pub(crate) use waiting::waiting_for;

use crate::payload::Payload;
use crate::store::StoredSignal;
use crate::time::Timestamp;
use batch::Batch;
use change::Changes;
use index::Index;
use recorded::Recorded;
use replay::CommandKey;
use signals::Signals;
use slots::Slots;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What this engine does, as a number that every instance keeps from its start on.
///
/// A fix that would make an old history replay otherwise raises it, and asks [`Machine::behaviour`] whether the instance
/// is old enough to be treated as before.
const BEHAVIOUR: u32 = 1;

/// The state of one instance between two events.
pub(crate) struct Machine {
    /// The instant of the event that was delivered last: what `now!()` reads, and what durations count from.
    now: Timestamp,
    seed: [u8; 16],
    /// What the engine did when the instance was started, see [`BEHAVIOUR`].
    behaviour: u32,
    /// Recorded events that are not delivered yet.
    replay: Recorded,
    /// Commands that the segment under way has recorded and the code has not claimed yet.
    expected: BTreeMap<CommandKey, (usize, EventKind)>,
    /// Whether the poll under way answers a recorded event.
    replaying: bool,
    open: Slots,
    /// What recorded events are for; kept only while there are any.
    by_path: Index,
    /// Steps whose body runs or is about to.
    active: usize,
    outcomes: VecDeque<(OpenNo, u32, StepOutcome)>,
    signals: Signals,
    deadlines: BTreeSet<(Timestamp, OpenNo)>,
    /// How many of them wait for what led to them to be durable.
    held: usize,
    /// Steps that may begin once everything that led to them is durable, and some that were that before.
    gated: Vec<OpenNo>,
    /// Steps whose causes are in the commit under way, and some that were dropped since.
    sealed: Vec<OpenNo>,
    /// Those that began last; kept for its room.
    released: Vec<OpenNo>,
    batch: Batch,
    consumed_signals: Vec<u64>,
    changes: Changes,
    fault: Option<Fault>,
}

/// What the driver must do after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Wake this checkpoint and poll the workflow: its answer is there.
    Deliver(OpenNo),
    /// Wake this checkpoint: its body is to be dropped.
    Notify(OpenNo),
    /// An event that workflow code does not see.
    Quiet,
    /// Nothing arrived. The journal, if any, is replayed.
    Idle,
}

/// What a turn produced, to be written as one.
#[derive(Debug, Default)]
pub(crate) struct TurnBatch {
    /// The events, encoded, if there are any.
    pub(crate) events: Option<Vec<u8>>,
    pub(crate) consumed_signals: Vec<u64>,
}

impl Machine {
    /// A machine for a journal, whose first event is `Started`, and the signals that it has not consumed.
    pub(crate) fn new(journal: Vec<Event>, signals: Vec<StoredSignal>, accepted: u64) -> Result<Self, Fault> {
        let Some(Event {
            at,
            kind: EventKind::Started { seed, .. },
        }) = journal.first()
        else {
            return Err(Fault::bad_data("the journal does not begin with a start"));
        };
        let (now, seed) = (*at, *seed);
        let behaviour = behaviour_of(&journal)?;
        let is_written_down = matches!(
            journal.get(1),
            Some(Event {
                kind: EventKind::Behaviour { .. },
                ..
            })
        );
        let first = 1 + usize::from(is_written_down);
        let mut machine = Self {
            now,
            seed,
            behaviour,
            replay: Recorded::after(first, journal),
            expected: BTreeMap::new(),
            replaying: false,
            open: Slots::default(),
            by_path: Index::default(),
            active: 0,
            held: 0,
            outcomes: VecDeque::new(),
            signals: Signals::new(signals, accepted),
            deadlines: BTreeSet::new(),
            gated: Vec::new(),
            sealed: Vec::new(),
            released: Vec::new(),
            batch: Batch::default(),
            consumed_signals: Vec::new(),
            changes: Changes::default(),
            fault: None,
        };
        machine.replaying = !machine.replay.is_empty();
        machine.lay_out_segment();
        Ok(machine)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    pub(crate) fn seed(&self) -> &[u8; 16] {
        &self.seed
    }

    /// The [`BEHAVIOUR`] that the instance was started with.
    #[cfg_attr(not(test), expect(dead_code, reason = "asked by the first fix that needs it"))]
    pub(crate) fn behaviour(&self) -> u32 {
        self.behaviour
    }

    pub(crate) fn is_replaying(&self) -> bool {
        self.replaying
    }

    /// Whether the journal is used up, and the code repeated all of it.
    pub(crate) fn is_replayed(&self) -> bool {
        self.replay.is_empty() && self.expected.is_empty() && !self.changes.is_passing()
    }

    /// Why the instance must stop, once there is a reason. It never goes away.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// The first fault is the cause; later ones are its consequences.
    pub(crate) fn set_fault(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    /// Delivers the next event, recorded or new. `chance` is a uniform random number for jitter.
    pub(crate) fn next(&mut self, now: Timestamp, chance: u32) -> Next {
        if self.fault.is_some() {
            return Next::Idle;
        }
        if let Some(next) = self.pass_removed() {
            return next;
        }
        if !self.is_replayed() {
            return self.next_recorded();
        }
        self.replaying = false;
        self.changes.replay_is_over();
        self.next_live(now, chance)
    }

    /// Takes what must be committed. Steps that wait for it begin with [`Machine::release_sealed`].
    pub(crate) fn seal(&mut self) -> TurnBatch {
        // Only what is held now: a step that was gated, failed and is gated anew later must not begin with this commit.
        self.forget_ungated();
        self.sealed.append(&mut self.gated);
        TurnBatch {
            events: self.batch.take(),
            consumed_signals: std::mem::take(&mut self.consumed_signals),
        }
    }

    /// Whether something happened that must be durable before anything follows from it.
    pub(crate) fn needs_commit(&self) -> bool {
        self.batch.needs_commit()
    }

    /// The commit is durable: these steps begin now. Those that run at most once are announced instead, for the next commit.
    pub(crate) fn release_sealed(&mut self, now: Timestamp) -> &[OpenNo] {
        self.released.clear();
        self.released.append(&mut self.sealed);
        self.release(now)
    }

    /// Everything that led here is durable already: these steps begin now. Those that run at most once are announced
    /// instead, for the next commit.
    pub(crate) fn release_gated(&mut self, now: Timestamp) -> &[OpenNo] {
        self.released.clear();
        self.released.append(&mut self.gated);
        self.release(now)
    }

    /// In the order in which the code reached them.
    fn release(&mut self, now: Timestamp) -> &[OpenNo] {
        let mut held = std::mem::take(&mut self.released);
        held.sort_unstable();
        held.dedup();
        held.retain(|open| self.begin_attempt(*open, now));
        self.released = held;
        &self.released
    }

    pub(crate) fn has_gated(&self) -> bool {
        self.gated.iter().any(|open| self.is_held(*open))
    }

    /// Whether only signals, sleeps and back-offs are awaited.
    pub(crate) fn is_waiting(&self) -> bool {
        self.active == 0
    }

    /// Whether a body runs, as opposed to waiting for its causes to be durable.
    pub(crate) fn has_running(&self) -> bool {
        self.active > self.held
    }

    /// Whether the code has reached any checkpoint that is not answered.
    pub(crate) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The poll under way ended in a fault: what the code did by itself in it is not recorded, so that mended code may do
    /// otherwise. What came from outside is kept.
    pub(crate) fn discard_faulty_poll(&mut self) {
        self.batch.discard_commands();
    }

    /// The earliest instant at which something is due.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.deadlines.first().map(|(due, _)| *due)
    }

    fn append(&mut self, at: Timestamp, kind: &EventKind) {
        self.batch.append(at, kind);
    }

    /// Appends what no poll answers, as of the wall clock. A clock that was set back must not make the journal run backwards.
    fn append_at_clock(&mut self, now: Timestamp, kind: &EventKind) {
        self.now = self.now.max(now);
        self.append(self.now, kind);
    }
}

/// The first events of a new instance.
pub(crate) fn start(at: Timestamp, input: Payload, seed: [u8; 16]) -> Vec<Event> {
    start_with(BEHAVIOUR, at, input, seed)
}

fn start_with(behaviour: u32, at: Timestamp, input: Payload, seed: [u8; 16]) -> Vec<Event> {
    let started = EventKind::Started { input, seed };
    // The first behaviour goes without saying, so that a journal has one event less.
    let number = (behaviour != 1).then_some(EventKind::Behaviour { number: behaviour });
    let kinds = std::iter::once(started).chain(number);
    kinds.map(|kind| Event { at, kind }).collect()
}

/// The behaviour that a journal was begun with; an error if this engine does not know it.
fn behaviour_of(journal: &[Event]) -> Result<u32, Fault> {
    let number = match journal.get(1).map(|event| &event.kind) {
        Some(EventKind::Behaviour { number }) => *number,
        Some(_) | None => 1,
    };
    if number > BEHAVIOUR {
        return Err(Fault::bad_data(format!(
            "it was written by a newer Steadfast, with engine behaviour {number}, and this one knows {BEHAVIOUR} at most; run it with that version or a later one"
        )));
    }
    Ok(number)
}
