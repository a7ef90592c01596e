//! Checkpoints that are open, found by number in constant time and without allocating once there is room. Absent on purpose:
//! their life cycles.

use super::checkpoint::Open;

/// The number of an open checkpoint, in order of opening, and the slot that it is kept in. Never stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OpenNo {
    // First: it alone decides the order, since no two are the same.
    number: u64,
    slot: usize,
}

impl OpenNo {
    /// A small number that no other checkpoint has which is open at the same time.
    pub(crate) fn slot(self) -> usize {
        self.slot
    }
}

#[derive(Default)]
pub(super) struct Slots {
    slots: Vec<Option<(OpenNo, Open)>>,
    free: Vec<usize>,
    next_number: u64,
}

impl Slots {
    pub(super) fn insert(&mut self, open: Open) -> OpenNo {
        let number = self.next_number;
        self.next_number += 1;
        let slot = self.free.pop().unwrap_or(self.slots.len());
        let no = OpenNo { number, slot };
        match self.slots.get_mut(slot) {
            Some(empty) => *empty = Some((no, open)),
            None => self.slots.push(Some((no, open))),
        }
        no
    }

    pub(super) fn get(&self, no: OpenNo) -> Option<&Open> {
        let (kept, open) = self.slots.get(no.slot)?.as_ref()?;
        (*kept == no).then_some(open)
    }

    pub(super) fn get_mut(&mut self, no: OpenNo) -> Option<&mut Open> {
        let (kept, open) = self.slots.get_mut(no.slot)?.as_mut()?;
        (*kept == no).then_some(open)
    }

    pub(super) fn remove(&mut self, no: OpenNo) -> Option<Open> {
        let (_, open) = self.slots.get_mut(no.slot)?.take_if(|(kept, _)| *kept == no)?;
        self.free.push(no.slot);
        Some(open)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// All of them, the oldest first.
    pub(super) fn in_order(&self) -> Vec<&Open> {
        let mut all: Vec<&(OpenNo, Open)> = self.slots.iter().flatten().collect();
        all.sort_unstable_by_key(|(no, _)| *no);
        all.into_iter().map(|(_, open)| open).collect()
    }
}
