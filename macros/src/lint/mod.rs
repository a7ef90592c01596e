//! Determinism rules that need no types.
pub(crate) mod allowance;
