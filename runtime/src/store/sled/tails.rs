//! The tails of all instances that move, by number and by id, and the pages that make them durable. Absent on purpose: what
//! a write means (`judge`), what a tail holds (`tail`).
//!
//! A tail that was folded stays, unchanged, until the commit is durable: a reader finds an instance here, or, if not, in
//! rows that are whole.

use super::draft::Draft;
use super::entry::{Entry, Log, What};
use super::fold;
use super::pages::{PAGE_BYTES, Pages};
use super::rows::{Head, RowFault};
use super::tail::Tail;
use super::view;
use crate::ids::InstanceNumber;
use crate::store::InstanceRecord;
use ::sled::Tree;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

/// How many rows one commit writes for tails whose pages are old: enough for twice as many as it writes to, so that they
/// cannot pile up.
const OLD_FOLDS_ROWS_MAX: usize = 4_000;
/// How many rows one commit writes for tails that are only long, or for one of them. The others wait for a later commit:
/// a thousand instances in step must not make one batch of a hundred thousand rows, which takes sled gigabytes.
const LONG_FOLDS_ROWS_MAX: usize = 1_000;

#[derive(Default)]
pub(super) struct Tails {
    by_number: BTreeMap<InstanceNumber, Tail>,
    // Looked up, never iterated.
    by_id: HashMap<String, InstanceNumber>,
    /// Instances with entries in pages that do not go with their rows, and why. They stay as they are.
    damaged: BTreeMap<InstanceNumber, String>,
    pages: Pages,
    /// How many pages may count at once.
    pages_max: usize,
    /// How many groups were judged, and whether the last one may not be durable yet.
    rounds: u64,
    under_way: bool,
    /// Folded in the commit under way.
    leaving: Vec<InstanceNumber>,
}

impl Tails {
    pub(super) fn get(&self, instance: InstanceNumber) -> Result<Option<&Tail>, RowFault> {
        match self.damaged.get(&instance) {
            Some(reason) => Err(RowFault::Rotten(reason.clone())),
            None => Ok(self.by_number.get(&instance)),
        }
    }

    pub(super) fn number(&self, id: &str) -> Option<InstanceNumber> {
        self.by_id.get(id).copied()
    }

    pub(super) fn is_damaged(&self, instance: InstanceNumber) -> bool {
        self.damaged.contains_key(&instance)
    }

