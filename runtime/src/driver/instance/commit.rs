//! What a turn leaves: the one commit that is under way, the record that it writes, and the bodies that it releases.
//! Absent on purpose: polling.

use super::{Commit, End, Progress, Task, drop_future};
use crate::driver::code::Run;
use crate::driver::engine::Outcome;
use crate::machine::{EventKind, Fault, FaultKind, Machine, OpenNo, decode_batch};
use crate::store::{RecordChange, Status, Write};
use crate::time::Timestamp;
use std::sync::Arc;
use tracing::level_filters::LevelFilter;

impl Task {
    /// Commits what must be committed, or releases what may begin. `true` if bodies were released and want a poll.
    pub(super) fn settle(&mut self, future: &mut Option<Run<'_>>) -> bool {
        if self.is_committing() {
            return false;
        }
        if let (None, Some(fault)) = (
            &self.end,
            self.turn.as_ref().and_then(|turn| turn.machine.fault().cloned()),
        ) {
            drop_future(future);
            self.quarantine(&fault);
        }
        if let Some(record) = self.end.as_ref().map(End::record) {
            drop_future(future);
            self.commit(record);
            self.commit = Commit::Last;
            return false;
        }
        if self.progress != Progress::Live {
            return false;
        }
        if !self.machine().has_open() && !self.root.is_woken() {
            let fault = Fault::defect("the workflow waits for something that is not durable, and nothing can wake it");
            self.machine().set_fault(fault);
            return true;
        }
        let wanted = self.wanted_record();
        if self.machine().needs_commit() || wanted != self.recorded {
            self.commit(wanted);
            return false;
        }
        if self.engine.is_draining() || !self.machine().has_gated() {
            return false;
        }
        let now = self.now();
        let released = self.release(|machine| machine.release_gated(now));
        if self.machine().needs_commit() {
            // Steps that run at most once were announced: they begin when that is durable.
            let wanted = self.wanted_record();
            self.commit(wanted);
        }
        released
    }

    /// Wakes the steps that may begin now.
    pub(super) fn release(&mut self, take: impl FnOnce(&mut Machine) -> &[OpenNo]) -> bool {
        self.turn.as_mut().is_some_and(|turn| turn.release(take))
    }

    /// The record as it should be on disk. One that says `Queued` is as good as `Running`, and is not rewritten for it.
    ///
    /// An instance whose steps a shutdown keeps from beginning waits, and is due at once: the next process must know that
    /// none of them was interrupted.
    fn wanted_record(&mut self) -> RecordChange {
        let is_held_back = self.engine.is_draining() && !self.machine().has_running();
        let machine = self.machine();
        if machine.is_waiting() || is_held_back {
            let awaited_signals = machine.awaited_signals();
            let wake_at = if machine.is_waiting() {
                machine.next_due()
            } else {
                // Not an instant of this process: its clock may be ahead of the next one's.
                Some(Timestamp::EPOCH)
            };
            return RecordChange {
                status: Status::Waiting,
                awaited_signals,
                wake_at,
                trouble: None,
            };
        }
        let status = if self.recorded.status == Status::Queued {
            Status::Queued
        } else {
            Status::Running
        };
        RecordChange {
            status,
            awaited_signals: Vec::new(),
            wake_at: None,
            trouble: None,
        }
    }

    fn quarantine(&mut self, fault: &Fault) {
        self.machine().discard_faulty_poll();
        let trouble = fault.message.clone();
        if self.recorded.trouble.as_ref() != Some(&trouble) {
            let kind = match fault.kind {
                FaultKind::Divergence => "divergence",
                FaultKind::BadData => "bad data",
                FaultKind::Defect => "defect",
            };
            self.span
                .in_scope(|| tracing::error!(kind, trouble, "the instance is quarantined"));
        }
        self.end = Some(End::Stopped {
            status: Status::Quarantined,
            trouble,
        });
    }

    fn commit(&mut self, change: RecordChange) {
        let now = self.now();
        let batch = self.machine().seal();
        let expected_batches = self.batches;
        let has_events = batch.events.is_some();
        if let Some(events) = &batch.events
            && LevelFilter::current() >= LevelFilter::WARN
        {
            self.span.in_scope(|| log(events));
        }
        let change = (change != self.recorded).then_some(change);
        if let Some(change) = &change {
            self.recorded = change.clone();
        }
        self.batches += u64::from(has_events);
        self.commit = Commit::UnderWay;
        if !has_events && change.is_none() && batch.consumed_signals.is_empty() {
            // An instance that stops again for the same reason: all of it is on disk already.
            self.live.receipt(Ok(true));
            return;
        }
        let write = Write::Turn {
            instance: self.live.number,
            expected_batches,
            batch: batch.events,
            change,
            consumed_signals: batch.consumed_signals,
            at: now,
        };
        self.engine.commit_turn(write, Arc::clone(&self.live));
    }

    pub(super) fn announce(&mut self, end: End) {
        match end {
            End::Outcome(outcome) => self.engine.announce(self.live.number, outcome),
            End::Stopped { status, trouble } => {
                self.engine
                    .announce(self.live.number, Outcome::Stopped { status, trouble });
            }
        }
    }
}

/// Only when somebody listens: the events are there in bytes alone.
fn log(batch: &[u8]) {
    for event in decode_batch(batch).unwrap_or_default() {
        match &event.kind {
            EventKind::AttemptFailed { .. }
            | EventKind::StepFailed { .. }
            | EventKind::AttemptInterrupted { .. }
            | EventKind::SignalSetAside { .. }
            | EventKind::Failed { .. } => tracing::warn!("{}", event.kind),
            EventKind::Started { .. }
            | EventKind::StepSucceeded { .. }
            | EventKind::AttemptStarted { .. }
            | EventKind::Dropped { .. }
            | EventKind::SleepBegan { .. }
            | EventKind::SleepEnded { .. }
            | EventKind::WaitBegan { .. }
            | EventKind::SignalReceived { .. }
            | EventKind::WaitElapsed { .. }
            | EventKind::Drawn { .. }
            | EventKind::CancelRequested { .. }
            | EventKind::Completed { .. }
            | EventKind::Cancelled { .. }
            | EventKind::Patched { .. }
            | EventKind::Kept { .. }
            | EventKind::Behaviour { .. } => tracing::debug!("{}", event.kind),
        }
    }
}
