//! The runtime: starting instances and reaching them by id.

use super::batch::StartBatch;
use super::builder::Builder;
use super::calls::{Signal, Start};
use super::error::{RuntimeError, SignalError};
use super::handle::Handle;
use super::inspect::{self, HistoryEntry, InstanceStatus, List};
use super::workflow::Workflow;
use crate::driver::engine::Engine;
use crate::driver::rehearse::Divergence;
use crate::store::{Cancelled, InstanceRecord, NAME_BYTES_MAX, ReadError, Status, Write, Written};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// Runs workflows over one store. Cheap to clone; the store is closed when the last clone is dropped or
/// [`shutdown`](Runtime::shutdown) is called. Handles do not keep it open.
///
/// ```
/// use steadfast::prelude::*;
/// use steadfast::store::MemoryStore;
///
/// #[workflow]
/// async fn greet(name: String) -> Result<String, StepError> {
///     step!("compose", async { Ok::<_, std::io::Error>(format!("Hello, {name}")) }).await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::builder().workflow(greet).store(MemoryStore::new()).start().await?;
/// let handle = runtime.start(greet, "Ada".to_owned()).id("greeting-1").await?;
/// assert_eq!(handle.result().await?, "Hello, Ada");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Owner>,
}

/// Closes the store when the last clone of the runtime is gone.
struct Owner {
    engine: Arc<Engine>,
    divergences: Vec<Divergence>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.engine.close();
    }
}

/// What became of a request to cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CancelAnswer {
    /// The request is durable; the instance ends as soon as it gets a turn, unless it ends otherwise first.
    Requested,
    /// An earlier request is durable; this one changed nothing.
    AlreadyRequested,
    /// The instance had ended before; nothing changed.
    AlreadyFinished(Status),
}

impl Runtime {
    /// Begins a runtime: register workflows and states, then open a store.
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(super) fn new(engine: Arc<Engine>, divergences: Vec<Divergence>) -> Self {
        Self {
            inner: Arc::new(Owner { engine, divergences }),
        }
    }

    /// The instances that were found, when this runtime was opened and before anything moved, to diverge from the code
    /// that is registered. Only those of workflows whose shape had changed since a runtime was last opened over the store
    /// are looked at; see [`Builder::refuse_divergence`].
    pub fn divergences(&self) -> &[Divergence] {
        &self.inner.divergences
    }

    pub(super) fn engine(&self) -> &Arc<Engine> {
        &self.inner.engine
    }

    /// Starts an instance, or finds the one that has the id: await what this gives.
    ///
    /// When it answers, the instance is durable: it goes on whatever happens to this process or to the handle.
    ///
    /// ```text
    /// let handle = runtime.start(fulfil, order).id("order-42").await?;
    /// ```
    pub fn start<W: Workflow>(&self, workflow: W, input: W::Input) -> Start<W> {
        Start::new(Arc::clone(self.engine()), workflow, input)
    }

    /// Starts one instance for each input, with few commits: await what this gives. See [`StartBatch`] for ids and answers.
    ///
    /// ```text
    /// let answers = runtime.start_batch(fulfil, orders).ids(|order| format!("order-{}", order.number)).await;
    /// ```
    pub fn start_batch<W: Workflow>(&self, workflow: W, inputs: impl IntoIterator<Item = W::Input>) -> StartBatch<W> {
        StartBatch::new(Arc::clone(self.engine()), workflow, inputs)
    }

    /// A typed handle for an instance that exists.
    ///
    /// # Errors
    /// [`RuntimeError::UnknownInstance`], or [`RuntimeError::OtherWorkflow`] if it runs something else, or another version, whose
    /// results may be of another type.
    pub async fn handle<W: Workflow>(&self, _: W, id: &str) -> Result<Handle<W>, RuntimeError> {
        let record = find(self.engine(), id)?;
        if (record.workflow.as_str(), record.version) != (W::NAME, W::VERSION) {
            return Err(RuntimeError::OtherWorkflow {
                id: record.id,
                workflow: format!("{} version {}", record.workflow, record.version),
                asked: format!("{} version {}", W::NAME, W::VERSION),
            });
        }
        Ok(Handle::new(Arc::clone(self.engine()), record.id, record.number, false))
    }

