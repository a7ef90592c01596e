//! Handles: typed references to one instance.

use super::calls::Signal;
use super::error::{RuntimeError, WorkflowError};
use super::inspect::{self, HistoryEntry, InstanceStatus};
use super::runtime::{CancelAnswer, cancel, stopped};
use super::workflow::Workflow;
use crate::driver::engine::{Engine, Outcome};
use crate::ids::InstanceNumber;
use crate::payload::Storable;
use crate::store::Status;
use serde::Serialize;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A reference to one instance of the workflow `W`. It owns nothing: dropping it changes nothing.
pub struct Handle<W> {
    engine: Arc<Engine>,
    id: String,
    number: InstanceNumber,
    created: bool,
    workflow: PhantomData<fn() -> W>,
}

impl<W: Workflow> Handle<W> {
    pub(super) fn new(engine: Arc<Engine>, id: String, number: InstanceNumber, created: bool) -> Self {
        Self {
            engine,
            id,
            number,
            created,
            workflow: PhantomData,
        }
    }

    /// The instance's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the start that gave this handle made the instance, rather than finding it.
    pub fn created(&self) -> bool {
        self.created
    }

    /// Waits for the end and gives the result. Any number of callers may ask, before or after the end, also after a
    /// restart.
    ///
    /// # Errors
    /// [`WorkflowError::Failed`] and [`WorkflowError::Cancelled`] are final. An instance that is quarantined or waits for
    /// code answers at once with the reason; ask again when that is mended.
    pub async fn result(&self) -> Result<W::Output, WorkflowError> {
        let outcome = self.engine.outcome(self.number).await.map_err(RuntimeError::from)?;
        match outcome {
            None => Err(stopped(&self.engine).into()),
            Some(Outcome::Completed(output)) => {
                W::Output::restored(&output).map_err(|error| WorkflowError::Undecodable {
                    reason: error.to_string(),
                })
            }
            Some(Outcome::Failed(failure)) => Err(WorkflowError::Failed(failure)),
            Some(Outcome::Cancelled { reason }) => Err(WorkflowError::Cancelled { reason }),
            Some(Outcome::Stopped {
                status: Status::WaitingForCode,
                trouble,
            }) => Err(WorkflowError::WaitingForCode { trouble }),
            Some(Outcome::Stopped { trouble, .. }) => Err(WorkflowError::Quarantined { trouble }),
        }
    }

    /// See [`Runtime::status`](crate::Runtime::status).
    ///
    /// # Errors
    /// What the store says.
    pub async fn status(&self) -> Result<InstanceStatus, RuntimeError> {
        inspect::status(&self.engine, &self.id).await
    }

    /// See [`Runtime::history`](crate::Runtime::history).
    ///
    /// # Errors
    /// What the store says.
    pub async fn history(&self) -> Result<Vec<HistoryEntry>, RuntimeError> {
        inspect::history(&self.engine, &self.id)
    }

    /// See [`Runtime::cancel`](crate::Runtime::cancel).
    ///
    /// # Errors
    /// What the store says.
    pub async fn cancel(&self, reason: &str) -> Result<CancelAnswer, RuntimeError> {
        cancel(&self.engine, &self.id, reason).await
    }

    /// See [`Runtime::signal`](crate::Runtime::signal).
    pub fn signal<'a, T: Serialize + ?Sized>(&self, name: &str, value: &'a T) -> Signal<'a, T> {
        Signal::new(Arc::clone(&self.engine), self.id.clone(), name.to_owned(), value)
    }
}

impl<W> Clone for Handle<W> {
    fn clone(&self) -> Self {
        let Self {
            engine,
            id,
            number,
            created,
            workflow,
        } = self;
        Self {
            engine: Arc::clone(engine),
            id: id.clone(),
            number: *number,
            created: *created,
            workflow: *workflow,
        }
    }
}

impl<W> fmt::Debug for Handle<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("id", &self.id)
            .field("created", &self.created)
            .finish_non_exhaustive()
    }
}
