//! Calls that are queued together and answered together. Absent on purpose: what they ask, and what the answers mean.

use super::{Engine, lock};
use crate::driver::committer::Reply;
use crate::store::{CommitError, Write, Written};
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot;

/// What the store said to each, in the order of the calls.
pub(crate) type Answers = Vec<Result<Written, CommitError>>;

/// The answers so far; whoever brings the last one sends them.
struct Gathering {
    answers: Answers,
    expected: usize,
    whole: Option<oneshot::Sender<Answers>>,
}

impl Engine {
    /// Queues the writes of API calls one behind the other; the answers come when the last of them is durable. Each effect on
    /// instances in memory happens with its own answer, even if nobody waits any more.
    pub(crate) fn call_all<F>(self: &Arc<Self>, calls: Vec<(Write, F)>) -> oneshot::Receiver<Answers>
    where
        F: FnOnce(&Arc<Self>, &Written) + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let gathering = Arc::new(Mutex::new(Gathering {
            answers: Vec::with_capacity(calls.len()),
            expected: calls.len(),
            whole: Some(sender),
        }));
        // Made before the queue is locked.
        let mut queued = Vec::with_capacity(calls.len());
        for (write, effect) in calls {
            let (engine, gathering) = (Arc::clone(self), Arc::clone(&gathering));
            let reply = Reply::Call(Box::new(move |answer| {
                if let Ok(written) = &answer {
                    effect(&engine, written);
                }
                lock(&gathering).bring(answer);
            }));
            queued.push((write, reply));
        }
        self.committer.submit_all(queued);
        receiver
    }
}

impl Gathering {
    fn bring(&mut self, answer: Result<Written, CommitError>) {
        self.answers.push(answer);
        if self.answers.len() == self.expected
            && let Some(whole) = self.whole.take()
        {
            // The caller may have gone away; what was written stays.
            let _ = whole.send(std::mem::take(&mut self.answers));
        }
    }
}
