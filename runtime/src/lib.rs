//! Long-running workflows as plain async functions.

mod api;
mod driver;
mod failure;
mod ids;
mod machine;
mod payload;
pub mod store;
mod time;

pub use api::attempt::{Attempt, Cancellation};
pub use api::chance::{Random, RandomRange, Uuid};
pub use api::combinator::{
    JoinAll, MapConcurrent, MapConcurrentAll, Race2, Race3, Race4, Race5, Race6, Race7, Race8, TryJoinAll, join,
    join_all, map_concurrent, map_concurrent_all, race, try_join, try_join_all,
};
pub use api::durable::{DurableFuture, IntoDurable};
pub use api::step::Step;
pub use api::wait::{IntoDeadline, SignalWait, Sleep, TimedSignal};
pub use api::workflow::Workflow;
pub use failure::{BoxError, Elapsed, Failure, Permanent, StepError, StepFailureKind, permanent};
pub use ids::{Epoch, InstanceNumber};
pub use machine::{Retry, WaitingFor};
pub use payload::{PAYLOAD_MAX, Storable};
pub use time::{Timestamp, days, hours, millis, minutes, secs};

/// Called by code that the macros write. Nothing here is for people, and nothing here is stable.
#[doc(hidden)]
pub mod __private {
    pub use crate::api::chance::{now, random, random_in, uuid};
    pub use crate::api::durable::{Awaited, Block, block, guard, helper};
    pub use crate::api::step::{boxed, step};
    pub use crate::api::wait::{signal, sleep};
    pub use crate::api::workflow::{PlainError, Probe, StorableError, WorkflowResult, run, typed};
    pub use crate::driver::code::{Ended, Run, StateType, States};
    pub use crate::failure::TypedError;
}
