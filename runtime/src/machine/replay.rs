//! Replay: recorded events, delivered in order, and recorded commands, claimed by the code that repeats them.

use super::checkpoint::{Delivery, Open, OpenState, Phase, StepOutcome};
use super::divergence::Fault;
use super::event::{CheckpointKind, EventKind};
use super::path::{Location, Path};
use super::{Machine, Next, OpenNo};
use crate::failure::{AttemptFailure, StepError, StepFailureKind};
use crate::time::Timestamp;

/// By what a command of the code finds its record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CommandKey {
    Sleep(Path),
    Wait(Path),
    Draw(Path),
    Drop(CheckpointKind, Path),
    Change(String),
    Kept(String),
}

impl CommandKey {
    pub(super) fn is_command(kind: &EventKind) -> bool {
        Self::of(kind).is_some()
    }

    /// `None` for what came from outside: only what workflow code did by itself, in the poll after the event before it, is a
    /// command.
    pub(super) fn of(kind: &EventKind) -> Option<CommandKey> {
        match kind {
            EventKind::SleepBegan { sleep, .. } => Some(CommandKey::Sleep(sleep.clone())),
            EventKind::WaitBegan { wait, .. } => Some(CommandKey::Wait(wait.clone())),
            EventKind::Drawn { path, .. } => Some(CommandKey::Draw(path.clone())),
            EventKind::Dropped { checkpoint, kind } => Some(CommandKey::Drop(*kind, checkpoint.clone())),
            EventKind::Patched { id } => Some(CommandKey::Change(id.clone())),
            EventKind::Kept { id } => Some(CommandKey::Kept(id.clone())),
            EventKind::Started { .. }
            | EventKind::StepSucceeded { .. }
            | EventKind::StepFailed { .. }
            | EventKind::AttemptFailed { .. }
            | EventKind::AttemptStarted { .. }
            | EventKind::AttemptInterrupted { .. }
            | EventKind::SleepEnded { .. }
            | EventKind::SignalReceived { .. }
            | EventKind::WaitElapsed { .. }
            | EventKind::SignalSetAside { .. }
            | EventKind::CancelRequested { .. }
            | EventKind::Completed { .. }
            | EventKind::Failed { .. }
            | EventKind::Cancelled { .. }
            | EventKind::Behaviour { .. } => None,
        }
    }
}

impl Machine {
    /// Moves the commands that follow the event under way from the journal to where the code finds them.
    pub(super) fn lay_out_segment(&mut self) {
        while let Some((_, kind)) = self.replay.first() {
            let Some(key) = CommandKey::of(kind) else { break };
            let is_passed_over = self.is_passed_over(kind);
            let Some((place, event)) = self.replay.take_first() else {
                break;
            };
            match key {
                // It says what an instance is told, and asks nothing of the code: that from before the change fits too.
                CommandKey::Kept(id) => self.changes.keeps(id),
                key if !is_passed_over => _ = self.expected.insert(key, (place, event.kind)),
                _ => {}
            }
        }
    }

    /// The code does something by itself. Gives the record of it on replay, and records it otherwise.
    pub(super) fn command(&mut self, key: CommandKey, command: EventKind, location: Location) -> Option<EventKind> {
        if let Some((_, recorded)) = self.expected.remove(&key) {
            return Some(recorded);
        }
        if self.replay.is_empty() {
            self.append(self.now, &command);
        } else if self.changes.has_just_passed() {
            return self.late_command(&key, command);
        } else if let Some((place, change)) = self.unclaimed_change() {
            // The code goes another way because it does not know the change.
            self.set_fault(Fault::unknown_change(place, change, &command, location));
        } else {
            self.set_fault(Fault::unrecorded_command(&command, location, self.replay.first()));
        }
        None
    }

    pub(super) fn next_recorded(&mut self) -> Next {
        if let Some((place, kind)) = self.first_unclaimed() {
            self.set_fault(Fault::unclaimed(place, kind, &self.open.in_order()));
            return Next::Idle;
        }
        let Some((place, event)) = self.replay.take_first() else {
            return Next::Idle;
        };
        self.now = event.at;
        self.changes.something_is_delivered();
        self.lay_out_segment();
        match event.kind.checkpoint() {
            None => {
                self.set_fault(Fault::unclaimed(place, &event.kind, &self.open.in_order()));
                Next::Idle
            }
            Some((kind, path)) => match self.by_path.get(kind, path) {
                Some(open) => self.apply_recorded(open, event.kind),
                // The code never saw it.
                None if matches!(event.kind, EventKind::SignalSetAside { .. }) => Next::Quiet,
                None => {
                    self.set_fault(Fault::unclaimed(place, &event.kind, &self.open.in_order()));
                    Next::Idle
                }
            },
        }
    }

