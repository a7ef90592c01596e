//! Who wakes the task of an instance: its workflow, from inside and from outside a poll. Absent on purpose: what the task does
//! then.

use crate::driver::live::Live;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::Wake;

/// The workflow wants to be polled.
const WOKEN: u8 = 1;
/// The task is being polled, and looks whether the workflow was woken before it rests.
const POLLING: u8 = 2;

/// Wakes the instance's task and remembers that it is the workflow that wants to be polled. While the task is being polled,
/// remembering is enough: nearly every wake-up is one of the task by itself, and would cost another poll.
pub(super) struct RootWake {
    state: AtomicU8,
    live: Arc<Live>,
}

impl RootWake {
    pub(super) fn new(live: Arc<Live>) -> Self {
        Self {
            state: AtomicU8::new(0),
            live,
        }
    }

    pub(super) fn begin_poll(&self) {
        self.state.fetch_or(POLLING, Ordering::AcqRel);
    }

    /// Whether the workflow was woken and not polled since; from here on a wake-up wakes the task.
    pub(super) fn end_poll(&self) -> bool {
        self.state.fetch_and(!POLLING, Ordering::AcqRel) & WOKEN != 0
    }

    pub(super) fn is_woken(&self) -> bool {
        self.state.load(Ordering::Acquire) & WOKEN != 0
    }

    /// The workflow is about to be polled: wake-ups from here on are new.
    pub(super) fn take_up(&self) {
        self.state.fetch_and(!WOKEN, Ordering::AcqRel);
    }
}

impl Wake for RootWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // One that was woken before and not polled since has woken the task, or is looked at when its poll ends.
        if self.state.fetch_or(WOKEN, Ordering::AcqRel) == 0 {
            self.live.wake();
        }
    }
}
