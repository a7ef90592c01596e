//! What the tests of whole engines share: a workflow that uses every primitive, a ledger of its bodies, a store that fails
//! where it is told to, and a driver that brings instances to their ends in virtual time.
//!
//! Absent on purpose: assertions about time, and sleeping.

pub mod drive;
pub mod fault;
pub mod journal;
pub mod ledger;
pub mod workload;
