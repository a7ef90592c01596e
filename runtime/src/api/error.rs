//! One error for each thing that can be asked of a runtime. Each says what is now true.

use crate::driver::rehearse::Divergence;
use crate::failure::{Failure, StepError};
use crate::store::{CommitError, ReadError, Status, StoreOpenError};

/// A runtime was not opened. The store is as it was.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A workflow borrows a state that was not handed over.
    #[error(
        "workflow `{workflow}` borrows a `{state}`, and the runtime has none: add `.state(…)` with it before opening"
    )]
    MissingState {
        /// The workflow.
        workflow: &'static str,
        /// The type of its parameter, without the `&`.
        state: &'static str,
    },
    /// Two workflows with one name and version.
    #[error(
        "two workflows are called `{workflow}` and have version {version}; rename one with `#[workflow(name = \"…\")]`"
    )]
    DuplicateWorkflow {
        /// Their name.
        workflow: &'static str,
        /// Their version.
        version: u32,
    },
    /// The same type was handed over twice: which of the two would be borrowed is nobody's guess.
    #[error("two states of type `{state}` were handed over; wrap one in a type of its own")]
    DuplicateState {
        /// The type.
        state: &'static str,
    },
    /// `.start()` without `.store(…)`.
    #[error("no store was handed over: use `.open(path)`, or `.store(…)` before `.start()`")]
    NoStore,
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreOpenError),
    /// The store was opened and cannot be claimed.
    #[error("the store cannot be claimed: {0}")]
    Claim(#[source] CommitError),
    /// The store was opened and cannot be read.
    #[error("the instances to go on with cannot be read: {0}")]
    Read(#[source] ReadError),
    /// Instances in flight would diverge from the code that is registered, and the builder was told to refuse that. None
    /// of them has moved.
    #[error(
        "{} in flight would diverge from the code that is registered, and nothing was opened; the first is {}",
        if divergences.len() == 1 { "1 instance".to_owned() } else { format!("{} instances", divergences.len()) },
        divergences.first().map(ToString::to_string).unwrap_or_default()
    )]
    WouldDiverge {
        /// Each of them, and why.
        divergences: Vec<Divergence>,
    },
    /// The thread that writes could not be started.
    #[error("the committer's thread cannot be started: {0}")]
    Thread(#[source] std::io::Error),
}

/// The store did not take or give what a call needed.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// The runtime was shut down. If this answers a write, the write may still have been made: look after reopening.
    #[error("the runtime was shut down")]
    ShutDown,
    /// No instance has this id.
    #[error("no instance is called `{id}`")]
    UnknownInstance {
        /// The id.
        id: String,
    },
    /// The instance runs another workflow than the handle's, or another version of it.
    #[error("instance `{id}` runs `{workflow}`, not `{asked}`")]
    OtherWorkflow {
        /// The id.
        id: String,
        /// What it runs: name and version.
        workflow: String,
        /// What the caller asked for.
        asked: String,
    },
    /// The store did not acknowledge a write.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The store did not answer.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Stored bytes are not what they should be. Nothing was changed.
    #[error("instance `{id}` cannot be read: {reason}")]
    Damaged {
        /// The id.
        id: String,
        /// What was found.
        reason: String,
    },
}

/// A start was not acknowledged.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The id belongs to another start: nothing was changed, the existing instance goes on.
    #[error("instance `{id}` exists with another {difference}; nothing was started")]
    Conflict {
        /// The id.
        id: String,
        /// What is different.
        difference: Difference,
    },
    /// An id is 1 to 256 bytes of text. Nothing was started.
    #[error("an id has 1 to 256 bytes, and this one has {size}; nothing was started")]
    BadId {
        /// Its length.
        size: usize,
    },
    /// The workflow was not registered with this runtime. Nothing was started.
    #[error("workflow `{workflow}` is not registered: add `.workflow({workflow})` before opening; nothing was started")]
    NotRegistered {
        /// The workflow.
        workflow: &'static str,
    },
    /// The input is too large or serde refused it. Nothing was started.
    #[error("the input of `{workflow}` cannot be stored: {reason}; nothing was started")]
    Input {
        /// The workflow.
        workflow: &'static str,
        /// Why.
        reason: String,
    },
    /// The store did not take it.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

/// What is different between a start and the instance that has its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// It runs another workflow, or another version of it.
    Workflow,
    /// It was started with another input.
    Input,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Difference::Workflow => "workflow, or another version of it",
            Difference::Input => "input",
        })
    }
}

/// A signal was not accepted. Nothing was stored.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SignalError {
    /// No instance has this id.
    #[error("no instance is called `{id}`")]
    UnknownInstance {
        /// The id.
        id: String,
    },
    /// The instance has ended and takes no signals.
    #[error("instance `{id}` has already finished ({status})")]
    AlreadyFinished {
        /// The id.
        id: String,
        /// How it ended.
        status: Status,
    },
    /// The workflow waits for another type under this name.
    #[error("workflow `{workflow}` waits for another type under `{name}`: {reason}")]
    OtherType {
        /// The workflow.
        workflow: String,
        /// The signal's name.
        name: String,
        /// Why the value does not decode.
        reason: String,
    },
    /// Names and keys have 1 to 256 bytes.
    #[error("a signal's {what} has 1 to 256 bytes, and this one has {size}")]
    BadName {
        /// `name` or `deduplication key`.
        what: &'static str,
        /// Its length.
        size: usize,
    },
    /// The value is too large or serde refused it.
    #[error("signal `{name}` cannot be stored: {reason}")]
    Value {
        /// The signal's name.
        name: String,
        /// Why.
        reason: String,
    },
    /// The store did not take it.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

/// An instance has no result to give.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum WorkflowError {
    /// The workflow returned an error. This is final.
    #[error("the workflow failed: {0}")]
    Failed(#[source] Failure),
    /// The instance was cancelled. This is final.
    #[error("the workflow was cancelled: {reason}")]
    Cancelled {
        /// The reason that was given.
        reason: String,
    },
    /// Code and journal disagree, or something stored cannot be read. Nothing is lost; the instance goes on when a
    /// runtime is opened with code that matches, or when it is resumed.
    #[error("the workflow is quarantined: {trouble}")]
    Quarantined {
        /// What is wrong and what to do.
        trouble: String,
    },
    /// No registered workflow has the instance's name and version. It goes on when a runtime is opened that has it.
    #[error("the workflow waits for its code: {trouble}")]
    WaitingForCode {
        /// What is missing.
        trouble: String,
    },
    /// The instance completed, and its output is not of the type asked for.
    #[error("the workflow completed, and its output cannot be read: {reason}")]
    Undecodable {
        /// Why.
        reason: String,
    },
    /// The runtime was shut down or the store did not answer; the instance is as it was.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}

/// What `fn main() -> Result<…>` and `unwrap` print is the sentence, not the fields: it is read by somebody who is stuck.
macro_rules! debug_is_display {
    ($($error:ty),*) => {$(
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    )*};
}

debug_is_display!(
    OpenError,
    RuntimeError,
    StartError,
    SignalError,
    WorkflowError,
    Failure,
    StepError
);
