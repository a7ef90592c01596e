//! Durable futures made of durable futures.
//!
//! | | ends | order of what it gives |
//! |---|---|---|
//! | [`join`], [`join_all`] | when every branch has ended | as written |
//! | [`try_join`], [`try_join_all`] | like `join`, or with the first error | as written; errors as in the journal |
//! | [`race`] | with the first branch that ends | the leftmost, should several be ready |
//! | [`map_concurrent`] | when every item is done, or with the first error | that of the items |
//! | [`map_concurrent_all`] | when every item is done | that of the items |
//!
//! Every branch has a scope of its own, so the identity of a checkpoint does not depend on which branch ran first. A
//! branch that lost or is no longer needed is dropped at once, and dropping is cancelling.
//!
//! Absent on purpose: chance (nothing here picks a branch at random, which the `select!` of other crates does) and any
//! way to take a foreign future in.

mod alarm;
mod branch;
#[cfg(test)]
mod fixture;
mod join;
mod list;
mod map;
mod pool;
mod race;
#[cfg(test)]
mod tests;

pub use join::{join, try_join};
pub use list::{JoinAll, TryJoinAll, join_all, try_join_all};
pub use map::{MapConcurrent, MapConcurrentAll, map_concurrent, map_concurrent_all};
pub use race::{Race2, Race3, Race4, Race5, Race6, Race7, Race8, race};
