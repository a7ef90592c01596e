//! The committer: one thread owns all writes. It takes whatever is queued from all instances and calls, writes it as one
//! group, and releases all of them by the answer. It batches by what is waiting, never by a clock.
//!
//! Trouble: while the store is unavailable (nothing was written) the same group is tried again, ever more slowly; nothing
//! behind it is released meanwhile. After any other error nothing is acknowledged any more until the store is opened again.

use super::live::Live;
use crate::ids::Epoch;
use crate::store::{CommitError, Store, Write, Written};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How many writes one group takes.
pub(crate) const GROUP_WRITES_MAX: usize = 1_024;
/// How many payload bytes one group takes, unless its first write alone is larger.
pub(crate) const GROUP_BYTES_MAX: usize = 1024 * 1024;
const RETRY_FIRST: Duration = Duration::from_millis(10);
const RETRY_MAX: Duration = Duration::from_secs(1);

/// Who is told when a write is durable, or is not going to be.
pub(crate) enum Reply {
    Turn(Arc<Live>),
    Call(Box<dyn FnOnce(Result<Written, CommitError>) + Send>),
    Nobody,
}

impl Reply {
    fn give(self, answer: Result<Written, CommitError>) {
        match self {
            Reply::Turn(live) => {
                if let Ok(Written::Refused { reason }) = &answer {
                    tracing::error!(instance = live.number.0, reason, "the store refused a turn");
                }
                live.receipt(answer.map(|written| written == Written::Turn(true)));
            }
            Reply::Call(call) => call(answer),
            Reply::Nobody => {}
        }
    }
}

pub(crate) struct Committer {
    queue: Arc<Queue>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(Write, Reply)>,
    /// Goes with the first write that comes.
    beside_the_first: Option<Write>,
    closing: bool,
    failed: Option<CommitError>,
    /// Of the group whose commit failed.
    stranded: Vec<Reply>,
}