    /// Sends a signal: await what this gives. See [`Signal`] for the option.
    ///
    /// When it answers, the signal is durable and will be consumed by the next wait of its name, once, in order.
    pub fn signal<'a, T: Serialize + ?Sized>(&self, id: &str, name: &str, value: &'a T) -> Signal<'a, T> {
        Signal::new(Arc::clone(self.engine()), id.to_owned(), name.to_owned(), value)
    }

    /// Asks an instance to end. Its bodies are dropped where they are; it then is [`Status::Cancelled`].
    ///
    /// # Errors
    /// [`RuntimeError::UnknownInstance`], and what the store says.
    pub async fn cancel(&self, id: &str, reason: &str) -> Result<CancelAnswer, RuntimeError> {
        cancel(self.engine(), id, reason).await
    }

    /// What an instance is doing and waiting for. While a body blocks its thread, only that it runs can be told.
    ///
    /// # Errors
    /// [`RuntimeError::UnknownInstance`], and what the store says.
    pub async fn status(&self, id: &str) -> Result<InstanceStatus, RuntimeError> {
        inspect::status(self.engine(), id).await
    }

    /// The journal of an instance, readable by people.
    ///
    /// # Errors
    /// [`RuntimeError::UnknownInstance`], and what the store says.
    pub async fn history(&self, id: &str) -> Result<Vec<HistoryEntry>, RuntimeError> {
        inspect::history(self.engine(), id)
    }

    /// Lists instances in order of creation: await what this gives, page by page.
    pub fn list(&self) -> List {
        List::new(Arc::clone(self.engine()))
    }

    /// Lets a quarantined instance, or one that waits for code, try again. Opening a runtime does this for all of them.
    ///
    /// # Errors
    /// [`RuntimeError::UnknownInstance`], and what the store says.
    pub async fn resume(&self, id: &str) -> Result<(), RuntimeError> {
        let record = find(self.engine(), id)?;
        if !record.status.is_terminal() {
            self.engine().wake_stored(record.number, &record.awaited_signals);
        }
        Ok(())
    }

    /// Ends the runtime: no body begins any more, running ones get `grace` to end, and what they end with is recorded.
    /// Whatever is cut off begins again when the store is opened next. Returns when the store is closed. A body that blocks
    /// its thread cannot be dropped: it goes on, and what it ends with is not recorded.
    pub async fn shutdown(self, grace: Duration) {
        self.engine().shut_down(grace).await;
    }
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime").finish_non_exhaustive()
    }
}

/// The record of an instance.
pub(super) fn find(engine: &Engine, id: &str) -> Result<InstanceRecord, RuntimeError> {
    if engine.is_stopped() {
        return Err(stopped(engine));
    }
    engine
        .store()
        .find(id)?
        .ok_or_else(|| RuntimeError::UnknownInstance { id: id.to_owned() })
}

/// Why nothing is answered any more.
pub(super) fn stopped(engine: &Engine) -> RuntimeError {
    engine.failure().map_or(RuntimeError::ShutDown, RuntimeError::Commit)
}

/// Writes for a call and waits until it is durable.
pub(super) async fn write(
    engine: &Arc<Engine>,
    write: Write,
    effect: impl FnOnce(&Arc<Engine>, &Written) -> bool + Send + 'static,
) -> Result<(Written, bool), RuntimeError> {
    if engine.is_stopped() {
        return Err(stopped(engine));
    }
    match engine.call(write, effect).await {
        Ok(answer) => {
            let (written, effect) = answer?;
            Ok((taken(written)?, effect))
        }
        Err(_) => Err(stopped(engine)),
    }
}

/// What a store answers to a write that it took.
pub(super) fn taken(written: Written) -> Result<Written, RuntimeError> {
    match written {
        Written::Refused { reason } => Err(ReadError::Unavailable { reason }.into()),
        Written::Start(_) | Written::Turn(_) | Written::Signal(_) | Written::Cancel(_) | Written::Noted => Ok(written),
    }
}

pub(super) async fn cancel(engine: &Arc<Engine>, id: &str, reason: &str) -> Result<CancelAnswer, RuntimeError> {
    // No instance has such an id, and no store takes a write with it.
    if !(1..=NAME_BYTES_MAX).contains(&id.len()) {
        return Err(RuntimeError::UnknownInstance { id: id.to_owned() });
    }
    let request = Write::Cancel {
        id: id.to_owned(),
        reason: reason.to_owned(),
        at: engine.now(),
    };
    let reason = reason.to_owned();
    let (written, _) = write(engine, request, move |engine, written| {
        if let Written::Cancel(Cancelled::Requested(record)) = written {
            engine.hand_cancel(record.number, &reason);
        }
        false
    })
    .await?;
    match written {
        Written::Cancel(Cancelled::Requested(_)) => Ok(CancelAnswer::Requested),
        Written::Cancel(Cancelled::AlreadyRequested) => Ok(CancelAnswer::AlreadyRequested),
        Written::Cancel(Cancelled::Finished(status)) => Ok(CancelAnswer::AlreadyFinished(status)),
        Written::Cancel(Cancelled::Unknown) => Err(RuntimeError::UnknownInstance { id: id.to_owned() }),
        Written::Start(_) | Written::Turn(_) | Written::Signal(_) | Written::Noted | Written::Refused { .. } => {
            Err(mismatch(id))
        }
    }
}

/// A store answered a write with the answer to another kind of write.
pub(super) fn mismatch(id: &str) -> RuntimeError {
    RuntimeError::Damaged {
        id: id.to_owned(),
        reason: "the store answered another question".to_owned(),
    }
}

pub(super) fn signal_unknown(id: &str) -> SignalError {
    SignalError::UnknownInstance { id: id.to_owned() }
}
