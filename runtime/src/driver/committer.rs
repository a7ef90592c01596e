//! The committer: one thread owns all writes. It takes whatever is queued from all instances and calls, writes it as one
//! group, and releases all of them by the answer. It batches by what is waiting, never by a clock.
//!
//! Trouble: while the store is unavailable (nothing was written) the same group is tried again, ever more slowly; nothing
//! behind it is released meanwhile. After any other error nothing is acknowledged any more until the store is opened again.
//!
//! Calls are answered here, in order: what they do to instances in memory must come in the order in which it was written. The
//! receipts of turns need no order, since an instance waits for one at a time: those of a large group are handed out by a
//! task inside the runtime, because a wake-up from a foreign thread costs several times one from a worker. Those of a small
//! group are handed out here, which is sooner.

use super::live::Live;
use crate::ids::Epoch;
use crate::store::{CommitError, Store, Write, Written};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Handle;

/// How many writes one group takes.
pub(crate) const GROUP_WRITES_MAX: usize = 1_024;
/// How many payload bytes one group takes, unless its first write alone is larger.
pub(crate) const GROUP_BYTES_MAX: usize = 1024 * 1024;
/// If a group has more receipts than that, they are handed out inside the runtime.
const RECEIPTS_HERE_MAX: usize = 8;
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
            Reply::Turn(live) => receipt(&live, answer),
            Reply::Call(call) => call(answer),
            Reply::Nobody => {}
        }
    }
}

fn receipt(live: &Live, answer: Result<Written, CommitError>) {
    if let Ok(Written::Refused { reason }) = &answer {
        tracing::error!(instance = live.number.0, reason, "the store refused a turn");
    }
    live.receipt(answer.map(|written| written == Written::Turn(true)));
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
    waiting: Waiting,
    /// Whether the committer waits to be told that there is work.
    idle: bool,
    /// Goes with the first write that comes.
    beside_the_first: Option<Write>,
    closing: bool,
    failed: Option<CommitError>,
    /// Of the group whose commit failed, and of those behind it.
    stranded: Vec<Reply>,
}

/// What is queued: writes in order, and beside each who is told.
#[derive(Default)]
struct Waiting {
    writes: VecDeque<Write>,
    replies: VecDeque<Reply>,
}

impl Waiting {
    fn push(&mut self, write: Write, reply: Reply) {
        self.writes.push_back(write);
        self.replies.push_back(reply);
    }
}

/// What was taken from the queue: one group and, if that is full of bytes, what did not fit into it.
#[derive(Default)]
struct Batch {
    writes: Vec<Write>,
    replies: Vec<Reply>,
}

impl Batch {
    /// Takes from the front of the queue what one group has room for. What is behind it is not moved.
    fn fill(&mut self, waiting: &mut Waiting) {
        let room = GROUP_WRITES_MAX.saturating_sub(self.writes.len());
        let count = waiting.writes.len().min(room);
        self.writes.extend(waiting.writes.drain(..count));
        self.replies.extend(waiting.replies.drain(..count));
        if waiting.writes.is_empty() {
            // A burst does not keep its memory.
            waiting.writes.shrink_to(4 * GROUP_WRITES_MAX);
            waiting.replies.shrink_to(4 * GROUP_WRITES_MAX);
        }
    }

    /// How many from the front make one group.
    fn group(&self) -> usize {
        let mut bytes = 0;
        let fits = self.writes.iter().take_while(|write| {
            bytes += size(write);
            bytes <= GROUP_BYTES_MAX
        });
        fits.count().max(1).min(self.writes.len())
    }
}

impl Committer {
    /// `on_failure` is told once when the store has failed for good.
    pub(crate) fn start(
        store: Arc<dyn Store>,
        epoch: Epoch,
        tokio: Handle,
        on_failure: impl FnOnce(&CommitError) + Send + 'static,
    ) -> std::io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let shared = Arc::clone(&queue);
        let thread = std::thread::Builder::new()
            .name("steadfast-committer".to_owned())
            .spawn(move || {
                let served = catch_unwind(AssertUnwindSafe(|| shared.serve(store.as_ref(), epoch, &tokio)));
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
                    state.waiting.push(first, Reply::Nobody);
                }
                for (write, reply) in writes {
                    state.waiting.push(write, reply);
                }
                // A wake-up is a call of the system: only whoever finds it waiting makes one.
                let is_idle = std::mem::take(&mut state.idle);
                drop(state);
                if is_idle {
                    self.queue.changed.notify_one();
                }
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
    fn serve(&self, store: &dyn Store, epoch: Epoch, tokio: &Handle) -> Result<(), CommitError> {
        let mut taken = Batch::default();
        while self.take(&mut taken) {
            let group = taken.group();
            let (writes, _) = taken.writes.split_at(group);
            match self.commit(store, epoch, writes) {
                Ok(answers) => {
                    taken.writes.drain(..group);
                    let answered = taken.replies.drain(..group).zip(answers);
                    hand_out(answered, tokio);
                }
                Err(error) => {
                    // What failed is answered together with what waits behind it.
                    self.lock().stranded.append(&mut taken.replies);
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
        stranded.extend(std::mem::take(&mut state.waiting).replies);
        stranded
    }

    /// Adds whatever is queued to what was taken before and did not fit into a group, and waits if there is nothing.
    /// `false` when everything is written and the runtime closes.
    fn take(&self, taken: &mut Batch) -> bool {
        if taken.writes.len() >= GROUP_WRITES_MAX {
            return true;
        }
        let mut state = self.lock();
        loop {
            taken.fill(&mut state.waiting);
            if !taken.writes.is_empty() {
                return true;
            }
            if state.closing {
                return false;
            }
            state.idle = true;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
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

/// Answers a group that is durable.
fn hand_out(answered: impl ExactSizeIterator<Item = (Reply, Written)>, tokio: &Handle) {
    let are_few = answered.len() <= RECEIPTS_HERE_MAX;
    let mut receipts = Receipts::default();
    for (reply, answer) in answered {
        match reply {
            Reply::Turn(live) if !are_few => receipts.0.push((live, answer)),
            Reply::Turn(_) | Reply::Call(_) | Reply::Nobody => reply.give(Ok(answer)),
        }
    }
    if !receipts.0.is_empty() {
        tokio.spawn(async move { drop(receipts) });
    }
}

/// Receipts to be handed out. They are when this is dropped: also if the runtime ends before it gets to it.
#[derive(Default)]
struct Receipts(Vec<(Arc<Live>, Written)>);

impl Drop for Receipts {
    fn drop(&mut self) {
        for (live, answer) in self.0.drain(..) {
            receipt(&live, Ok(answer));
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
