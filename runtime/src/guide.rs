//! Pages to read, from beginning to end.
//!
//! - [`determinism`]: what the compiler checks, and why
//! - [`changing`]: deploy a change of a workflow while instances are in flight
//!
//! Absent on purpose: code.

#[doc = include_str!("../guide/changing.md")]
pub mod changing {}

#[doc = include_str!("../guide/determinism.md")]
pub mod determinism {}
