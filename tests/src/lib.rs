//! What the tests of more than one file share: a world with a virtual clock and a store that outlives runtimes, a ledger of
//! bodies, a gate that holds them, a store that counts, fails and dies on demand. Absent on purpose: tests; they are in
//! `tests/`.

mod gate;
pub mod groups;
mod ledger;
mod probe;
mod world;

pub use gate::Gate;
pub use ledger::Ledger;
pub use probe::{Counts, ProbeStore, When};
pub use world::{Ask, World, until};
