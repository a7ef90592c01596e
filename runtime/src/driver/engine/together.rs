//! Calls that are queued together and answered together. Absent on purpose: what they ask, and what the answers mean.

use super::{Engine, lock};
use crate::driver::committer::Reply;
use crate::store::{CommitError, Write, Written};
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot;

/// What the store said to each, in the order of the calls.
pub(crate) type Answers = Vec<Result<Written, CommitError>>;

/// The answers so far, by place; whoever brings the last one sends them.
struct Gathering {
    answers: Vec<Option<Result<Written, CommitError>>>,
    missing: usize,
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
            answers: vec![None; calls.len()],
            missing: calls.len(),
            whole: Some(sender),
        }));
        // Made before the queue is locked.
        let mut queued = Vec::with_capacity(calls.len());
        for (place, (write, effect)) in calls.into_iter().enumerate() {
            let (engine, gathering) = (Arc::clone(self), Arc::clone(&gathering));
            let reply = Reply::Call(Box::new(move |answer| {
                if let Ok(written) = &answer {
                    effect(&engine, written);
                }
                lock(&gathering).bring(place, answer);
            }));
            queued.push((write, reply));
        }
        self.committer.submit_all(queued);
        receiver
    }
}

impl Gathering {
    fn bring(&mut self, place: usize, answer: Result<Written, CommitError>) {
        if let Some(empty) = self.answers.get_mut(place) {
            *empty = Some(answer);
            self.missing -= 1;
        }
        if self.missing == 0
            && let Some(whole) = self.whole.take()
        {
            // The caller may have gone away; what was written stays.
            let _ = whole.send(std::mem::take(&mut self.answers).into_iter().flatten().collect());
        }
    }
}
