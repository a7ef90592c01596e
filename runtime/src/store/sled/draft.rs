//! A group while it is judged: the rows that it will write, and the batches that it becomes. Absent on purpose: what the
//! rows mean.

use super::keys;
use super::rows::{self, CHUNK_BYTES, Chunks, Far, Head, Placed, RowFault};
use super::values::Filed;
use ::sled::{Batch, IVec, Tree};
use std::collections::BTreeMap;

/// Above either limit the chunk rows of a group are written, synced, before the batch that refers to them. A sled batch of
/// a thousand rows is harmless; one of a hundred thousand takes gigabytes.
const BATCH_ROWS_MAX: usize = 1_000;
const BATCH_BYTES_MAX: usize = 4 << 20;

/// How long a batch or a signal may be to be kept where it is written. A longer one gets chunk rows at once, so that it is
/// not written a second time when it is folded.
const INLINE_MAX: usize = 1_500;
/// A value as long as this goes to a file. One of chunk rows is written several times over by sled; one in a file costs a
/// sync of its own.
const FILED_MIN: usize = 32 << 10;

pub(super) struct Draft<'t> {
    tree: &'t Tree,
    pub(super) head: Head,
    values: u64,
    filed: Vec<(Filed, Vec<u8>)>,
    given_up: Vec<Filed>,
    discarded: Vec<((u64, u64), u64)>,
    rows: BTreeMap<Vec<u8>, Option<IVec>>,
    counts: bool,
}

/// A group ready to be written: `filed`, then `staged` one by one, then `last`, which makes it count.
pub(super) struct Group {
    pub(super) filed: Vec<(Filed, Vec<u8>)>,
    pub(super) staged: Vec<Batch>,
    pub(super) last: Batch,
    /// Files of values that are removed when the group is durable.
    pub(super) removed_files: Vec<u64>,
    pub(super) head: Head,
}

impl<'t> Draft<'t> {
    /// A draft of the commit after `head`.
    pub(super) fn after(tree: &'t Tree, mut head: Head) -> Self {
        head.group += 1;
        Self {
            tree,
            head,
            values: 0,
            filed: Vec::new(),
            given_up: Vec::new(),
            discarded: Vec::new(),
            rows: BTreeMap::new(),
            counts: false,
        }
    }

    /// Whether nothing is to be written.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && !self.counts
    }

    /// The number of the next instance, which is then taken.
    pub(super) fn take_number(&mut self) -> u64 {
        let number = self.head.next_number;
        self.head.next_number += 1;
        number
    }

    /// Makes another owner's groups invalid from here on.
    pub(super) fn raise_epoch(&mut self) {
        self.head.epoch += 1;
        self.counts = true;
    }

    pub(super) fn put(&mut self, key: Vec<u8>, body: &[u8]) {
        let value = IVec::from(rows::seal(&key, body));
        self.rows.insert(key, Some(value));
    }

    pub(super) fn remove(&mut self, key: Vec<u8>) {
        self.rows.insert(key, None);
    }

    /// Writes a row that is `header` and then a value of any length.
    pub(super) fn put_placed(&mut self, key: Vec<u8>, mut header: Vec<u8>, value: &[u8]) {
        if value.len() <= rows::room(header.len()) {
            Placed::Inline(value).encode_to(&mut header);
        } else {
            Placed::Chunked(self.chunk(value)).encode_to(&mut header);
        }
        self.put(key, &header);
    }

    /// A batch or a payload as it is, or, if it is long, where it is put.
    pub(super) fn place<'v>(&mut self, value: &'v [u8]) -> Placed<'v> {
        match value.len() {
            ..=INLINE_MAX => Placed::Inline(value),
            FILED_MIN.. => {
                let filed = self.head.values.file(value);
                self.filed.push((filed, value.to_vec()));
                Placed::Filed(filed)
            }
            _ => Placed::Chunked(self.chunk(value)),
        }
    }

    fn chunk(&mut self, value: &[u8]) -> Chunks {
        let chunks = Chunks {
            group: self.head.group,
            value: self.values,
            length: value.len() as u64,
        };
        self.values += 1;
        for (piece, bytes) in (0..).zip(value.chunks(CHUNK_BYTES)) {
            self.put(keys::chunk(chunks.group, chunks.value, piece), bytes);
        }
        chunks
    }

    /// Gives up a value that nothing refers to any more. Chunks go bit by bit with later commits, files when all of their
    /// values are given up.
    pub(super) fn discard(&mut self, far: Option<Far>) {
        match far {
            Some(Far::Chunked(chunks)) => {
                self.put(keys::garbage(chunks.group, chunks.value), &rows::encode(&chunks.length));
                self.discarded.push(((chunks.group, chunks.value), chunks.length));
            }
            Some(Far::Filed(filed)) => self.given_up.push(filed),
            None => {}
        }
    }

    /// The values in files that this group gives up.
    pub(super) fn given_up(&mut self) -> Vec<Filed> {
        std::mem::take(&mut self.given_up)
    }

    /// The file that the first of the group's values goes to.
    pub(super) fn first_filed(&self) -> Option<u64> {
        self.filed.first().map(|(filed, _)| filed.segment)
    }

    /// A row as this group leaves it so far.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<IVec>, RowFault> {
        match self.rows.get(key) {
            Some(value) => Ok(value.clone()),
            None => Ok(self.tree.get(key)?),
        }
    }

    /// The values in chunk rows that this group gives up: place and length.
    pub(super) fn discarded(&mut self) -> Vec<((u64, u64), u64)> {
        std::mem::take(&mut self.discarded)
    }

    /// Numbers, chains and splits the group.
    pub(super) fn finish(mut self) -> Group {
        let mut chain = crc32fast::Hasher::new();
        chain.update(&self.head.chain.to_le_bytes());
        let mut bytes = 0;
        for (key, value) in &self.rows {
            let value = value.as_deref().unwrap_or_default();
            chain.update(key);
            chain.update(value);
            bytes += key.len() + value.len();
        }
        self.head.chain = chain.finalize();
        let stage_chunks = self.rows.len() > BATCH_ROWS_MAX || bytes > BATCH_BYTES_MAX;
        let mut group = Group {
            filed: self.filed,
            staged: Vec::new(),
            last: Batch::default(),
            removed_files: Vec::new(),
            head: self.head,
        };
        let mut staged_rows = 0;
        for (key, value) in self.rows {
            match value {
                None => group.last.remove(key),
                Some(value) if stage_chunks && key.starts_with(keys::CHUNKS) => {
                    if staged_rows % BATCH_ROWS_MAX == 0 {
                        group.staged.push(Batch::default());
                    }
                    staged_rows += 1;
                    if let Some(batch) = group.staged.last_mut() {
                        batch.insert(key, value);
                    }
                }
                Some(value) => group.last.insert(key, value),
            }
        }
        let head = rows::seal(keys::HEAD, &rows::encode(&group.head));
        group.last.insert(keys::HEAD, head);
        group
    }
}
