//! Layer 3: turns and their surroundings. A turn polls and never decides; the machine decides and never polls.
//!
//! Map: `turn` is what checkpoints talk to while they are polled, `instance` the task around it, `live` its mailbox,
//! `committer` the one writer, `alarm` the due times, `engine` what holds them together, `seams` time and chance,
//! `silence` what a replay must not log again, `rehearse` what would diverge. Absent on purpose: sled and user types.

mod alarm;
pub(crate) mod code;
pub(crate) mod committer;
pub(crate) mod engine;
mod instance;
mod live;
pub(crate) mod rehearse;
// The traits are public through `testing` only.
#[cfg_attr(not(feature = "testing"), allow(unreachable_pub))]
pub(crate) mod seams;
mod silence;
pub(crate) mod turn;
