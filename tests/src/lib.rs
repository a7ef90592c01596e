//! What the tests of more than one file share: a workflow that uses every primitive, ledgers of bodies, gates that hold
//! them, stores that fail, die or count where they are told to, and a world in virtual time whose store outlives runtimes.
//!
//! Absent on purpose: tests (they are in `tests/`), assertions about time, and sleeping.

mod bodies;
pub mod drive;
pub mod fault;
mod gate;
pub mod groups;
pub mod journal;
pub mod ledger;
mod probe;
pub mod verify;
pub mod workload;
mod world;

pub use bodies::Ledger;
pub use gate::Gate;
pub use probe::{Counts, ProbeStore, When};
pub use world::{Ask, World, until};
