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

impl What<'_> {
    /// Whether it refers to a value that is elsewhere.
    pub(super) fn is_far(&self) -> bool {
        match self {
            What::Start { batch, .. } => batch.far().is_some(),
            What::Turn { batch, .. } => batch.as_ref().is_some_and(|batch| batch.far().is_some()),
            What::Signal { payload, .. } => payload.far().is_some(),
            What::Cancel { .. } => false,
        }
    }
}

/// The entries of one group, in order, encoded one behind the other.
pub(super) struct Log {
    /// Tells it from the logs of other groups, of which some are never written and have no number.
    pub(super) round: u64,
    /// The instances that the group was about, each once, in the order in which they came.
    touched: Vec<InstanceNumber>,
    bytes: Vec<u8>,
    /// Whose each entry is, as a place in `touched`, and where it ends.
    ends: Vec<(usize, usize)>,
}

impl Log {
    pub(super) fn new(round: u64) -> Self {
        Self {
            round,
            touched: Vec::new(),
            bytes: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Adds an instance, and answers its place.
    pub(super) fn touch(&mut self, instance: InstanceNumber) -> usize {
        self.touched.push(instance);
        self.touched.len() - 1
    }

    pub(super) fn touched(&self) -> &[InstanceNumber] {
        &self.touched
    }

    /// Adds an entry of the instance at this place and answers how long it is.
    pub(super) fn push(&mut self, place: usize, entry: &Entry<'_>) -> usize {
        let begin = self.bytes.len();
        rows::append(&mut self.bytes, entry);
        self.ends.push((place, self.bytes.len()));
        self.bytes.len() - begin
    }

    /// Every entry and the place of whose it is.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let mut begin = 0;
        self.ends.iter().map(move |&(place, end)| {
            let bytes = self.bytes.get(begin..end).unwrap_or_default();
            begin = end;
            (place, bytes)
        })
    }
}
