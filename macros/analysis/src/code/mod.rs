//! Workflow code: what is part of it.
//!
//! * `checkpoint`: the checkpoint macros, from tokens to a value
//! * `known`: other people's macros whose arguments are expressions
//! * `walk`: looking at workflow code without changing it
//!
//! Step bodies, nested functions and other nested items are not workflow code.

pub mod checkpoint;
pub mod known;
pub mod walk;
