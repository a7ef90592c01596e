//! How to do things, told from beginning to end.
//!
//! - [`changing`]: deploy a change of a workflow while instances are in flight

#[doc = include_str!("../guide/changing.md")]
pub mod changing {}
