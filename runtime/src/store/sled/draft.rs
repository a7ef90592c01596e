//! A group while it is judged: the rows it will write, laid over the tree so that later writes of the group see the earlier
//! ones, and the batches it becomes. Absent on purpose: what the rows mean.

use super::keys;
use super::rows::{self, CHUNK_BYTES, Chunks, Head, Placed, RowFault};
use super::view::View;
use ::sled::{Batch, IVec, Tree};
use std::collections::BTreeMap;

/// Above either limit the chunk rows of a group are written, synced, before the batch that refers to them. A sled batch of
/// a thousand rows is harmless; one of a hundred thousand takes gigabytes.
const BATCH_ROWS_MAX: usize = 1_000;
const BATCH_BYTES_MAX: usize = 4 << 20;

pub(super) struct Draft<'t> {
    tree: &'t Tree,
    head: Head,
    values: u64,
    rows: BTreeMap<Vec<u8>, Option<IVec>>,
    /// What the rows were before the write that is being judged, oldest first.
    undo: Vec<(Vec<u8>, Option<Option<IVec>>)>,
}

/// A group ready to be written: `staged` one by one, then `last`, which makes it count.
pub(super) struct Group {
    pub(super) staged: Vec<Batch>,
    pub(super) last: Batch,
    pub(super) head: Head,
}

impl<'t> Draft<'t> {
    /// A draft of the commit after `head`.
    pub(super) fn after(tree: &'t Tree, head: Head) -> Self {
        let head = Head {
            group: head.group + 1,
            ..head
        };
        Self {
            tree,
            head,
            values: 0,
            rows: BTreeMap::new(),
            undo: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
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
    }

    pub(super) fn put(&mut self, key: Vec<u8>, body: &[u8]) {
        let value = IVec::from(rows::seal(&key, body));
        self.set(key, Some(value));
    }

    pub(super) fn remove(&mut self, key: Vec<u8>) {
        self.set(key, None);
    }

    fn set(&mut self, key: Vec<u8>, value: Option<IVec>) {
        let before = self.rows.insert(key.clone(), value);
        self.undo.push((key, before));
    }

    /// Writes or removes a row that holds nothing, if it is not so already.
    pub(super) fn mark(&mut self, key: Vec<u8>, wanted: bool) -> Result<(), RowFault> {
        match (self.get(&key)?.is_some(), wanted) {
            (false, true) => self.put(key, &[]),
            (true, false) => self.remove(key),
            (true, true) | (false, false) => {}
        }
        Ok(())
    }

    /// Writes a row that is `header` and then a value of any length.
    pub(super) fn put_placed(&mut self, key: Vec<u8>, mut header: Vec<u8>, value: &[u8]) {
        if value.len() <= rows::room(header.len()) {
            Placed::Inline(value).encode_to(&mut header);
        } else {
            let chunks = Chunks {
                group: self.head.group,
                value: self.values,
                length: value.len() as u64,
            };
            self.values += 1;
            for (piece, bytes) in (0..).zip(value.chunks(CHUNK_BYTES)) {
                self.put(keys::chunk(chunks.group, chunks.value, piece), bytes);
            }
            Placed::Chunked(chunks).encode_to(&mut header);
        }
        self.put(key, &header);
    }

    /// Gives up a value that a removed or overwritten row held. Its chunks go bit by bit with later commits.
    pub(super) fn discard(&mut self, value: &Placed<'_>) {
        if let Placed::Chunked(chunks) = value {
            self.put(keys::garbage(chunks.group, chunks.value), &rows::encode(&chunks.length));
        }
    }

    /// The write that was judged stands.
    pub(super) fn keep(&mut self) {
        self.undo.clear();
    }

    /// The write that was judged leaves no trace.
    pub(super) fn take_back(&mut self) {
        for (key, before) in self.undo.drain(..).rev() {
            match before {
                Some(value) => self.rows.insert(key, value),
                None => self.rows.remove(&key),
            };
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

impl View for Draft<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<IVec>, RowFault> {
        match self.rows.get(key) {
            Some(value) => Ok(value.clone()),
            None => View::get(self.tree, key),
        }
    }

    fn scan(&self, prefix: &[u8]) -> Result<Vec<(IVec, IVec)>, RowFault> {
        let mut rows: BTreeMap<IVec, IVec> = self.tree.scan(prefix)?.into_iter().collect();
        let drafted = self.rows.range(prefix.to_vec()..);
        for (key, value) in drafted.take_while(|(key, _)| key.starts_with(prefix)) {
            let key = IVec::from(key.as_slice());
            match value {
                Some(value) => rows.insert(key, value.clone()),
                None => rows.remove(&key),
            };
        }
        Ok(rows.into_iter().collect())
    }
}
