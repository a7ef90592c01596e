//! Layer 4: what users hold. Checkpoint futures only relay between the workflow's code and the machine. Absent on purpose:
//! sled and tokio in signatures.

pub(crate) mod attempt;
pub(crate) mod batch;
pub(crate) mod builder;
pub(crate) mod calls;
pub(crate) mod chance;
pub(crate) mod change;
pub(crate) mod combinator;
pub(crate) mod durable;
pub(crate) mod error;
pub(crate) mod handle;
pub(crate) mod inspect;
pub(crate) mod runtime;
pub(crate) mod step;
pub(crate) mod wait;
pub(crate) mod workflow;
