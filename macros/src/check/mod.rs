//! Everything that is wrong, found before anything is written. Each check reports and goes on.
//!
//! * `signature`: what a workflow or durable function may look like
//! * `body`: how checkpoints are written, and their names
//!
//! Absent on purpose: determinism, which is `lint`'s.

pub(crate) mod body;
pub(crate) mod signature;
