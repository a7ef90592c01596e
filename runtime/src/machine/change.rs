//! Code that changes while instances are in flight: which side of a change an instance is on, and checkpoints that are gone.
//!
//! # Changes
//!
//! An instance is asked once for each change, where its code comes to the change first; the answer holds from then on.
//! It runs the code after the change if it has not been past this place: that is recorded as a command, so replay finds
//! it in the same poll. Otherwise nothing is recorded, and what the journal has behind this place gives the same answer
//! again. Behind it are
//!
//! - events that follow the poll under way,
//! - commands of this poll that the code has not repeated yet,
//! - and bodies that leave no event when they begin: if they may have been running when the process ended, the poll that
//!   was the last one may have reached them. That the instance stays on the old code is recorded then (`Kept`): bodies that
//!   were not there after all leave nothing else. Code from before the change, put back, does not know the record and
//!   does not need to.
//!
//! The record of a change forces a commit: code that was put back must not find an effect of the new code in the world
//! and none of it in the journal.
//!
//! # Checkpoints that are gone
//!
//! In the place of one stands its path. Its recorded end is waited for and thrown away, so that what the code did by
//! itself after it stays in its segment. If it was dropped, it never ends, as before. If it has neither, whatever the
//! journal has of it counts for nothing, and it is passed as soon as the poll that reached it is over, so that all
//! branches beside it have been reached too. Nothing is recorded of that, since it depends on nothing else: what the code
//! does by itself then stands in the segment of that poll, and each replay finds the same.
//!
//! Beside other branches, an instance may have stood before such a checkpoint while the journal went on. What the code does
//! by itself right behind it then comes late: it is recorded at the end of the journal, and found there from then on.

use super::checkpoint::{Delivery, OpenState};
use super::event::{CheckpointKind, EventKind};
use super::path::{Location, Path};
use super::replay::CommandKey;
use super::{Machine, Next, OpenNo};
use std::collections::{BTreeMap, BTreeSet};

#[cfg(test)]
mod tests;

#[derive(Default)]
pub(super) struct Changes {
    /// Whether the instance runs the code after a change, for those that the code has come to.
    answers: BTreeMap<&'static str, bool>,
    /// Changes that the instance was recorded to be past.
    kept: BTreeSet<String>,
    /// Bodies may have been running, of which the journal does not tell, when it was written last.
    bodies_may_have_run: bool,
    /// How checkpoints go on in what is replayed; looked up when the first that is gone is reached.
    fates: Option<BTreeMap<(CheckpointKind, Path), Fate>>,
    /// Checkpoints that are gone and are passed before anything else is delivered.
    passing: BTreeSet<OpenNo>,
    /// One was passed, and nothing has been delivered since.
    has_just_passed: bool,
}

/// What the rest of a journal has of a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Goes,
    IsDropped,
    Ends,
}

impl Changes {
    pub(super) fn replay_is_over(&mut self) {
        self.bodies_may_have_run = false;
        self.fates = None;
        self.something_is_delivered();
    }

    pub(super) fn something_is_delivered(&mut self) {
        self.has_just_passed = false;
    }

    pub(super) fn has_just_passed(&self) -> bool {
        self.has_just_passed
    }

    pub(super) fn keeps(&mut self, id: String) {
        self.kept.insert(id);
    }

    pub(super) fn is_passing(&self) -> bool {
        !self.passing.is_empty()
    }

    /// Whether this was on the list of those that are passed next.
    pub(super) fn forget(&mut self, open: OpenNo) -> bool {
        self.passing.remove(&open)
    }
}

impl Machine {
    /// The process that wrote the journal ended while bodies may have been running.
    pub(crate) fn bodies_may_have_run(&mut self) {
        self.changes.bodies_may_have_run = true;
    }

    /// Whether the instance runs the code after this change.
    pub(crate) fn patched(&mut self, id: &'static str, location: Location) -> bool {
        if let Some(known) = self.changes.answers.get(id) {
            return *known;
        }
        let key = CommandKey::Change(id.to_owned());
        let is_recorded = self.expected.contains_key(&key);
        let is_new_ground = self.replay.is_empty() && self.expected.is_empty() && !self.changes.kept.contains(id);
        let applies = is_recorded || is_new_ground && !self.changes.bodies_may_have_run;
        let id_text = id.to_owned();
        if applies {
            self.command(key, EventKind::Patched { id: id_text }, location);
        } else if is_new_ground {
            // Nothing else would say so once those bodies are not running any more.
            self.command(
                CommandKey::Kept(id_text.clone()),
                EventKind::Kept { id: id_text },
                location,
            );
        }
        self.changes.answers.insert(id, applies);
        applies
    }

