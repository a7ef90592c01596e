//! Long values that nothing refers to any more. Their chunk rows are removed bit by bit on the side of later commits; a file
//! of values is removed when all of its values are given up. What is left to do is in rows, so a crash forgets nothing of it.

use super::draft::Draft;
use super::keys;
use super::rows::{self, CHUNK_BYTES, RowFault};
use super::values::Reader;
use super::view;
use ::sled::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// How many chunk rows of discarded values one commit removes on the side.
const PURGED_PER_COMMIT: u64 = 256;

pub(super) struct Garbage {
    values: Reader,
    /// Values whose chunks are still there: place to length.
    chunks: BTreeMap<(u64, u64), u64>,
    /// How many bytes of each file are given up.
    dead: BTreeMap<u64, u64>,
    /// Files that are removed, and whose rows go with the next commit.
    gone: Vec<u64>,
    /// The file that values went to when it was looked for some to remove.
    looked_at: u64,
}

/// What is true once a commit is durable.
pub(super) struct Swept {
    chunks: Vec<((u64, u64), u64)>,
    discarded: Vec<((u64, u64), u64)>,
    /// Files to remove then.
    pub(super) files: Vec<u64>,
}

impl Garbage {
    /// What an earlier process left to do.
    pub(super) fn find(tree: &Tree, values: Reader) -> Result<Self, RowFault> {
        let mut garbage = Self {
            values,
            chunks: BTreeMap::new(),
            dead: BTreeMap::new(),
            gone: Vec::new(),
            looked_at: 0,
        };
        for (key, value) in view::scan(tree, keys::GARBAGE)? {
            let place = keys::number(&key, 0).zip(keys::number(&key, 1));
            let place = place.ok_or_else(|| RowFault::rotten(&key, "has a short key"))?;
            garbage
                .chunks
                .insert(place, rows::decode(&key, rows::unseal(&key, &value)?)?);
        }
        for (key, value) in view::scan(tree, keys::DEAD)? {
            let segment = keys::number(&key, 0).ok_or_else(|| RowFault::rotten(&key, "has a short key"))?;
            garbage
                .dead
                .insert(segment, rows::decode(&key, rows::unseal(&key, &value)?)?);
        }
        Ok(garbage)
    }

    /// Adds to the draft what it gives up, and some of what is left to remove.
    pub(super) fn sweep(&mut self, draft: &mut Draft<'_>) -> Result<Swept, RowFault> {
        Ok(Swept {
            chunks: self.purge(draft),
            files: self.files(draft)?,
            discarded: draft.discarded(),
        })
    }

    /// The commit is durable, and the files are removed.
    pub(super) fn swept(&mut self, swept: Swept) {
        for (place, left) in swept.chunks {
            match left {
                0 => self.chunks.remove(&place),
                left => self.chunks.insert(place, left),
            };
        }
        self.chunks.extend(swept.discarded);
        self.gone.extend(swept.files);
    }

    /// Adds to the draft the removal of some chunks, last piece first, so that a shorter length always tells what is left.
    fn purge(&self, draft: &mut Draft<'_>) -> Vec<((u64, u64), u64)> {
        let mut budget = PURGED_PER_COMMIT;
        let mut purged = Vec::new();
        for ((group, value), length) in &self.chunks {
            if budget == 0 {
                break;
            }
            let pieces = length.div_ceil(CHUNK_BYTES as u64);
            let left = pieces.saturating_sub(budget);
            budget -= pieces - left;
            for piece in left..pieces {
                draft.remove(keys::chunk(*group, *value, piece));
            }
            let left_bytes = left * CHUNK_BYTES as u64;
            let row = keys::garbage(*group, *value);
            if left == 0 {
                draft.remove(row);
            } else {
                draft.put(row, &rows::encode(&left_bytes));
            }
            purged.push(((*group, *value), left_bytes));
        }
        purged
    }

    /// Counts what the draft gives up in files, and finds those that nothing refers to any more.
    fn files(&mut self, draft: &mut Draft<'_>) -> Result<Vec<u64>, RowFault> {
        let mut files = BTreeSet::new();
        for segment in std::mem::take(&mut self.gone) {
            if self.space_of(segment)?.is_some() {
                // It could not be removed then.
                files.insert(segment);
            } else {
                self.dead.remove(&segment);
                draft.remove(keys::dead(segment));
            }
        }
        let given_up = draft.given_up();
        // What this draft still puts into a file is not in its length yet.
        let current = draft.first_filed().unwrap_or(draft.head.values.segment);
        if !given_up.is_empty() || current != self.looked_at {
            self.looked_at = current;
            for filed in given_up {
                let dead = self.dead.entry(filed.segment).or_default();
                *dead += filed.space();
                draft.put(keys::dead(filed.segment), &rows::encode(dead));
            }
            for (segment, dead) in self.dead.range(..current) {
                if self.space_of(*segment)?.is_none_or(|space| space <= *dead) {
                    files.insert(*segment);
                }
            }
        }
        Ok(files.into_iter().collect())
    }

    fn space_of(&self, segment: u64) -> Result<Option<u64>, RowFault> {
        let space = self.values.space_of(segment);
        space.map_err(|error| RowFault::Io(error.to_string()))
    }
}
