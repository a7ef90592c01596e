//! Checkpoints that the code has reached: their life cycles, and what checkpoint futures may ask and tell.

use super::divergence::Fault;
use super::event::{CheckpointKind, EventKind};
use super::path::{Location, Path};
use super::replay::CommandKey;
use super::{Machine, OpenNo, Retry};
use crate::failure::{AttemptFailure, StepError};
use crate::payload::Payload;
use crate::time::Timestamp;
use std::time::Duration;

/// How many steps that are not gated any more stay on the list of those that are before it is gone through.
const UNGATED_MAX: usize = 32;

pub(super) struct Open {
    pub(super) kind: CheckpointKind,
    pub(super) path: Path,
    pub(super) location: Location,
    pub(super) state: OpenState,
}

pub(super) enum OpenState {
    Step {
        rules: StepRules,
        phase: Phase,
        failures: u32,
    },
    Sleep {
        due: Timestamp,
    },
    Wait {
        name: &'static str,
        deadline: Option<Timestamp>,
        check: SignalCheck,
    },
    /// Of a checkpoint that the code has no more: passes what the journal has of it.
    Removed,
    /// The answer is there; the checkpoint is about to take it.
    Answered(Delivery),
}

/// Whether bytes are a signal of the type that a wait asks for.
pub(crate) type SignalCheck = fn(&[u8]) -> Result<(), String>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Begins when everything that led to it is durable.
    Gated {
        attempt: u32,
    },
    /// Of a step that runs at most once: gated, and that it begins is in the journal or on its way there.
    Announced {
        attempt: u32,
    },
    Running {
        attempt: u32,
        timeout: Option<Timestamp>,
    },
    BackingOff {
        next: u32,
        due: Timestamp,
    },
}

/// What a step's author decided about its attempts.
#[derive(Clone, Debug)]
pub(crate) struct StepRules {
    pub(crate) retry: Retry,
    pub(crate) timeout: Option<Duration>,
    pub(crate) at_most_once: bool,
}

/// How one attempt ended.
#[derive(Debug)]
pub(crate) enum StepOutcome {
    Succeeded(Payload),
    /// `retryable` is the body's and the predicate's word; the policy has its own.
    Failed {
        failure: AttemptFailure,
        retryable: bool,
    },
}

/// What a checkpoint gets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    Step(Result<Payload, StepError>),
    SleepEnded,
    Signal(Payload),
    Elapsed,
    /// Of a checkpoint that is gone, and of which nothing counts.
    Passed,
}

/// What a step's future must do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StepView {
    /// Nothing: no body may run now. One that does belongs to an attempt that is over.
    Wait,
    /// Poll the body of this attempt, and make it first if there is none.
    Run(u32),
    /// Take the answer with [`Machine::take`].
    Answered,
}

/// What an instance is doing, for people.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Activity {
    /// Steps with a body that runs or is about to: path and attempt.
    pub(crate) running: Vec<(String, u32)>,
    pub(crate) waiting: Vec<WaitingFor>,
    /// Signals that no wait has consumed: name and when they were accepted, in order.
    pub(crate) buffered: Vec<(String, Timestamp)>,
}

/// One thing that an instance waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitingFor {
    /// A sleep that ends at `until`.
    Sleep {
        /// The checkpoint path of the sleep.
        sleep: String,
        /// When it ends.
        until: Timestamp,
    },
    /// A signal.
    Signal {
        /// The signal's name.
        name: String,
        /// When the wait gives up, if ever.
        deadline: Option<Timestamp>,
    },
    /// The next attempt of a step.
    Retry {
        /// The checkpoint path of the step.
        step: String,
        /// The number of the next attempt.
        attempt: u32,
        /// When it begins.
        at: Timestamp,
    },
}

impl Machine {
    /// A step was reached: its first attempt begins when that is durable, or its recorded end is about to be delivered.
    pub(crate) fn open_step(&mut self, path: Path, location: Location, rules: StepRules) -> OpenNo {
        let phase = Phase::Gated { attempt: 1 };
        let state = OpenState::Step {
            rules,
            phase,
            failures: 0,
        };
        let open = self.insert(CheckpointKind::Step, path, location, state);
        self.hold(open);
        open
    }

    /// A sleep was reached. `due` is used only if the journal has no instant for it.
    pub(crate) fn open_sleep(&mut self, path: Path, location: Location, due: Timestamp) -> OpenNo {
        let command = EventKind::SleepBegan {
            sleep: path.clone(),
            due,
        };
        let due = match self.command(CommandKey::Sleep(path.clone()), command, location) {
            Some(EventKind::SleepBegan { due, .. }) => due,
            Some(_) | None => due,
        };
        let open = self.insert(CheckpointKind::Sleep, path, location, OpenState::Sleep { due });
        self.deadlines.insert((due, open));
        open
    }

