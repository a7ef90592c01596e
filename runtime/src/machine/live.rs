//! Live: what arrived becomes the next event. Bodies' outcomes first, then signals, then what is due; each in its order.

use super::checkpoint::{Delivery, Open, OpenState, Phase, StepOutcome};
use super::event::EventKind;
use super::path::Path;
use super::{Machine, Next, OpenNo};
use crate::failure::{AttemptFailure, StepError, StepFailureKind};
use crate::store::StoredSignal;
use crate::time::Timestamp;

impl Machine {
    /// A signal that the store accepted.
    pub(crate) fn offer_signal(&mut self, signal: StoredSignal) {
        self.signals.offer(signal);
    }

    /// A cancellation that the store accepted: the last events of the journal.
    pub(crate) fn cancel(&mut self, now: Timestamp, reason: String) {
        self.append_at_clock(now, &EventKind::CancelRequested { reason: reason.clone() });
        self.append_at_clock(now, &EventKind::Cancelled { reason });
    }

    pub(super) fn next_live(&mut self, now: Timestamp, chance: u32) -> Next {
        // A clock that was set back must not make the journal run backwards; what is due, it alone tells.
        let (clock, now) = (now, now.max(self.now));
        while let Some((open, attempt, outcome)) = self.outcomes.pop_front() {
            if let Some(next) = self.step_ended(now, chance, open, attempt, outcome) {
                return next;
            }
        }
        if let Some((open, signal)) = self.signals.take_match() {
            return self.receive(now, open, signal);
        }
        match self.deadlines.first().copied() {
            Some((due, open)) if due <= clock => self.fall_due(now, chance, open),
            Some(_) | None => Next::Idle,
        }
    }

    fn step_ended(
        &mut self,
        now: Timestamp,
        chance: u32,
        open: OpenNo,
        attempt: u32,
        outcome: StepOutcome,
    ) -> Option<Next> {
        let Some(Open {
            path,
            state:
                OpenState::Step {
                    rules,
                    phase: Phase::Running { attempt: running, .. },
                    failures,
                },
            ..
        }) = self.open.get(open)
        else {
            return None;
        };
        if *running != attempt {
            return None;
        }
        let step = path.clone();
        self.now = now;
        match outcome {
            StepOutcome::Succeeded(result) => {
                let event = EventKind::StepSucceeded { step, attempt, result };
                self.append(now, &event);
                if let EventKind::StepSucceeded { result, .. } = event {
                    self.answer(open, Delivery::Step(Ok(result)));
                }
                Some(Next::Deliver(open))
            }
            StepOutcome::Failed { failure, retryable } => {
                let delay = rules.retry.delay_after(failures.saturating_add(1), chance);
                let delay = delay.filter(|_| retryable && !rules.at_most_once);
                let retry_at = delay.map(|delay| now + delay);
                Some(self.attempt_failed(open, step, attempt, failure, retry_at))
            }
        }
    }

    /// The step is tried again at `retry_at`, or has failed.
    fn attempt_failed(
        &mut self,
        open: OpenNo,
        step: Path,
        attempt: u32,
        failure: AttemptFailure,
        retry_at: Option<Timestamp>,
    ) -> Next {
        let now = self.now;
        match retry_at {
            Some(retry_at) => {
                self.append(
                    now,
                    &EventKind::AttemptFailed {
                        step,
                        attempt,
                        failure,
                        retry_at,
                    },
                );
                self.back_off(open, attempt, retry_at);
                Next::Notify(open)
            }
            None => {
                let name = step.to_string();
                let event = EventKind::StepFailed { step, attempt, failure };
                self.append(now, &event);
                if let EventKind::StepFailed { failure, .. } = event {
                    let error = StepError {
                        step: name,
                        attempts: attempt,
                        failure,
                    };
                    self.answer(open, Delivery::Step(Err(error)));
                }
                Next::Deliver(open)
            }
        }
    }

    fn receive(&mut self, now: Timestamp, open: OpenNo, signal: StoredSignal) -> Next {
        let Some(Open {
            path,
            state: OpenState::Wait { check, .. },
            ..
        }) = self.open.get(open)
        else {
            return Next::Quiet;
        };
        let (wait, sequence) = (path.clone(), signal.sequence);
        let payload = crate::payload::Payload(signal.payload);
        self.now = now;
        self.consumed_signals.push(sequence);
        match check(&payload.0) {
            Ok(()) => {
                let event = EventKind::SignalReceived {
                    wait,
                    sequence,
                    payload,
                };
                self.append(now, &event);
                if let EventKind::SignalReceived { payload, .. } = event {
                    self.answer(open, Delivery::Signal(payload));
                }
                Next::Deliver(open)
            }
            Err(reason) => {
                self.append(
                    now,
                    &EventKind::SignalSetAside {
                        wait,
                        sequence,
                        payload,
                        reason,
                    },
                );
                Next::Quiet
            }
        }
    }

    fn fall_due(&mut self, now: Timestamp, chance: u32, open: OpenNo) -> Next {
        let Some(Open { path, state, .. }) = self.open.get(open) else {
            return Next::Quiet;
        };
        let path = path.clone();
        match state {
            OpenState::Sleep { .. } => {
                self.now = now;
                self.append(now, &EventKind::SleepEnded { sleep: path });
                self.answer(open, Delivery::SleepEnded);
                Next::Deliver(open)
            }
            OpenState::Wait { .. } => {
                self.now = now;
                self.append(now, &EventKind::WaitElapsed { wait: path });
                self.answer(open, Delivery::Elapsed);
                Next::Deliver(open)
            }
            OpenState::Step {
                phase: Phase::BackingOff { next, .. },
                ..
            } => {
                let attempt = *next;
                self.now = now;
                self.append(now, &EventKind::AttemptStarted { step: path, attempt });
                self.set_phase(open, Phase::Gated { attempt });
                Next::Quiet
            }
            OpenState::Step {
                phase: Phase::Running { attempt, .. },
                rules,
                ..
            } => {
                let (attempt, timeout) = (*attempt, rules.timeout.unwrap_or_default());
                let failure = AttemptFailure::new(
                    StepFailureKind::TimedOut,
                    format!("attempt {attempt} took longer than {timeout:?}"),
                );
                let outcome = StepOutcome::Failed {
                    failure,
                    retryable: true,
                };
                self.step_ended(now, chance, open, attempt, outcome)
                    .unwrap_or(Next::Quiet)
            }
            OpenState::Step {
                phase: Phase::Gated { .. } | Phase::Announced { .. },
                ..
            }
            | OpenState::Removed
            | OpenState::Answered(_) => Next::Quiet,
        }
    }
}
