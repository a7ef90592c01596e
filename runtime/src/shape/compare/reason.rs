//! Why a change breaks instances in flight, in one sentence that names what was and what is.

use super::{Around, fits};
use crate::shape::tree::{Kind, Node};

/// `left` is recorded, `ahead` is the new code, its next node last; their first nodes differ.
pub(super) fn differs(left: &[Node], ahead: &[&Node], around: &Around) -> String {
    let place = around.place();
    match (left.first(), ahead.last()) {
        (Some(was), Some(is)) => both(was, is, (left, ahead), &place),
        (Some(was), None) => format!(
            "{} is gone{place}, and instances in flight may have recorded it",
            was.kind
        ),
        (None, Some(is)) => {
            let next = &around.next;
            format!(
                "{} is new{place}, before {next}, which instances in flight may have recorded",
                is.kind
            )
        }
        (None, None) => "nothing is different".to_owned(),
    }
}

fn both(was: &Node, is: &Node, (left, ahead): (&[Node], &[&Node]), place: &str) -> String {
    let (before, now) = (&was.kind, &is.kind);
    if matches!(before, Kind::Exit(_)) {
        return format!("{now} is new{place}, before something that instances in flight may have recorded");
    }
    if matches!(before, Kind::Patched(_)) {
        return format!(
            "{before} is gone{place}, and instances in flight may have recorded that they run its new side"
        );
    }
    let comes_later = ahead.iter().rev().skip(1).any(|node| fits(before, &node.kind));
    let came_later = left.iter().skip(1).any(|node| fits(now, &node.kind));
    match (comes_later, came_later) {
        (true, true) => format!("{now} stands before {before} now{place}, where it stood after it"),
        (true, false) => format!("{now} is new{place}, before {before}, which instances in flight may have recorded"),
        (false, true) => format!("{before} is gone{place}, before {now}, and instances in flight may have recorded it"),
        (false, false) => elsewhere(was, is, (left, ahead), place),
    }
}

/// The one is nowhere beside the other: it got another name, or is inside of something, or no longer.
fn elsewhere(was: &Node, is: &Node, (left, ahead): (&[Node], &[&Node]), place: &str) -> String {
    let (before, now) = (&was.kind, &is.kind);
    if let Some(around) = ahead.iter().rev().find(|node| holds(node, before)) {
        return format!(
            "{before} stands in {} now{place}, where it stood outside of it",
            around.kind
        );
    }
    if let Some(around) = left.iter().find(|node| holds(node, now)) {
        return format!(
            "{now} stands outside of {} now{place}, where it stood in it",
            around.kind
        );
    }
    format!("{now} stands{place} where {before} stood, which instances in flight may have recorded")
}

/// Whether something below `node` fits.
fn holds(node: &Node, wanted: &Kind) -> bool {
    let is_point = matches!(wanted, Kind::Point(_) | Kind::Call(_));
    is_point
        && node
            .inside
            .iter()
            .any(|inner| fits(wanted, &inner.kind) || holds(inner, wanted))
}
