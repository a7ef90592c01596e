//! Everything that is wrong in how workflow code is written. Each check reports and goes on.
//!
//! * `body`: how checkpoints are written, and their names
//! * `collections`: which variables are evidently collections of the standard library
//! * `step_body`: the little that a step body may not do
//!
//! Absent on purpose: determinism, which is `lint`'s.

pub mod body;
pub mod collections;
pub mod step_body;
