//! Remembers which branches of a pool were woken, in which order, and passes one wake on to the parent. Wakes come from
//! any thread and at any time: while the branch is polled, after it ended, after the pool is gone. Absent on purpose:
//! the branches.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

/// What the bells of one pool share.
#[derive(Default)]
pub(super) struct Alarm(Mutex<Rung>);

#[derive(Default)]
struct Rung {
    branches: Vec<usize>,
    parent: Option<Waker>,
}

impl Alarm {
    /// Takes the branches that were woken, and wakes `parent` at the next one.
    pub(super) fn listen(&self, parent: &Waker) -> Vec<usize> {
        let mut rung = self.lock();
        let stale = match &rung.parent {
            Some(current) if current.will_wake(parent) => None,
            Some(_) | None => rung.parent.replace(parent.clone()),
        };
        let branches = mem::take(&mut rung.branches);
        // As with waking: dropping a waker may do anything.
        drop(rung);
        drop(stale);
        branches
    }

    /// Lets go of the parent: whoever still holds a bell must neither wake nor keep it.
    pub(super) fn silence(&self) {
        let parent = self.lock().parent.take();
        drop(parent);
    }

    /// One wake of the parent answers for all that follow until it listens, so a wide pool wakes it once.
    fn ring(&self, index: usize) {
        let mut rung = self.lock();
        rung.branches.push(index);
        let parent = if rung.branches.len() == 1 {
            rung.parent.clone()
        } else {
            None
        };
        // The parent may do anything when it is woken, such as drop the pool.
        drop(rung);
        if let Some(parent) = parent {
            parent.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Rung> {
        // Nothing that could panic leaves the list half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The waker of one branch.
pub(super) struct Bell {
    index: usize,
    /// Rung and not yet answered: ringing again adds nothing.
    rung: AtomicBool,
    alarm: Arc<Alarm>,
}

impl Bell {
    /// The bell of a branch that is due already.
    pub(super) fn rung(index: usize, alarm: Arc<Alarm>) -> Arc<Bell> {
        Arc::new(Bell {
            index,
            rung: AtomicBool::new(true),
            alarm,
        })
    }

    /// To be called before the branch is polled, so that a wake during the poll is not lost. What a thread wrote before
    /// it rang is visible afterwards.
    pub(super) fn answer(&self) {
        self.rung.swap(false, Ordering::AcqRel);
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            self.alarm.ring(self.index);
        }
    }
}
