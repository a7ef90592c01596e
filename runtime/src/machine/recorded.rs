//! What of a journal is still to be replayed, and the place of each event in it, for people. Absent on purpose: what replay
//! makes of it.

use super::event::{Event, EventKind};
use std::collections::{BTreeSet, VecDeque};

pub(super) struct Recorded {
    // The journal as it was read: a long one is not copied.
    events: VecDeque<Event>,
    /// The place of the first of them in the journal.
    next: usize,
    /// Places behind it whose events were taken out of their turn.
    gaps: BTreeSet<usize>,
}

impl Recorded {
    /// A journal without its first events, which are not replayed.
    pub(super) fn after(first: usize, journal: Vec<Event>) -> Self {
        let mut events = VecDeque::from(journal);
        events.drain(..first.min(events.len()));
        Self {
            events,
            next: first,
            gaps: BTreeSet::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(super) fn first(&self) -> Option<(usize, &EventKind)> {
        self.events.front().map(|event| (self.next, &event.kind))
    }

    pub(super) fn last(&self) -> Option<&Event> {
        self.events.back()
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = &EventKind> {
        self.events.iter().map(|event| &event.kind)
    }

    pub(super) fn take_first(&mut self) -> Option<(usize, Event)> {
        let event = self.events.pop_front()?;
        let place = self.next;
        self.go_on();
        Some((place, event))
    }

    /// Takes the first event of this kind, wherever it is.
    pub(super) fn take(&mut self, is_it: impl Fn(&EventKind) -> bool) -> Option<EventKind> {
        let index = self.kinds().position(is_it)?;
        let place = self.places().nth(index)?;
        self.leave_out(place);
        self.events.remove(index).map(|event| event.kind)
    }

    /// Takes out every event for which `stays` is false.
    pub(super) fn retain(&mut self, stays: impl Fn(&EventKind) -> bool) {
        let gone: Vec<usize> = self
            .places()
            .zip(self.kinds())
            .filter(|(_, kind)| !stays(kind))
            .map(|(place, _)| place)
            .collect();
        self.events.retain(|event| stays(&event.kind));
        for place in gone {
            self.leave_out(place);
        }
    }

    /// The places of the events, in order.
    fn places(&self) -> impl Iterator<Item = usize> {
        (self.next..).filter(|place| !self.gaps.contains(place))
    }

    fn leave_out(&mut self, place: usize) {
        if place == self.next {
            self.go_on();
        } else {
            self.gaps.insert(place);
        }
    }

    fn go_on(&mut self) {
        self.next += 1;
        while self.gaps.remove(&self.next) {
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::tests::{journal, succeeded};

    #[test]
    fn events_keep_their_places_whatever_is_taken_from_between_them() {
        let is = |name: &'static str| move |kind: &EventKind| *kind == succeeded(name);
        let mut rest = Recorded::after(1, journal(["a", "b", "c", "d", "e", "f"].map(succeeded).to_vec()));
        assert_eq!(rest.take(is("d")), Some(succeeded("d")));
        assert_eq!(rest.take(is("d")), None);
        rest.retain(|kind| !is("a")(kind) && !is("e")(kind));
        assert_eq!(rest.first(), Some((2, &succeeded("b"))));
        let places: Vec<usize> = std::iter::from_fn(|| rest.take_first().map(|(place, _)| place)).collect();
        assert_eq!(places, [2, 3, 6]);
        assert!(rest.is_empty());
    }
}
