//! What the tests of more than one file share: a workflow that uses every primitive, ledgers of bodies, stores that fail or
//! count where they are told to, and drivers that bring instances to their ends in virtual time.
//!
//! Absent on purpose: tests (they are in `tests/`), assertions about time, and sleeping.

pub mod drive;
pub mod fault;
pub mod groups;
pub mod journal;
pub mod ledger;
pub mod workload;