    /// Only the code after this change is left. A record of it is taken, and none is made.
    pub(crate) fn retired(&mut self, id: &'static str) {
        self.expected.remove(&CommandKey::Change(id.to_owned()));
        self.changes.answers.insert(id, true);
    }

    /// The place of a checkpoint that is gone was reached.
    pub(crate) fn open_removed(&mut self, kind: CheckpointKind, path: Path, location: Location) -> OpenNo {
        let began = match kind {
            CheckpointKind::Step => None,
            CheckpointKind::Sleep => Some(CommandKey::Sleep(path.clone())),
            CheckpointKind::Signal => Some(CommandKey::Wait(path.clone())),
        };
        if let Some(began) = began {
            self.expected.remove(&began);
        }
        let fate = self.fate(kind, &path);
        if fate == Some(Fate::Goes) {
            self.replay.retain(|event| event.checkpoint() != Some((kind, &path)));
            // What this code did by itself when it passed here before may come right after what was in between.
            self.lay_out_segment();
        }
        let open = self.insert(kind, path, location, OpenState::Removed);
        match fate {
            Some(Fate::Ends | Fate::IsDropped) => {}
            Some(Fate::Goes) | None => _ = self.changes.passing.insert(open),
        }
        open
    }

    /// A checkpoint that is gone is passed, if one was reached that has no end.
    pub(super) fn pass_removed(&mut self) -> Option<Next> {
        let open = self.changes.passing.pop_first()?;
        self.changes.has_just_passed = true;
        self.answer(open, Delivery::Passed);
        Some(Next::Deliver(open))
    }

    /// What the code does right behind a checkpoint that is gone, while the journal goes on: as [`Machine::command`].
    pub(super) fn late_command(&mut self, key: &CommandKey, command: EventKind) -> Option<EventKind> {
        let recorded = self.replay.take(|event| CommandKey::of(event).as_ref() == Some(key));
        if recorded.is_none() {
            let last = self.replay.last().map_or(self.now, |event| event.at);
            self.append(last, &command);
        }
        recorded
    }

    /// Whether this is about a checkpoint that is gone, and neither its end nor its drop.
    pub(super) fn is_passed_over(&self, event: &EventKind) -> bool {
        let is_removed = |(kind, path): (CheckpointKind, &Path)| {
            let open = self.by_path.get(kind, path);
            let open = open.and_then(|open| self.open.get(open));
            open.is_some_and(|open| matches!(open.state, OpenState::Removed))
        };
        self.changes.fates.is_some() && fate_after(event) == Fate::Goes && event.checkpoint().is_some_and(is_removed)
    }

    /// A change that the poll under way has recorded and the code does not know.
    pub(super) fn unclaimed_change(&self) -> Option<(usize, &EventKind)> {
        let recorded = self.expected.values().map(|(place, kind)| (*place, kind));
        recorded
            .filter(|(_, kind)| matches!(kind, EventKind::Patched { .. }))
            .min_by_key(|(place, _)| *place)
    }

    fn fate(&mut self, kind: CheckpointKind, path: &Path) -> Option<Fate> {
        if self.replay.is_empty() && self.expected.is_empty() {
            return None;
        }
        if self.expected.contains_key(&CommandKey::Drop(kind, path.clone())) {
            return Some(Fate::IsDropped);
        }
        let rest = &self.replay;
        let fates = self.changes.fates.get_or_insert_with(|| {
            let mut fates: BTreeMap<(CheckpointKind, Path), Fate> = BTreeMap::new();
            for event in rest.kinds() {
                if let Some((kind, path)) = event.checkpoint() {
                    let fate = fates.entry((kind, path.clone())).or_insert(Fate::Goes);
                    *fate = fate_after(event).max(*fate);
                }
            }
            fates
        });
        fates.get(&(kind, path.clone())).copied()
    }
}

fn fate_after(event: &EventKind) -> Fate {
    if event.ends_checkpoint() {
        Fate::Ends
    } else if matches!(event, EventKind::Dropped { .. }) {
        Fate::IsDropped
    } else {
        Fate::Goes
    }
}
