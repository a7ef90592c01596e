//! A group while it is judged: the rows that it will write, and the batches that it becomes. Absent on purpose: what the
//! rows mean.

use super::keys;
use super::rows::{self, CHUNK_BYTES, Chunks, Head, Placed, RowFault};
use ::sled::{Batch, IVec, Tree};
use std::collections::BTreeMap;

/// Above either limit the chunk rows of a group are written, synced, before the batch that refers to them. A sled batch of
/// a thousand rows is harmless; one of a hundred thousand takes gigabytes.
const BATCH_ROWS_MAX: usize = 1_000;
const BATCH_BYTES_MAX: usize = 4 << 20;

pub(super) struct Draft<'t> {
    tree: &'t Tree,
    pub(super) head: Head,
    values: u64,
    rows: BTreeMap<Vec<u8>, Option<IVec>>,
    counts: bool,
}

/// A group ready to be written: `staged` one by one, then `last`, which makes it count.
pub(super) struct Group {
    pub(super) staged: Vec<Batch>,
    pub(super) last: Batch,
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
        self.place(value, rows::room(header.len())).encode_to(&mut header);
        self.put(key, &header);
    }

    /// A value as it is, or, if it is longer than `room`, where its chunks are.
    pub(super) fn place<'v>(&mut self, value: &'v [u8], room: usize) -> Placed<'v> {
        if value.len() <= room {
            return Placed::Inline(value);
        }
        let chunks = Chunks {
            group: self.head.group,
            value: self.values,
            length: value.len() as u64,
        };
        self.values += 1;
        for (piece, bytes) in (0..).zip(value.chunks(CHUNK_BYTES)) {
            self.put(keys::chunk(chunks.group, chunks.value, piece), bytes);
        }
        Placed::Chunked(chunks)
    }

    /// Gives up a value that a removed or overwritten row held. Its chunks go bit by bit with later commits.
    pub(super) fn discard(&mut self, chunks: Option<Chunks>) {
        if let Some(chunks) = chunks {
            self.put(keys::garbage(chunks.group, chunks.value), &rows::encode(&chunks.length));
        }
    }

    /// A row as this group leaves it so far.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<IVec>, RowFault> {
        match self.rows.get(key) {
            Some(value) => Ok(value.clone()),
            None => Ok(self.tree.get(key)?),
        }
    }

    /// The values that this group gives up, where they are.
    pub(super) fn discarded(&self) -> Result<Vec<Chunks>, RowFault> {
        let rows = self.rows.range(keys::GARBAGE.to_vec()..);
        let rows = rows.take_while(|(key, _)| key.starts_with(keys::GARBAGE));
        rows.filter_map(|(key, value)| value.as_ref().map(|value| garbage(key, value)))
            .collect()
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
            staged: Vec::new(),
            last: Batch::default(),
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

/// The chunks that a row of the garbage list names.
pub(super) fn garbage(key: &[u8], value: &[u8]) -> Result<Chunks, RowFault> {
    let length = rows::decode(key, rows::unseal(key, value)?)?;
    let (group, value) = keys::number(key, 0)
        .zip(keys::number(key, 1))
        .ok_or_else(|| RowFault::rotten(key, "has a short key"))?;
    Ok(Chunks { group, value, length })
}
