//! Workflow code: what is part of it, and how it is rewritten.
//!
//! * `checkpoint`: the checkpoint macros, from tokens to a value and on to the call they stand for
//! * `known`: other people's macros whose arguments are expressions
//! * `walk`: looking at workflow code without changing it
//! * `own_name`: a variable that is called like its workflow
//! * `rewrite`: the rewriting itself
//! * `tail`: which step bodies leave their error type open
//!
//! Step bodies, nested functions and other nested items are not workflow code.

pub(crate) mod checkpoint;
pub(crate) mod known;
pub(crate) mod own_name;
pub(crate) mod rewrite;
mod tail;
pub(crate) mod walk;