    /// Instances that cannot be read, with numbers above `after`, in order.
    pub(super) fn damaged(&self, after: Option<InstanceNumber>) -> impl Iterator<Item = InstanceNumber> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.damaged
            .range((from, Bound::Unbounded))
            .map(|(instance, _)| *instance)
    }

    /// Tails with numbers above `after`, in order.
    pub(super) fn above(&self, after: Option<InstanceNumber>) -> impl Iterator<Item = &Tail> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.by_number.range((from, Bound::Unbounded)).map(|(_, tail)| tail)
    }

    pub(super) fn insert(&mut self, tail: Tail) {
        self.by_id.insert(tail.record().id.clone(), tail.number());
        self.by_number.insert(tail.number(), tail);
    }

    /// The tail of an instance, which is loaded if it has rows alone.
    pub(super) fn load(&mut self, tree: &Tree, instance: InstanceNumber) -> Result<Option<&mut Tail>, RowFault> {
        if self.get(instance)?.is_none() {
            let Some(folded) = view::folded(tree, instance)? else {
                return Ok(None);
            };
            self.insert(Tail::loaded(folded));
        }
        Ok(self.by_number.get_mut(&instance))
    }

    /// The tail of the instance with this id.
    pub(super) fn load_by_id(&mut self, tree: &Tree, id: &str) -> Result<Option<&mut Tail>, RowFault> {
        let number = match self.number(id) {
            Some(number) => number,
            None => match view::number(tree, id)? {
                Some(number) => {
                    if self.get(number)?.is_none() {
                        self.insert(Tail::loaded(view::bearer(tree, id, number)?));
                    }
                    number
                }
                None => return Ok(None),
            },
        };
        self.get(number)?;
        Ok(self.by_number.get_mut(&number))
    }

    /// The log of a group that is about to be judged.
    pub(super) fn begin(&mut self) -> Log {
        self.rounds += 1;
        self.under_way = true;
        Log::new(self.rounds)
    }

    /// Whether long values that a tail refers to may not be there yet.
    pub(super) fn is_on_its_way(&self, tail: &Tail) -> bool {
        self.under_way && tail.far_round() == self.rounds
    }

    /// Puts what a group wrote into the draft: folds what does not stay, packs the entries of the rest into pages.
    pub(super) fn put(&mut self, draft: &mut Draft<'_>, log: &Log) -> Result<(), RowFault> {
        let mut stays: Vec<bool> = Vec::with_capacity(log.touched().len());
        let mut folding = Vec::new();
        let mut long_rows = 0;
        for instance in log.touched() {
            let Some(tail) = self.by_number.get(instance) else {
                stays.push(false);
                continue;
            };
            let folds = !tail.moves() || tail.is_long() && long_rows < LONG_FOLDS_ROWS_MAX;
            stays.push(tail.is_ahead() && !folds);
            if !tail.is_ahead() {
                self.leaving.push(*instance);
            } else if folds {
                long_rows += if tail.moves() { tail.rows_to_write() } else { 0 };
                folding.push(*instance);
            }
        }
        let staying = |stays: &[bool], place: usize| stays.get(place).is_some_and(|stays| *stays);
        let bytes = log.iter().filter(|(place, _)| staying(&stays, *place));
        let pages = bytes.map(|(_, entry)| entry.len()).sum::<usize>().div_ceil(PAGE_BYTES);
        for instance in self.oldest(pages) {
            let Some(tail) = self.by_number.get(&instance) else {
                continue;
            };
            match tail.place_in(log).and_then(|place| stays.get_mut(place)) {
                // It is folded already.
                Some(false) => continue,
                Some(stays) => *stays = false,
                None => {}
            }
            folding.push(instance);
        }
        for instance in &folding {
            if let Some(tail) = self.by_number.get(instance) {
                fold::fold(draft, tail)?;
                self.pages.release(&tail.groups);
            }
        }
        self.leaving.extend(folding);
        self.write_pages(draft, log, |place| staying(&stays, place));
        if !draft.is_empty() {
            draft.head.pages = self.pages.bits();
        }
        Ok(())
    }

    fn write_pages(&mut self, draft: &mut Draft<'_>, log: &Log, stays: impl Fn(usize) -> bool) {
        let mut members = Vec::new();
        for (place, _) in log.iter().filter(|(place, _)| stays(*place)) {
            let tail = log
                .touched()
                .get(place)
                .and_then(|instance| self.by_number.get_mut(instance));
            if let Some(tail) = tail
                && tail.groups.last() != Some(&draft.head.group)
            {
                tail.groups.push(draft.head.group);
                members.push(tail.number());
            }
        }
        let entries = log.iter().filter(|(place, _)| stays(*place)).map(|(_, entry)| entry);
        self.pages.write(draft, entries, members);
    }

    /// The tails with the oldest entries, each once, if there are too many pages.
    fn oldest(&self, more: usize) -> BTreeSet<InstanceNumber> {
        if self.pages.count() + more <= self.pages_max {
            return BTreeSet::new();
        }
        let (mut old, mut rows) = (BTreeSet::new(), 0);
        for (group, instance) in self.pages.oldest() {
            if let Some(tail) = self.by_number.get(&instance)
                && tail.groups.contains(&group)
                && old.insert(instance)
            {
                rows += tail.rows_to_write();
            }
            if rows >= OLD_FOLDS_ROWS_MAX {
                break;
            }
        }
        old
    }

    /// The commit is durable: what was folded is read from its rows.
    pub(super) fn leave(&mut self) {
        self.under_way = false;
        for instance in std::mem::take(&mut self.leaving) {
            if let Some(tail) = self.by_number.remove(&instance) {
                self.by_id.remove(&tail.record().id);
            }
        }
    }

    /// The tails as the pages that count tell them.
    pub(super) fn recover(tree: &Tree, head: &Head, pages_max: usize) -> Result<Self, RowFault> {
        let mut tails = Self {
            pages_max,
            ..Self::default()
        };
        tails.pages = Pages::recover(tree, head, |entry, length, group| {
            tails.take_back(tree, entry, length, group)
        })?;
        // Those that were only looked at because an old entry of theirs is in a page that counts.
        let known = tails.by_number.values().filter(|tail| !tail.is_ahead());
        tails.leaving = known.map(Tail::number).collect();
        tails.leave();
        Ok(tails)
    }

    /// Takes in an entry of a page. `false` if the rows have it.
    fn take_back(&mut self, tree: &Tree, entry: &Entry<'_>, length: usize, group: u64) -> Result<bool, RowFault> {
        let instance = InstanceNumber(entry.instance);
        if self.damaged.contains_key(&instance) {
            return Ok(true);
        }
        match self.replay(tree, entry, length, group) {
            Ok(is_new) => Ok(is_new),
            Err(RowFault::Io(reason)) => Err(RowFault::Io(reason)),
            Err(fault @ (RowFault::Rotten(_) | RowFault::Newer(_))) => {
                // Its id stays known: nobody else may take it.
                self.by_number.remove(&instance);
                self.damaged.insert(instance, fault.reason());
                Ok(true)
            }
        }
    }

    fn replay(&mut self, tree: &Tree, entry: &Entry<'_>, length: usize, group: u64) -> Result<bool, RowFault> {
        let instance = InstanceNumber(entry.instance);
        let gap = || RowFault::Rotten(format!("entry {} of instance {instance} is missing", entry.place));
        let Some(tail) = self.load(tree, instance)? else {
            let (
                0,
                What::Start {
                    id,
                    workflow,
                    version,
                    input_digest,
                    batch,
                },
            ) = (entry.place, &entry.what)
            else {
                return Err(gap());
            };
            let record = InstanceRecord::accepted(instance, id, workflow, *version, *input_digest, entry.at);
            let mut tail = Tail::started(record, batch);
            tail.grew(length);
            tail.groups.push(group);
            self.insert(tail);
            return Ok(true);
        };
        if entry.place < tail.row.entries {
            return Ok(false);
        }
        if entry.place > tail.row.entries {
            return Err(gap());
        }
        let looked_up = tail.look_up(tree, &entry.what)?;
        tail.take_in(entry.at, &entry.what, looked_up);
        tail.grew(length);
        if tail.groups.last() != Some(&group) {
            tail.groups.push(group);
        }
        Ok(true)
    }
}
