//! Layer 4: what users hold. Checkpoint futures only relay between the workflow's code and the machine. Absent on purpose:
//! sled and tokio in signatures.

pub(crate) mod attempt;
pub(crate) mod chance;
pub(crate) mod combinator;
pub(crate) mod durable;
pub(crate) mod step;
pub(crate) mod wait;
pub(crate) mod workflow;
