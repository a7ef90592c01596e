//! A disk that is built from a trace, and what is left of it when the power goes: what was synced, and each unsynced page of
//! 4 KiB only by chance, in its last or an earlier version. A file or folder that was made since its folder was synced is
//! there only by chance, too. Renames, deletions and truncations are durable at once.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use steadfast_tests::groups::Chance;

const PAGE: u64 = 4_096;

/// One entry of the trace; see `shim.c`.
pub(crate) struct Entry {
    kind: u8,
    path: PathBuf,
    second: PathBuf,
    number: u64,
    data: Vec<u8>,
}

/// Reads a trace.
pub(crate) fn parse(mut bytes: &[u8]) -> Vec<Entry> {
    let mut take = |length: usize| {
        let (taken, rest) = bytes.split_at_checked(length)?;
        bytes = rest;
        Some(taken)
    };
    let mut entries = Vec::new();
    while let Some(head) = take(17) {
        let short = |at: usize| u16::from_ne_bytes([head[at], head[at + 1]]) as usize;
        let number = u64::from_ne_bytes(head[5..13].try_into().unwrap());
        let length = u32::from_ne_bytes(head[13..17].try_into().unwrap()) as usize;
        let mut text = |length| PathBuf::from(String::from_utf8(take(length).unwrap().to_vec()).unwrap());
        let (path, second) = (text(short(1)), text(short(3)));
        let data = take(length).unwrap().to_vec();
        entries.push(Entry {
            kind: head[0],
            path,
            second,
            number,
            data,
        });
    }
    entries
}

impl Entry {
    /// The number of acknowledged groups, if this entry is such a note.
    pub(crate) fn acknowledged(&self) -> Option<u64> {
        let note = self.kind == b'w' && self.path.ends_with("acks");
        note.then(|| u64::from_le_bytes(self.data.as_slice().try_into().unwrap()))
    }
}

#[derive(Clone, Default)]
struct File {
    pages: BTreeMap<u64, Page>,
    length: u64,
    synced_length: u64,
}

/// What a page holds on disk, and what was written over it since, each with the place of the write in the trace.
#[derive(Clone, Default)]
struct Page {
    synced: Vec<u8>,
    versions: Vec<(usize, Vec<u8>)>,
}

#[derive(Default)]
pub(crate) struct Disk {
    folders: Vec<PathBuf>,
    files: BTreeMap<PathBuf, File>,
    /// What was made since its folder was synced, and where in the trace.
    new_names: BTreeMap<PathBuf, usize>,
    /// Syncs that have begun: where, and how long the file was then.
    syncing: HashMap<u64, (usize, u64)>,
    place: usize,
}

impl Disk {
    /// Plays one entry.
    pub(crate) fn play(&mut self, entry: &Entry) {
        self.place += 1;
        match entry.kind {
            b'm' => {
                self.folders.push(entry.path.clone());
                self.new_names.insert(entry.path.clone(), self.place);
            }
            b'd' => self.folders.retain(|folder| *folder != entry.path),
            b'u' => drop(self.files.remove(&entry.path)),
            b'r' => {
                if let Some(file) = self.files.remove(&entry.path) {
                    self.files.insert(entry.second.clone(), file);
                }
            }
            b'o' => {
                if !self.files.contains_key(&entry.path) {
                    self.new_names.insert(entry.path.clone(), self.place);
                }
                let file = self.files.entry(entry.path.clone()).or_default();
                if entry.number == 1 {
                    *file = File::default();
                }
            }
            b'w' => self.write(entry),
            b't' => {
                if let Some(file) = self.files.get_mut(&entry.path) {
                    file.truncate(entry.number);
                }
            }
            b'b' => {
                let length = self.files.get(&entry.path).map_or(0, |file| file.length);
                self.syncing.insert(entry.number, (self.place, length));
            }
            b'e' => {
                let (begun, length) = self.syncing[&entry.number];
                if let Some(file) = self.files.get_mut(&entry.path) {
                    file.sync(begun, length);
                }
                let synced = |name: &Path| name.parent() == Some(&entry.path);
                self.new_names.retain(|name, made| !synced(name) || *made > begun);
            }
            b's' => {}
            kind => panic!("the trace has an entry of kind {kind}"),
        }
    }

    fn write(&mut self, entry: &Entry) {
        let file = self.files.entry(entry.path.clone()).or_default();
        let mut at = entry.number;
        let mut data = entry.data.as_slice();
        while !data.is_empty() {
            let from = (at % PAGE) as usize;
            let (piece, rest) = data.split_at(data.len().min(PAGE as usize - from));
            let page = file.pages.entry(at / PAGE).or_default();
            let mut bytes = page.versions.last().map_or(&page.synced, |(_, bytes)| bytes).clone();
            bytes.resize(PAGE as usize, 0);
            bytes[from..from + piece.len()].copy_from_slice(piece);
            page.versions.push((self.place, bytes));
            at += piece.len() as u64;
            data = rest;
        }
        file.length = file.length.max(at);
    }

    /// Writes what is left after a power cut now, every unsynced page and name being kept with a probability of `keep` per
    /// cent. Paths below `traced` go below `target`.
    pub(crate) fn cut(&self, chance: &mut Chance, keep: u64, traced: &Path, target: &Path) {
        let place = |path: &Path| target.join(path.strip_prefix(traced).unwrap());
        let lost: Vec<&PathBuf> = self.new_names.keys().filter(|_| chance.below(100) >= keep).collect();
        let is_lost = |path: &Path| lost.iter().any(|lost| path.starts_with(lost));
        fs::create_dir_all(target).unwrap();
        for folder in self.folders.iter().filter(|folder| !is_lost(folder)) {
            fs::create_dir_all(place(folder)).unwrap();
        }
        for (path, file) in self.files.iter().filter(|(path, _)| !is_lost(path)) {
            let path = place(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file.left(chance, keep)).unwrap();
        }
    }
}

impl File {
    fn sync(&mut self, begun: usize, length: u64) {
        for page in self.pages.values_mut() {
            let covered = page.versions.partition_point(|(place, _)| *place < begun);
            if let Some((_, bytes)) = page.versions.drain(..covered).next_back() {
                page.synced = bytes;
            }
        }
        self.synced_length = self.synced_length.max(length.min(self.length));
    }

    fn truncate(&mut self, length: u64) {
        self.pages.retain(|number, _| number * PAGE < length);
        self.length = length;
        self.synced_length = self.synced_length.min(length);
    }

    fn left(&self, chance: &mut Chance, keep: u64) -> Vec<u8> {
        let mut bytes = vec![0; self.synced_length as usize];
        for (number, page) in &self.pages {
            let mut content = &page.synced;
            if !page.versions.is_empty() && chance.below(100) < keep {
                let count = page.versions.len() as u64;
                let version = if chance.below(10) < 7 {
                    count - 1
                } else {
                    chance.below(count)
                };
                content = &page.versions[version as usize].1;
                let end = self.length.min((number + 1) * PAGE) as usize;
                bytes.resize(bytes.len().max(end), 0);
            }
            let from = (number * PAGE) as usize;
            if let Some(room) = bytes.get_mut(from..) {
                let length = room.len().min(content.len());
                room[..length].copy_from_slice(&content[..length]);
            }
        }
        bytes
    }
}