    /// A wait for a signal was reached. `deadline` is used only if the journal has none for it.
    pub(crate) fn open_wait(
        &mut self,
        path: Path,
        location: Location,
        name: &'static str,
        deadline: Option<Timestamp>,
        check: SignalCheck,
    ) -> OpenNo {
        let deadline = deadline.map(|deadline| {
            let command = EventKind::WaitBegan {
                wait: path.clone(),
                deadline,
            };
            match self.command(CommandKey::Wait(path.clone()), command, location) {
                Some(EventKind::WaitBegan { deadline, .. }) => deadline,
                Some(_) | None => deadline,
            }
        });
        let open = self.insert(
            CheckpointKind::Signal,
            path,
            location,
            OpenState::Wait { name, deadline, check },
        );
        if let Some(deadline) = deadline {
            self.deadlines.insert((deadline, open));
        }
        self.signals.open_wait(name, open);
        open
    }

    /// Chance was drawn; the value follows from the seed and the path and is recorded as a check.
    pub(crate) fn draw(&mut self, path: &Path, location: Location, value: u64) {
        let command = EventKind::Drawn {
            path: path.clone(),
            value,
        };
        let recorded = self.command(CommandKey::Draw(path.clone()), command, location);
        if let Some(EventKind::Drawn { value: recorded, .. }) = recorded
            && recorded != value
        {
            self.set_fault(Fault::bad_data(format!(
                "chance `{path}` was recorded as {recorded} and is {value} now"
            )));
        }
    }

    /// The code dropped a checkpoint: whatever comes for it later is nobody's.
    pub(crate) fn dropped(&mut self, open: OpenNo) {
        let Some(Open {
            kind,
            path,
            location,
            state,
        }) = self.close(open)
        else {
            return;
        };
        match state {
            OpenState::Answered(_) => {}
            OpenState::Removed if self.changes.forget(open) => {}
            OpenState::Step { .. } | OpenState::Sleep { .. } | OpenState::Wait { .. } | OpenState::Removed => {
                let command = EventKind::Dropped {
                    checkpoint: path.clone(),
                    kind,
                };
                self.command(CommandKey::Drop(kind, path), command, location);
            }
        }
    }

    pub(crate) fn step_view(&self, open: OpenNo) -> StepView {
        match self.open.get(open).map(|open| &open.state) {
            Some(OpenState::Step {
                phase: Phase::Running { attempt, .. },
                ..
            }) => StepView::Run(*attempt),
            Some(OpenState::Answered(_)) => StepView::Answered,
            Some(OpenState::Step { .. } | OpenState::Sleep { .. } | OpenState::Wait { .. } | OpenState::Removed)
            | None => StepView::Wait,
        }
    }

    /// The answer, once: the checkpoint is closed by it.
    pub(crate) fn take(&mut self, open: OpenNo) -> Option<Delivery> {
        match self.open.get(open).map(|open| &open.state) {
            Some(OpenState::Answered(_)) => match self.open.remove(open)?.state {
                OpenState::Answered(delivery) => Some(delivery),
                OpenState::Step { .. } | OpenState::Sleep { .. } | OpenState::Wait { .. } | OpenState::Removed => None,
            },
            Some(OpenState::Step { .. } | OpenState::Sleep { .. } | OpenState::Wait { .. } | OpenState::Removed)
            | None => None,
        }
    }

    /// An attempt ended. It counts only if that attempt is still the running one when its turn comes.
    pub(crate) fn step_outcome(&mut self, open: OpenNo, attempt: u32, outcome: StepOutcome) {
        self.outcomes.push_back((open, attempt, outcome));
    }

    pub(crate) fn activity(&self) -> Activity {
        let mut activity = Activity {
            buffered: self.signals.buffered(),
            ..Activity::default()
        };
        for open in self.open.in_order() {
            match &open.state {
                OpenState::Step {
                    phase: Phase::Gated { attempt } | Phase::Announced { attempt } | Phase::Running { attempt, .. },
                    ..
                } => {
                    activity.running.push((open.path.to_string(), *attempt));
                }
                OpenState::Step {
                    phase: Phase::BackingOff { next, due },
                    ..
                } => {
                    let step = open.path.to_string();
                    activity.waiting.push(WaitingFor::Retry {
                        step,
                        attempt: *next,
                        at: *due,
                    });
                }
                OpenState::Sleep { due } => {
                    activity.waiting.push(WaitingFor::Sleep {
                        sleep: open.path.to_string(),
                        until: *due,
                    });
                }
                OpenState::Wait { name, deadline, .. } => {
                    activity.waiting.push(WaitingFor::Signal {
                        name: (*name).to_owned(),
                        deadline: *deadline,
                    });
                }
                OpenState::Removed | OpenState::Answered(_) => {}
            }
        }
        activity
    }

    /// The names of the open signal waits, sorted, one entry for each wait.
    pub(crate) fn awaited_signals(&self) -> Vec<String> {
        self.signals.awaited()
    }

    /// Rises whenever [`Machine::awaited_signals`] may have changed.
    pub(crate) fn awaited_revision(&self) -> u64 {
        self.signals.revision()
    }

