//! Pages to read: what the compiler checks, and why.
//! Absent on purpose: code.

#[doc = include_str!("../guide/determinism.md")]
pub mod determinism {}
