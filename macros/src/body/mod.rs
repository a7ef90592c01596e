//! How workflow code is rewritten.
//!
//! * `checkpoint`: the call that a checkpoint macro stands for
//! * `own_name`: a variable that is called like its workflow
//! * `rewrite`: the rewriting itself
//! * `tail`: which step bodies leave their error type open
//!
//! What is workflow code, and how checkpoints are written, is the analysis' to say.

pub(crate) mod checkpoint;
pub(crate) mod own_name;
pub(crate) mod rewrite;
mod tail;
