//! How instances end, and who waits for it. Absent on purpose: what makes them end.

use super::{Engine, lock};
use crate::failure::Failure;
use crate::ids::InstanceNumber;
use crate::machine::{EventKind, decode_batch};
use crate::store::{ReadError, Status};
use std::sync::Arc;
use tokio::sync::oneshot;

/// How an instance ended, or why it stands still.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Completed(Vec<u8>),
    Failed(Failure),
    Cancelled { reason: String },
    Stopped { status: Status, trouble: String },
}

impl Outcome {
    /// What the last event of a journal says.
    pub(in crate::driver) fn of(end: EventKind) -> Option<Self> {
        match end {
            EventKind::Completed { output } => Some(Outcome::Completed(output.0)),
            EventKind::Failed { failure } => Some(Outcome::Failed(failure)),
            EventKind::Cancelled { reason } => Some(Outcome::Cancelled { reason }),
            EventKind::Started { .. }
            | EventKind::StepSucceeded { .. }
            | EventKind::StepFailed { .. }
            | EventKind::AttemptFailed { .. }
            | EventKind::AttemptStarted { .. }
            | EventKind::AttemptInterrupted { .. }
            | EventKind::Dropped { .. }
            | EventKind::SleepBegan { .. }
            | EventKind::SleepEnded { .. }
            | EventKind::WaitBegan { .. }
            | EventKind::SignalReceived { .. }
            | EventKind::WaitElapsed { .. }
            | EventKind::SignalSetAside { .. }
            | EventKind::Drawn { .. }
            | EventKind::CancelRequested { .. }
            | EventKind::Patched { .. }
            | EventKind::Kept { .. }
            | EventKind::Behaviour { .. } => None,
        }
    }

    pub(crate) fn status(&self) -> Status {
        match self {
            Outcome::Completed(_) => Status::Completed,
            Outcome::Failed(_) => Status::Failed,
            Outcome::Cancelled { .. } => Status::Cancelled,
            Outcome::Stopped { status, .. } => *status,
        }
    }
}

/// Somebody who waits for the end of an instance. Whoever stops waiting leaves nothing behind: nobody tells again the end of
/// an instance that has ended, and one that sleeps may do so for years.
struct Waiter<'a> {
    engine: &'a Engine,
    instance: InstanceNumber,
    receiver: Option<oneshot::Receiver<Outcome>>,
}

impl Waiter<'_> {
    async fn told(mut self) -> Option<Outcome> {
        match &mut self.receiver {
            Some(receiver) => receiver.await.ok(),
            None => None,
        }
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        drop(self.receiver.take());
        let mut waiters = lock(&self.engine.waiters);
        if let Some(waiting) = waiters.get_mut(&self.instance) {
            waiting.retain(|waiter| !waiter.is_closed());
            if waiting.is_empty() {
                waiters.remove(&self.instance);
            }
        }
    }
}

impl Engine {
    /// Tells everybody who waits for the end of an instance; what is told is durable.
    pub(in crate::driver) fn announce(&self, instance: InstanceNumber, outcome: Outcome) {
        let mut waiters = lock(&self.waiters).remove(&instance).unwrap_or_default();
        let last = waiters.pop();
        // Whoever waited may be gone.
        for waiter in waiters {
            let _ = waiter.send(outcome.clone());
        }
        if let Some(waiter) = last {
            let _ = waiter.send(outcome);
        }
    }

    /// The task of an instance ended without having moved it. Whoever asked meanwhile found it in memory and waits for its
    /// end, which may be long past: the index of due times, or a call, may wake what has ended since.
    pub(in crate::driver) fn announce_what_is_known(self: &Arc<Self>, instance: InstanceNumber) {
        if !lock(&self.waiters).contains_key(&instance) {
            return;
        }
        match self.known_outcome(instance) {
            Ok(Some(outcome)) => self.announce(instance, outcome),
            // It goes on later, or is in memory again.
            Ok(None) => {}
            Err(error) => self.unreadable(instance, error.to_string()),
        }
    }

    /// How an instance ends, now or later. `None` when the engine stopped first.
    pub(crate) async fn outcome(&self, instance: InstanceNumber) -> Result<Option<Outcome>, ReadError> {
        let waiter = self.wait_for_end(instance);
        // Registered first, so that an end between this look and the wait is not missed.
        let known = self.known_outcome(instance);
        if self.is_stopped() {
            // The store may be closed already: what it says then is about itself, not about the instance.
            return Ok(known.ok().flatten());
        }
        match known? {
            None => Ok(waiter.told().await),
            Some(outcome) => Ok(Some(outcome)),
        }
    }

    fn wait_for_end(&self, instance: InstanceNumber) -> Waiter<'_> {
        let (sender, receiver) = oneshot::channel();
        lock(&self.waiters).entry(instance).or_default().push(sender);
        Waiter {
            engine: self,
            instance,
            receiver: Some(receiver),
        }
    }

    fn known_outcome(&self, instance: InstanceNumber) -> Result<Option<Outcome>, ReadError> {
        if self.lock_live().contains_key(&instance) {
            return Ok(None);
        }
        if let Some(trouble) = self.trouble_reading(instance) {
            return Ok(Some(Outcome::Stopped {
                status: Status::Quarantined,
                trouble,
            }));
        }
        let Some(record) = self.store.record(instance)? else {
            return Ok(None);
        };
        match record.status {
            Status::Queued | Status::Running | Status::Waiting | Status::Paused => return Ok(None),
            Status::Quarantined | Status::WaitingForCode => {
                let trouble = record.trouble.unwrap_or_default();
                return Ok(Some(Outcome::Stopped {
                    status: record.status,
                    trouble,
                }));
            }
            Status::Completed | Status::Failed | Status::Cancelled | Status::Terminated => {}
        }
        let damaged = |reason: &str| ReadError::Damaged {
            instance,
            reason: reason.to_owned(),
        };
        let batch = self
            .store
            .last_batch(instance)?
            .ok_or_else(|| damaged("a finished instance without a journal"))?;
        let last = decode_batch(&batch).map_err(|reason| damaged(&reason))?.pop();
        let outcome = last.and_then(|event| Outcome::of(event.kind));
        let outcome = outcome.ok_or_else(|| damaged("a finished instance whose journal has no end"));
        outcome.map(Some)
    }
}
