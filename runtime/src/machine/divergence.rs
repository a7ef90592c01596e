//! Why an instance stops, in words for the person who must mend it: recorded, attempted, where.

use super::checkpoint::{Open, OpenState};
use super::event::EventKind;
use super::path::{DuplicateKey, Location};
use std::fmt;

/// How many of the code's open checkpoints a message lists.
const LISTED_MAX: usize = 5;

/// An instance cannot go on with this code. Nothing was lost and no body ran because of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// Code and journal disagree.
    Divergence,
    /// A stored value cannot be read.
    BadData,
    /// The workflow code itself is wrong whatever the journal says.
    Defect,
}

impl Fault {
    pub(crate) fn bad_data(message: impl Into<String>) -> Self {
        Self {
            kind: FaultKind::BadData,
            message: message.into(),
        }
    }

    pub(crate) fn defect(message: impl Into<String>) -> Self {
        Self {
            kind: FaultKind::Defect,
            message: message.into(),
        }
    }

    pub(crate) fn duplicate_key(duplicate: &DuplicateKey, second: Location) -> Self {
        let DuplicateKey { path, first } = duplicate;
        Self::defect(format!(
            "step `{path}` exists twice in one scope: first at {first}, again at {second}; give each one its own key"
        ))
    }

    fn divergence(recorded: &str, attempted: &str, remedy: &str) -> Self {
        let message = format!(
            "the code no longer matches the journal\n  recorded:  {recorded}\n  attempted: {attempted}\nno body ran; {remedy}"
        );
        Self {
            kind: FaultKind::Divergence,
            message,
        }
    }

    /// The journal goes on with `kind`, and the code is at none of its checkpoints.
    pub(super) fn unclaimed(place: usize, kind: &EventKind, open: &[&Open]) -> Self {
        Self::divergence(&recorded(place, kind), &attempted(open), &remedy(kind))
    }

    /// The code did something by itself that the journal does not know at this place.
    pub(super) fn unrecorded_command(
        command: &EventKind,
        location: Location,
        next: Option<(usize, &EventKind)>,
    ) -> Self {
        let recorded = next.map_or("nothing more".to_owned(), |(place, kind)| recorded(place, kind));
        Self::divergence(&recorded, &format!("{command}, at {location}"), &remedy(command))
    }

    /// The code did something by itself where the journal has a change that it does not know.
    pub(super) fn unknown_change(place: usize, change: &EventKind, command: &EventKind, location: Location) -> Self {
        Self::divergence(
            &recorded(place, change),
            &format!("{command}, at {location}"),
            &remedy(change),
        )
    }

    pub(super) fn returned_early(place: usize, kind: &EventKind) -> Self {
        Self::divergence(&recorded(place, kind), "the workflow returned", &remedy(kind))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

fn recorded(place: usize, kind: &EventKind) -> String {
    format!("event {place}: {kind}")
}

/// What whoever changed the code can do. `kind` is what the code and the journal disagree about.
fn remedy(kind: &EventKind) -> String {
    if let EventKind::Patched { id } = kind {
        format!(
            "this instance runs the code after the change `{id}`: keep `patched!({id:?})`; or, where the code before the change is gone, write `retired!({id:?})` in the place of the first; or give this code a new version"
        )
    } else {
        "put the old code back, or keep it for instances in flight: with `patched!`, `removed!`, or a new version"
            .to_owned()
    }
}

fn attempted(open: &[&Open]) -> String {
    let reached = open.iter().rev().filter(|open| match &open.state {
        OpenState::Step { .. } | OpenState::Sleep { .. } | OpenState::Wait { .. } | OpenState::Removed => true,
        OpenState::Answered(_) => false,
    });
    let mut listed: Vec<String> = reached
        .take(LISTED_MAX + 1)
        .map(|open| format!("{} `{}`, at {}", open.kind, open.path, open.location))
        .collect();
    if listed.len() > LISTED_MAX {
        listed[LISTED_MAX] = "and more".to_owned();
    }
    if listed.is_empty() {
        "no checkpoint".to_owned()
    } else {
        listed.join("\n             ")
    }
}
