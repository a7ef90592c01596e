//! What the tests of more than one file share. Absent on purpose: tests; they are in `tests/`.

pub mod groups;
