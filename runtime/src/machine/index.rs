//! Which open checkpoint a recorded event is for. Absent on purpose: what becomes of it.

use super::OpenNo;
use super::event::CheckpointKind;
use super::path::Path;
use std::collections::BTreeMap;

/// How many checkpoints are looked through one by one. Code that goes on one step after the other has one.
const RECENT_MAX: usize = 4;

/// Open checkpoints by kind and path.
#[derive(Default)]
pub(super) struct Index {
    /// Those that were opened last, in order, and are not in the map.
    recent: Vec<(CheckpointKind, Path, OpenNo)>,
    by_path: BTreeMap<(CheckpointKind, Path), OpenNo>,
}

impl Index {
    /// Of two with one path, the later one counts.
    pub(super) fn insert(&mut self, kind: CheckpointKind, path: Path, open: OpenNo) {
        if self.recent.len() == RECENT_MAX {
            let recent = self.recent.drain(..);
            self.by_path
                .extend(recent.map(|(kind, path, open)| ((kind, path), open)));
        }
        self.recent.push((kind, path, open));
    }

    pub(super) fn get(&self, kind: CheckpointKind, path: &Path) -> Option<OpenNo> {
        let recent = self.recent.iter().rev().find(|(of, at, _)| *of == kind && at == path);
        match recent {
            Some((_, _, open)) => Some(*open),
            None if self.by_path.is_empty() => None,
            None => self.by_path.get(&(kind, path.clone())).copied(),
        }
    }

    pub(super) fn remove(&mut self, kind: CheckpointKind, path: &Path, open: OpenNo) {
        if let Some(place) = self.recent.iter().rposition(|(_, _, recent)| *recent == open) {
            self.recent.remove(place);
        } else if !self.by_path.is_empty() {
            let key = (kind, path.clone());
            if self.by_path.get(&key) == Some(&open) {
                self.by_path.remove(&key);
            }
        }
    }
}
