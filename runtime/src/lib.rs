//! Steadfast runs long-lived workflows, written as plain `async fn`s, that survive crashes, restarts and deploys. It is a
//! library: it runs inside your own service and keeps its state in an embedded store on disk; there is no server.
//!
//! - [`#[workflow]`](macro@workflow) makes a function a workflow. What it awaits is a checkpoint: [`step!`], [`sleep!`],
//!   [`signal!`], and combinations of these.
//! - [`Runtime`] runs workflows: it starts instances, finds them by id, signals and cancels them, and goes on with all of
//!   them when it is opened again.
//! - A step's body may run more than once (its process may die), but never again once its result is recorded. Give
//!   outside services [`Attempt::idempotency_key`], and the effect happens once.
//!
//! `use steadfast::prelude::*;` brings the everyday names.

mod api;
#[cfg(feature = "check")]
pub mod check;
mod driver;
mod failure;
mod graph;
pub mod guide;
mod ids;
mod machine;
mod payload;
mod shape;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod time;

pub use api::attempt::{Attempt, Cancellation};
pub use api::batch::StartBatch;
pub use api::builder::Builder;
pub use api::calls::{Signal, SignalAnswer, Start};
pub use api::chance::{Random, RandomRange, Uuid};
pub use api::change::Removed;
pub use api::combinator::{
    JoinAll, MapConcurrent, MapConcurrentAll, Race2, Race3, Race4, Race5, Race6, Race7, Race8, TryJoinAll, join_all,
    map_concurrent, map_concurrent_all, try_join_all,
};
pub use api::durable::{DurableFuture, IntoDurable};
pub use api::error::{Difference, OpenError, RuntimeError, SignalError, StartError, WorkflowError};
pub use api::handle::Handle;
pub use api::inspect::{BufferedSignal, Cursor, HistoryEntry, InstanceStatus, List, Page, RunningStep};
pub use api::runtime::{CancelAnswer, Runtime};
pub use api::step::Step;
pub use api::wait::{IntoDeadline, SignalWait, Sleep, TimedSignal};
pub use api::workflow::Workflow;
pub use driver::rehearse::Divergence;
pub use failure::{BoxError, Elapsed, Failure, Permanent, StepError, StepFailureKind, permanent};
pub use graph::{Graph, GraphEdge, GraphEdgeKind, GraphNode, GraphNodeKind};
pub use ids::{Epoch, InstanceNumber};
pub use machine::{Retry, WaitingFor};
pub use payload::{PAYLOAD_MAX, Storable};
pub use shape::{Change, Shape, UnreadableShape};
pub use steadfast_macros::{
    allow_nondeterminism, deterministic, durable, join, now, patched, race, random, removed, retired, signal, sleep,
    step, try_join, uuid, workflow,
};
pub use store::Status;
pub use time::{Timestamp, days, hours, millis, minutes, secs};

/// Whether the workflow code that calls this is being replayed: what it does now, it did before.
///
/// What workflow code logs through `tracing` is silent on replay by itself; this is for loggers that are not. It must not
/// decide anything else, or the code takes another path on replay. Outside of workflow code it is `false`.
pub fn is_replaying() -> bool {
    driver::turn::with(|turn| turn.machine.is_replaying()).unwrap_or(false)
}

/// The names that workflows and the services around them use every day.
pub mod prelude {
    pub use crate::{
        Attempt, BoxError, Elapsed, Handle, Race2, Race3, Race4, Retry, Runtime, Status, StepError, Timestamp, Uuid,
        WorkflowError, allow_nondeterminism, days, deterministic, durable, hours, join, join_all, map_concurrent,
        map_concurrent_all, millis, minutes, now, patched, permanent, race, random, removed, retired, secs, signal,
        sleep, step, try_join, try_join_all, uuid, workflow,
    };
}

/// Called by code that the macros write. Nothing here is for people, and nothing here is stable.
#[doc(hidden)]
pub mod __private {
    pub use crate::api::chance::{now, random, random_in, uuid};
    pub use crate::api::change::{patched, removed_signal, removed_sleep, removed_step, retired};
    pub use crate::api::combinator::{join, race, try_join};
    pub use crate::api::durable::{Awaited, Block, Branch, block, branch, guard, helper};
    pub use crate::api::step::{Body, StepFuture, body, boxed, guard_step, step};
    pub use crate::api::wait::{signal, sleep};
    pub use crate::api::workflow::{PlainError, Probe, StorableError, WorkflowInput, WorkflowResult, run};
    pub use crate::driver::code::{Ended, Run, StateType, States};
    pub use crate::failure::{IntoFailure, TypedError};
    pub use crate::graph::{graph, graph_edge, graph_node};
    pub use crate::shape::shape;
}