    fn apply_recorded(&mut self, open: OpenNo, kind: EventKind) -> Next {
        if self.is_passed_over(&kind) {
            return Next::Quiet;
        }
        let delivery = match kind {
            EventKind::StepSucceeded { result, .. } => Delivery::Step(Ok(result)),
            EventKind::StepFailed { step, attempt, failure } => Delivery::Step(Err(StepError {
                step: step.to_string(),
                attempts: attempt,
                failure,
            })),
            EventKind::SleepEnded { .. } => Delivery::SleepEnded,
            EventKind::SignalReceived { payload, .. } => Delivery::Signal(payload),
            EventKind::WaitElapsed { .. } => Delivery::Elapsed,
            EventKind::AttemptFailed { attempt, retry_at, .. } => {
                self.back_off(open, attempt, retry_at);
                return Next::Quiet;
            }
            EventKind::AttemptStarted { attempt, .. } => {
                self.set_phase(open, self.begun(open, attempt));
                return Next::Quiet;
            }
            EventKind::AttemptInterrupted { attempt, .. } => {
                self.set_phase(
                    open,
                    Phase::Gated {
                        attempt: attempt.saturating_add(1),
                    },
                );
                return Next::Quiet;
            }
            EventKind::SignalSetAside { .. } => return Next::Quiet,
            EventKind::Started { .. }
            | EventKind::Dropped { .. }
            | EventKind::SleepBegan { .. }
            | EventKind::WaitBegan { .. }
            | EventKind::Drawn { .. }
            | EventKind::CancelRequested { .. }
            | EventKind::Completed { .. }
            | EventKind::Failed { .. }
            | EventKind::Cancelled { .. }
            | EventKind::Patched { .. }
            | EventKind::Kept { .. }
            | EventKind::Behaviour { .. } => return Next::Quiet,
        };
        self.answer(open, delivery);
        Next::Deliver(open)
    }

    /// The first command of the segment under way that the code has not repeated.
    fn first_unclaimed(&self) -> Option<(usize, &EventKind)> {
        let unclaimed = self.expected.values().map(|(place, kind)| (*place, kind));
        unclaimed.min_by_key(|(place, _)| *place)
    }

    pub(super) fn back_off(&mut self, open: OpenNo, attempt: u32, due: Timestamp) {
        if let Some(Open {
            state: OpenState::Step { failures, .. },
            ..
        }) = self.open.get_mut(open)
        {
            *failures = failures.saturating_add(1);
        }
        self.set_phase(
            open,
            Phase::BackingOff {
                next: attempt.saturating_add(1),
                due,
            },
        );
    }

    /// Replay is over. If bodies may have been running when the journal's last process ended, their attempts are closed
    /// as interrupted and the next ones begin with the same commit.
    pub(crate) fn resume(&mut self, interrupted: bool, now: Timestamp) {
        if self.fault.is_some() || !interrupted {
            return;
        }
        self.gated.sort_unstable();
        self.gated.dedup();
        for open in self.gated.clone() {
            let Some(Open {
                path,
                state: OpenState::Step { rules, phase, .. },
                ..
            }) = self.open.get(open)
            else {
                continue;
            };
            match *phase {
                Phase::Announced { attempt } => {
                    let failure = AttemptFailure::new(
                        StepFailureKind::Interrupted,
                        "the process ended during its only attempt, which may or may not have had its effect",
                    );
                    self.set_phase(open, Phase::Running { attempt, timeout: None });
                    self.step_outcome(
                        open,
                        attempt,
                        StepOutcome::Failed {
                            failure,
                            retryable: false,
                        },
                    );
                }
                Phase::Gated { attempt } if !rules.at_most_once => {
                    let step = path.clone();
                    self.append_at_clock(now, &EventKind::AttemptInterrupted { step, attempt });
                    self.set_phase(
                        open,
                        Phase::Gated {
                            attempt: attempt.saturating_add(1),
                        },
                    );
                }
                // Not announced, so it has not begun.
                Phase::Gated { .. } | Phase::Running { .. } | Phase::BackingOff { .. } => {}
            }
        }
    }

    /// The phase of a step of which the journal says that an attempt began.
    fn begun(&self, open: OpenNo, attempt: u32) -> Phase {
        match self.open.get(open).map(|open| &open.state) {
            Some(OpenState::Step { rules, .. }) if rules.at_most_once => Phase::Announced { attempt },
            Some(
                OpenState::Step { .. }
                | OpenState::Sleep { .. }
                | OpenState::Wait { .. }
                | OpenState::Removed
                | OpenState::Answered(_),
            )
            | None => Phase::Gated { attempt },
        }
    }

    /// The workflow returned. An error when the journal knows more than the code did.
    pub(crate) fn finish(&mut self, now: Timestamp, end: &EventKind) {
        let left_over = self.first_unclaimed();
        let left_over = left_over.or(self.replay.first());
        if let Some((place, kind)) = left_over {
            self.set_fault(Fault::returned_early(place, kind));
        } else if self.fault.is_none() {
            self.append(now, end);
        }
    }
}
