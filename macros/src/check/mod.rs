//! Everything that is wrong, found before anything is written. Each check reports and goes on.
//!
//! * `signature`: what a workflow or durable function may look like
//! * `body`: how checkpoints are written, and their names
//! * `collections`: what `push` and its like are known to change
//! * `step_body`: the little that a step body may not do
//!
//! Absent on purpose: determinism, which is `lint`'s.

pub(crate) mod body;
pub(crate) mod collections;
pub(crate) mod signature;
pub(crate) mod step_body;
