//! Layer 0: the numbers that name things. Absent on purpose: how they are chosen; the store and the driver do that.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The dense number under which a store keeps an instance. It never leaves the process and is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct InstanceNumber(pub u64);

impl fmt::Display for InstanceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which process owns a store. Rises every time a process claims it; a write that carries an older epoch is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Epoch(pub u64);

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
