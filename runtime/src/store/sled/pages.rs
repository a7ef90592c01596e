//! Pages: the entries of a group, packed into a few rows. sled's cost is by the row and not by the byte, so a page of 25
//! entries costs what one row of one entry would.
//!
//! A page row has a *slot* for its key. Slots are used again, lowest first, so the same few leaves of the tree are written
//! over and over; which of them count is in the head, and what the others hold is never looked at. The slots of a group are
//! free when no tail has an entry in it any more. Absent on purpose: what entries mean.

use super::draft::Draft;
use super::entry::Entry;
use super::keys;
use super::rows::{self, Head, RowFault};
use crate::ids::InstanceNumber;
use ::sled::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// How many pages may count at once: 16 MiB. Above it the tails with entries in the oldest pages are folded, so what a slow
/// body keeps stays small, and so does what opening reads.
pub(super) const PAGES_MAX: usize = 4_096;
/// How many bytes of entries a page takes.
pub(super) const PAGE_BYTES: usize = rows::CHUNK_BYTES - GROUP_BYTES_MAX;
/// What a page's own header may take.
const GROUP_BYTES_MAX: usize = 20;

/// Which slots hold pages that count, and whose entries are in them.
#[derive(Default)]
pub(super) struct Pages {
    groups: BTreeMap<u64, GroupPages>,
    /// One for each slot that was ever used.
    in_use: Vec<bool>,
    free: BTreeSet<u64>,
}

#[derive(Default)]
struct GroupPages {
    slots: Vec<u64>,
    /// Instances with an entry in them, each once.
    members: Vec<InstanceNumber>,
    /// How many of the members have not been folded since.
    tails: usize,
}

impl Pages {
    /// How many pages count.
    pub(super) fn count(&self) -> usize {
        self.in_use.len() - self.free.len()
    }

    /// Groups and the instances that had entries in them, oldest first.
    pub(super) fn oldest(&self) -> impl Iterator<Item = (u64, InstanceNumber)> {
        let groups = self.groups.iter();
        groups.flat_map(|(group, pages)| pages.members.iter().map(|member| (*group, *member)))
    }

    /// One tail is folded that has entries in these groups. Gives how many pages are free by that.
    pub(super) fn release(&mut self, groups: &[u64]) -> usize {
        let mut freed = 0;
        for group in groups {
            let Some(pages) = self.groups.get_mut(group) else {
                continue;
            };
            pages.tails = pages.tails.saturating_sub(1);
            if pages.tails == 0 {
                freed += pages.slots.len();
                for slot in &pages.slots {
                    if let Some(in_use) = self.in_use.get_mut(*slot as usize) {
                        *in_use = false;
                    }
                    self.free.insert(*slot);
                }
                self.groups.remove(group);
            }
        }
        freed
    }

    /// Writes the entries into pages of the draft's group. `members` are whose they are, each once.
    pub(super) fn write<'l>(
        &mut self,
        draft: &mut Draft<'_>,
        entries: impl Iterator<Item = &'l [u8]>,
        members: Vec<InstanceNumber>,
    ) {
        let mut slots = Vec::new();
        let mut page = Vec::with_capacity(PAGE_BYTES);
        for entry in entries {
            if page.len() + entry.len() > PAGE_BYTES {
                slots.push(self.put(draft, &page, slots.len()));
                page.clear();
            }
            page.extend_from_slice(entry);
        }
        if !page.is_empty() {
            slots.push(self.put(draft, &page, slots.len()));
        }
        if !slots.is_empty() {
            let pages = GroupPages {
                slots,
                tails: members.len(),
                members,
            };
            self.groups.insert(draft.head.group, pages);
        }
    }

    fn put(&mut self, draft: &mut Draft<'_>, entries: &[u8], index: usize) -> u64 {
        let slot = self.free.pop_first().unwrap_or(self.in_use.len() as u64);
        match self.in_use.get_mut(slot as usize) {
            Some(in_use) => *in_use = true,
            None => self.in_use.push(true),
        }
        let mut body = rows::encode(&(draft.head.group, index as u64));
        body.extend_from_slice(entries);
        draft.put(keys::page(slot), &body);
        slot
    }

    /// Which slots count, as the head has it.
    pub(super) fn bits(&self) -> Vec<u8> {
        let mut bits = vec![0_u8; self.in_use.len().div_ceil(8)];
        for (slot, in_use) in self.in_use.iter().enumerate() {
            if *in_use && let Some(byte) = bits.get_mut(slot / 8) {
                *byte |= 1 << (slot % 8);
            }
        }
        while bits.last() == Some(&0) {
            bits.pop();
        }
        bits
    }

    /// Reads the pages that count, and gives their entries to `take`, oldest first. `take`, which is told its length too, answers whether it is
    /// still in no row: otherwise it does not keep its page.
    pub(super) fn recover(
        tree: &Tree,
        head: &Head,
        mut take: impl FnMut(&Entry<'_>, usize, u64) -> Result<bool, RowFault>,
    ) -> Result<Self, RowFault> {
        let mut found = BTreeMap::new();
        let mut pages = Self::default();
        for slot in 0..head.pages.len() * 8 {
            let in_use = head.pages.get(slot / 8).is_some_and(|byte| byte >> (slot % 8) & 1 == 1);
            pages.in_use.push(in_use);
            if !in_use {
                pages.free.insert(slot as u64);
                continue;
            }
            let key = keys::page(slot as u64);
            let value = tree.get(&key)?.ok_or_else(|| RowFault::rotten(&key, "is missing"))?;
            let place: (u64, u64) = rows::take(&key, rows::unseal(&key, &value)?)?.0;
            found.insert(place, (slot as u64, value));
        }
        let mut members = BTreeMap::new();
        for ((group, _), (slot, value)) in found {
            let key = keys::page(slot);
            let (_, mut body): ((u64, u64), _) = rows::take(&key, rows::unseal(&key, &value)?)?;
            let pages = pages.groups.entry(group).or_default();
            let known: &mut BTreeSet<InstanceNumber> = members.entry(group).or_default();
            pages.slots.push(slot);
            while !body.is_empty() {
                let (entry, rest): (Entry<'_>, _) = rows::take(&key, body)?;
                let length = body.len() - rest.len();
                body = rest;
                let instance = InstanceNumber(entry.instance);
                if take(&entry, length, group)? && known.insert(instance) {
                    pages.members.push(instance);
                    pages.tails += 1;
                }
            }
        }
        Ok(pages)
    }
}
