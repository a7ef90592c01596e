//! Buffered signals and the waits for them: first in, first out, per name; the oldest wait first.

use super::OpenNo;
use crate::store::StoredSignal;
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

#[derive(Default)]
pub(super) struct Signals {
    buffered: BTreeMap<String, VecDeque<StoredSignal>>,
    waits: BTreeMap<&'static str, BTreeSet<OpenNo>>,
    /// Names that have both a signal and a wait.
    matchable: BTreeSet<&'static str>,
    /// Signals with lower numbers are known already.
    next_sequence: u64,
    revision: u64,
}

impl Signals {
    /// `accepted` is how many signals the instance was ever sent.
    pub(super) fn new(signals: Vec<StoredSignal>, accepted: u64) -> Self {
        let mut buffered: BTreeMap<String, VecDeque<StoredSignal>> = BTreeMap::new();
        for signal in signals {
            buffered.entry(signal.name.clone()).or_default().push_back(signal);
        }
        Self {
            buffered,
            next_sequence: accepted,
            ..Self::default()
        }
    }

    /// A signal that the store accepted. One that was known from loading is ignored.
    pub(super) fn offer(&mut self, signal: StoredSignal) {
        if signal.sequence < self.next_sequence {
            return;
        }
        self.next_sequence = signal.sequence + 1;
        if let Some((name, _)) = self.waits.get_key_value(signal.name.as_str()) {
            self.matchable.insert(name);
        }
        self.buffered.entry(signal.name.clone()).or_default().push_back(signal);
    }

    pub(super) fn open_wait(&mut self, name: &'static str, open: OpenNo) {
        self.revision += 1;
        self.waits.entry(name).or_default().insert(open);
        if self.buffered.contains_key(name) {
            self.matchable.insert(name);
        }
    }

    pub(super) fn close_wait(&mut self, name: &'static str, open: OpenNo) {
        self.revision += 1;
        if let Some(waits) = self.waits.get_mut(name) {
            waits.remove(&open);
            if waits.is_empty() {
                self.waits.remove(name);
                self.matchable.remove(name);
            }
        }
    }

    /// The oldest wait of some name together with the oldest signal for it. The signal is taken, the wait stays open.
    pub(super) fn take_match(&mut self) -> Option<(OpenNo, StoredSignal)> {
        loop {
            let name = *self.matchable.first()?;
            let wait = self.waits.get(name).and_then(|waits| waits.first().copied());
            let signal = self.buffered.get_mut(name).and_then(VecDeque::pop_front);
            if self.buffered.get(name).is_none_or(VecDeque::is_empty) {
                self.buffered.remove(name);
                self.matchable.remove(name);
            }
            match (wait, signal) {
                (Some(wait), Some(signal)) => return Some((wait, signal)),
                (Some(_) | None, Some(_) | None) => {
                    self.matchable.remove(name);
                }
            }
        }
    }

    pub(super) fn awaited(&self) -> Vec<String> {
        self.waits
            .iter()
            .flat_map(|(name, waits)| waits.iter().map(|_| (*name).to_owned()))
            .collect()
    }

    /// Name and time of every signal that is not consumed, in the order they were accepted.
    pub(super) fn buffered(&self) -> Vec<(String, Timestamp)> {
        let mut all: Vec<&StoredSignal> = self.buffered.values().flatten().collect();
        all.sort_by_key(|signal| signal.sequence);
        all.into_iter().map(|signal| (signal.name.clone(), signal.at)).collect()
    }

    pub(super) fn revision(&self) -> u64 {
        self.revision
    }
}
