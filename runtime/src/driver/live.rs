//! An instance that is in memory, seen from outside its task: the mailbox through which everything reaches it.

use crate::ids::InstanceNumber;
use crate::machine::Activity;
use crate::store::{CommitError, Status, StoredSignal};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use tokio::sync::oneshot;

pub(crate) struct Live {
    pub(crate) number: InstanceNumber,
    inbox: Mutex<Inbox>,
}

#[derive(Default)]
struct Inbox {
    mail: Mail,
    /// How many open waits of each name have no signal on the way to them.
    open_waits: BTreeMap<String, usize>,
    status: Option<Status>,
    /// Whether the task has ended; mail that comes later must wake the instance anew.
    closed: bool,
    waker: Option<Waker>,
}

/// What came since the task looked last.
#[derive(Default)]
pub(crate) struct Mail {
    pub(crate) signals: Vec<StoredSignal>,
    pub(crate) cancel: Option<String>,
    pub(crate) receipt: Option<Result<bool, CommitError>>,
    pub(crate) queries: Vec<oneshot::Sender<(Status, Activity)>>,
    /// The alarm went off and is not set any more, whatever the clock says by now.
    pub(crate) alarm_went_off: bool,
}

impl Mail {
    fn is_empty(&self) -> bool {
        let Self {
            signals,
            cancel,
            receipt,
            queries,
            alarm_went_off,
        } = self;
        signals.is_empty() && cancel.is_none() && receipt.is_none() && queries.is_empty() && !alarm_went_off
    }
}

impl Live {
    pub(crate) fn new(number: InstanceNumber, awaited_signals: &[String]) -> Self {
        let mut inbox = Inbox::default();
        for name in awaited_signals {
            *inbox.open_waits.entry(name.clone()).or_default() += 1;
        }
        Self {
            number,
            inbox: Mutex::new(inbox),
        }
    }

    /// Puts something into the mailbox and wakes the task. `false` if the task has ended: nothing was put.
    pub(crate) fn post(&self, put: impl FnOnce(&mut Mail)) -> bool {
        let mut inbox = self.lock();
        if inbox.closed {
            return false;
        }
        put(&mut inbox.mail);
        let waker = inbox.waker.clone();
        drop(inbox);
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// Hands over a signal; `true` if a wait was open for it. Gives the signal back if the task has ended.
    pub(crate) fn post_signal(&self, signal: StoredSignal) -> Result<bool, StoredSignal> {
        let mut inbox = self.lock();
        if inbox.closed {
            return Err(signal);
        }
        let delivered = match inbox.open_waits.get_mut(&signal.name) {
            Some(open) if *open > 0 => {
                *open -= 1;
                true
            }
            Some(_) | None => false,
        };
        inbox.mail.signals.push(signal);
        let waker = inbox.waker.clone();
        drop(inbox);
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(delivered)
    }

    pub(crate) fn receipt(&self, receipt: Result<bool, CommitError>) {
        self.post(|mail| mail.receipt = Some(receipt));
    }

    pub(crate) fn wake(&self) {
        let waker = self.lock().waker.clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Takes what came; the task is woken by `waker` for what comes next.
    pub(crate) fn collect(&self, waker: &Waker) -> Mail {
        let mut inbox = self.lock();
        match &mut inbox.waker {
            Some(known) => known.clone_from(waker),
            empty @ None => *empty = Some(waker.clone()),
        }
        std::mem::take(&mut inbox.mail)
    }

    /// Tells the open waits of the machine, which has every signal that was collected.
    pub(crate) fn publish_waits(&self, awaited_signals: &[String]) {
        let mut inbox = self.lock();
        let mut open_waits: BTreeMap<String, usize> = BTreeMap::new();
        for name in awaited_signals {
            *open_waits.entry(name.clone()).or_default() += 1;
        }
        for signal in &inbox.mail.signals {
            if let Some(open) = open_waits.get_mut(&signal.name) {
                *open = open.saturating_sub(1);
            }
        }
        inbox.open_waits = open_waits;
    }

    pub(crate) fn publish_status(&self, status: Status) {
        self.lock().status = Some(status);
    }

    pub(crate) fn status(&self) -> Option<Status> {
        self.lock().status
    }

    /// Ends the mailbox unless something is in it. `false`: the task must go on.
    pub(crate) fn close_if_empty(&self) -> bool {
        let mut inbox = self.lock();
        inbox.closed = inbox.mail.is_empty();
        inbox.closed
    }

    /// Ends the mailbox and gives what is in it.
    pub(crate) fn close(&self) -> Mail {
        let mut inbox = self.lock();
        inbox.closed = true;
        std::mem::take(&mut inbox.mail)
    }

    fn lock(&self) -> MutexGuard<'_, Inbox> {
        // Nothing panics while the lock is held but `put`, which only moves values.
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