    pub(super) fn insert(&mut self, kind: CheckpointKind, path: Path, location: Location, state: OpenState) -> OpenNo {
        let recorded = (!self.replay.is_empty()).then(|| path.clone());
        let open = self.open.insert(Open {
            kind,
            path,
            location,
            state,
        });
        if let Some(path) = recorded {
            self.by_path.insert(kind, path, open);
        }
        open
    }

    /// Takes a checkpoint out of every index.
    pub(super) fn close(&mut self, open: OpenNo) -> Option<Open> {
        let closed = self.open.remove(open)?;
        self.leave(open, (closed.kind, &closed.path), &closed.state);
        Some(closed)
    }

    /// Closes a checkpoint and leaves the answer for its future.
    pub(super) fn answer(&mut self, open: OpenNo, delivery: Delivery) {
        if let Some(Open { kind, path, state, .. }) = self.open.get_mut(open) {
            let before = std::mem::replace(state, OpenState::Answered(delivery));
            let (kind, path) = (*kind, path.clone());
            self.leave(open, (kind, &path), &before);
        }
    }

    /// Takes a checkpoint that was in this state out of every index but the first.
    fn leave(&mut self, open: OpenNo, (kind, path): (CheckpointKind, &Path), state: &OpenState) {
        self.by_path.remove(kind, path, open);
        match state {
            OpenState::Step { phase, .. } => self.leave_phase(open, *phase),
            OpenState::Sleep { due } => {
                self.deadlines.remove(&(*due, open));
            }
            OpenState::Wait { name, deadline, .. } => {
                if let Some(deadline) = deadline {
                    self.deadlines.remove(&(*deadline, open));
                }
                self.signals.close_wait(name, open);
            }
            OpenState::Removed | OpenState::Answered(_) => {}
        }
    }

    /// A step waits for what led to it to be durable.
    fn hold(&mut self, open: OpenNo) {
        self.active += 1;
        self.held += 1;
        if self.gated.len() > 2 * self.held + UNGATED_MAX {
            self.forget_ungated();
        }
        self.gated.push(open);
    }

    pub(super) fn forget_ungated(&mut self) {
        let mut gated = std::mem::take(&mut self.gated);
        gated.retain(|open| self.is_held(*open));
        self.gated = gated;
    }

    pub(super) fn is_held(&self, open: OpenNo) -> bool {
        match self.open.get(open).map(|open| &open.state) {
            Some(OpenState::Step { phase, .. }) => match phase {
                Phase::Gated { .. } | Phase::Announced { .. } => true,
                Phase::Running { .. } | Phase::BackingOff { .. } => false,
            },
            Some(OpenState::Sleep { .. } | OpenState::Wait { .. } | OpenState::Removed | OpenState::Answered(_))
            | None => false,
        }
    }

    pub(super) fn set_phase(&mut self, open: OpenNo, next: Phase) {
        let Some(Open {
            state: OpenState::Step { phase, .. },
            ..
        }) = self.open.get_mut(open)
        else {
            return;
        };
        let before = std::mem::replace(phase, next);
        self.leave_phase(open, before);
        match next {
            Phase::Gated { .. } | Phase::Announced { .. } => self.hold(open),
            Phase::Running { timeout, .. } => {
                self.active += 1;
                if let Some(timeout) = timeout {
                    self.deadlines.insert((timeout, open));
                }
            }
            Phase::BackingOff { due, .. } => {
                self.deadlines.insert((due, open));
            }
        }
    }

    fn leave_phase(&mut self, open: OpenNo, phase: Phase) {
        match phase {
            Phase::Gated { .. } | Phase::Announced { .. } => {
                self.active -= 1;
                self.held -= 1;
                // Where it is not the last, it is passed over later.
                self.gated.pop_if(|last| *last == open);
            }
            Phase::Running { timeout, .. } => {
                self.active -= 1;
                if let Some(timeout) = timeout {
                    self.deadlines.remove(&(timeout, open));
                }
            }
            Phase::BackingOff { due, .. } => {
                self.deadlines.remove(&(due, open));
            }
        }
    }

    /// Whether a body is to be started: the step is still there and still waits for its gate. One that runs at most once is
    /// announced first: only what the journal says has begun can have been interrupted.
    pub(super) fn begin_attempt(&mut self, open: OpenNo, now: Timestamp) -> bool {
        let Some(Open {
            path,
            state: OpenState::Step { rules, phase, .. },
            ..
        }) = self.open.get(open)
        else {
            return false;
        };
        match *phase {
            Phase::Gated { attempt } if rules.at_most_once => {
                let step = path.clone();
                self.append_at_clock(now, &EventKind::AttemptStarted { step, attempt });
                self.set_phase(open, Phase::Announced { attempt });
                false
            }
            Phase::Gated { attempt } | Phase::Announced { attempt } => {
                let timeout = rules.timeout.map(|timeout| now + timeout);
                self.set_phase(open, Phase::Running { attempt, timeout });
                true
            }
            Phase::Running { .. } | Phase::BackingOff { .. } => false,
        }
    }
}
