//! What a write leaves in a page: everything that a later process must know to do to the instance what the write did.
//! Stored: variants are only ever appended, fields never change. Absent on purpose: what it does (`tail`).

use super::rows::{self, Placed};
use crate::ids::InstanceNumber;
use crate::store::RecordChange;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One write of one instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry<'v> {
    /// Whose it is.
    pub(super) instance: u64,
    /// Its place among all entries of the instance, from 0.
    pub(super) place: u64,
    /// When it was written.
    pub(super) at: Timestamp,
    #[serde(borrow)]
    pub(super) what: What<'v>,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum What<'v> {
    Start {
        id: &'v str,
        workflow: &'v str,
        version: u32,
        input_digest: [u8; 32],
        #[serde(borrow)]
        batch: Placed<'v>,
    },
    Turn {
        #[serde(borrow)]
        batch: Option<Placed<'v>>,
        change: Option<Cow<'v, RecordChange>>,
        consumed_signals: Cow<'v, [u64]>,
    },
    Signal {
        name: &'v str,
        #[serde(borrow)]
        payload: Placed<'v>,
        dedup_key: Option<&'v str>,
    },
    Cancel {
        reason: &'v str,
    },
}

/// The entries of one group, in order, encoded one behind the other.
#[derive(Default)]
pub(super) struct Log {
    bytes: Vec<u8>,
    /// Whose each of them is, and where it ends.
    ends: Vec<(InstanceNumber, usize)>,
}

impl Log {
    /// Adds an entry and answers how long it is.
    pub(super) fn push(&mut self, entry: &Entry<'_>) -> usize {
        let begin = self.bytes.len();
        rows::append(&mut self.bytes, entry);
        self.ends.push((InstanceNumber(entry.instance), self.bytes.len()));
        self.bytes.len() - begin
    }

    /// Every entry and whose it is.
    pub(super) fn iter(&self) -> impl Iterator<Item = (InstanceNumber, &[u8])> {
        let mut begin = 0;
        self.ends.iter().map(move |&(instance, end)| {
            let bytes = self.bytes.get(begin..end).unwrap_or_default();
            begin = end;
            (instance, bytes)
        })
    }
}