impl Committer {
    /// `on_failure` is told once when the store has failed for good.
    pub(crate) fn start(
        store: Arc<dyn Store>,
        epoch: Epoch,
        on_failure: impl FnOnce(&CommitError) + Send + 'static,
    ) -> std::io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let shared = Arc::clone(&queue);
        let thread = std::thread::Builder::new()
            .name("steadfast-committer".to_owned())
            .spawn(move || {
                let served = catch_unwind(AssertUnwindSafe(|| shared.serve(store.as_ref(), epoch)));
                let panicked = || CommitError::Failed {
                    reason: "the committer panicked".to_owned(),
                };
                if let Err(error) = served.unwrap_or_else(|_| Err(panicked())) {
                    tracing::error!(%error, "the store failed; nothing is acknowledged until it is opened again");
                    let stranded = shared.fail(&error);
                    on_failure(&error);
                    for reply in stranded {
                        reply.give(Err(error.clone()));
                    }
                }
                if let Err(error) = store.close() {
                    tracing::error!(%error, "the store did not close cleanly");
                }
            })?;
        Ok(Self {
            queue,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// A committer that refuses everything, in place of one that could not be started.
    pub(crate) fn idle() -> Self {
        let queue = Queue::default();
        queue.lock().closing = true;
        Self {
            queue: Arc::new(queue),
            thread: Mutex::default(),
        }
    }

    /// Keeps a write until the first other one comes, and writes both at once: it costs no commit of its own, and without
    /// any other write it is not needed.
    pub(crate) fn submit_beside_the_first(&self, write: Write) {
        self.queue.lock().beside_the_first = Some(write);
    }

    /// Queues a write. The reply always comes, unless the process ends before.
    pub(crate) fn submit(&self, write: Write, reply: Reply) {
        self.submit_all([(write, reply)]);
    }

    /// Queues writes one behind the other, with nothing between them.
    pub(crate) fn submit_all(&self, writes: impl IntoIterator<Item = (Write, Reply)>) {
        let mut state = self.queue.lock();
        let refused = match &state.failed {
            Some(error) => Some(error.clone()),
            None if state.closing => Some(CommitError::Unavailable {
                reason: "the runtime was shut down".to_owned(),
            }),
            None => None,
        };
        match refused {
            Some(error) => {
                drop(state);
                for (_, reply) in writes {
                    reply.give(Err(error.clone()));
                }
            }
            None => {
                if let Some(first) = state.beside_the_first.take() {
                    state.waiting.push_back((first, Reply::Nobody));
                }
                state.waiting.extend(writes);
                drop(state);
                self.queue.changed.notify_one();
            }
        }
    }

    /// Writes what is queued, closes the store, and returns when that is done. A second call returns at once.
    pub(crate) fn close(&self) {
        self.queue.lock().closing = true;
        self.queue.changed.notify_all();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.thread().id() != std::thread::current().id()
            && thread.join().is_err()
        {
            tracing::error!("the committer ended with a panic");
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in this file panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Commits group after group until the runtime closes or the store fails.
    fn serve(&self, store: &dyn Store, epoch: Epoch) -> Result<(), CommitError> {
        while let Some((writes, replies)) = self.take_group() {
            match self.commit(store, epoch, &writes) {
                Ok(answers) => {
                    for (reply, answer) in replies.into_iter().zip(answers) {
                        reply.give(Ok(answer));
                    }
                }
                Err(error) => {
                    // What failed is answered together with what waits behind it.
                    let mut state = self.lock();
                    state.stranded = replies;
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Refuses everything from now on, and gives what was not written.
    fn fail(&self, error: &CommitError) -> Vec<Reply> {
        let mut state = self.lock();
        state.failed = Some(error.clone());
        let mut stranded = std::mem::take(&mut state.stranded);
        stranded.extend(std::mem::take(&mut state.waiting).into_iter().map(|(_, reply)| reply));
        stranded
    }

    /// Waits for work. `None` when everything is written and the runtime closes.
    fn take_group(&self) -> Option<(Vec<Write>, Vec<Reply>)> {
        let mut state = self.lock();
        while state.waiting.is_empty() {
            if state.closing {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let (mut writes, mut replies, mut bytes) = (Vec::new(), Vec::new(), 0);
        while let Some((write, _)) = state.waiting.front() {
            bytes += size(write);
            if !writes.is_empty() && (writes.len() == GROUP_WRITES_MAX || bytes > GROUP_BYTES_MAX) {
                break;
            }
            if let Some((write, reply)) = state.waiting.pop_front() {
                writes.push(write);
                replies.push(reply);
            }
        }
        Some((writes, replies))
    }

    fn commit(&self, store: &dyn Store, epoch: Epoch, writes: &[Write]) -> Result<Vec<Written>, CommitError> {
        let mut delay = RETRY_FIRST;
        loop {
            let answer = catch_unwind(AssertUnwindSafe(|| store.commit(epoch, writes)));
            match answer {
                Ok(Ok(answers)) if answers.len() == writes.len() => return Ok(answers),
                Ok(Ok(answers)) => {
                    let reason = format!("{} answers to {} writes", answers.len(), writes.len());
                    return Err(CommitError::Failed { reason });
                }
                Ok(Err(CommitError::Unavailable { reason })) => {
                    tracing::warn!(reason, "the store cannot write now; nothing is released meanwhile");
                    let state = self.lock();
                    if state.closing {
                        return Err(CommitError::Unavailable { reason });
                    }
                    let (_state, _) = self
                        .changed
                        .wait_timeout(state, delay)
                        .unwrap_or_else(PoisonError::into_inner);
                    delay = (delay * 2).min(RETRY_MAX);
                }
                Ok(Err(error @ (CommitError::Fenced { .. } | CommitError::Failed { .. }))) => return Err(error),
                Err(_) => {
                    return Err(CommitError::Failed {
                        reason: "the store panicked".to_owned(),
                    });
                }
            }
        }
    }
}

/// What a write adds to a group.
pub(crate) fn size(write: &Write) -> usize {
    match write {
        Write::Start { batch, .. } => batch.len(),
        Write::Turn { batch, .. } => batch.as_ref().map_or(0, Vec::len),
        Write::Signal { payload, .. } => payload.len(),
        Write::Cancel { reason, .. } => reason.len(),
        Write::Note { value, .. } => value.len(),
    }
}
