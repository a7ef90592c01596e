//! Starting many instances of one workflow with few commits. What one start is, and how it is answered, is in `calls`.

use super::calls::{Asked, Fresh, prepare};
use super::error::{RuntimeError, StartError};
use super::handle::Handle;
use super::runtime::{stopped, taken};
use super::workflow::Workflow;
use crate::driver::committer::{GROUP_BYTES_MAX, GROUP_WRITES_MAX, size};
use crate::driver::engine::{Answers, Engine};
use crate::store::{Write, Written};
use std::collections::VecDeque;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::oneshot;

/// How many groups of one batch are with the committer: one that it writes, and one that it finds when it comes back. What
/// others have to write waits behind these, and not behind the whole batch.
const GROUPS_UNDER_WAY: usize = 2;
/// How many starts are encoded before other tasks of the same thread get a chance.
const PREPARED_AT_ONCE: usize = 128;

/// Many starts; from [`Runtime::start_batch`](crate::Runtime::start_batch).
///
/// Each is answered as [`Runtime::start`](crate::Runtime::start) would answer it alone, in the order of the inputs: a handle,
/// or an error that concerns this one only. An id that exists with the same input, earlier in the batch included, gives the
/// existing instance. Every `Ok` is durable.
///
/// Each start is all or nothing; the batch is not. If the process dies before the batch is answered, some instances are there
/// and the others are not: with ids of your own, start the same batch again, and those that are there are found. The same is
/// true if the future is dropped before it is ready. Instances run as soon as they are durable, and other calls get their
/// turn, while the rest of the batch is written.
///
/// ```
/// use steadfast::prelude::*;
/// use steadfast::store::MemoryStore;
///
/// #[workflow]
/// async fn square(number: u64) -> Result<u64, BoxError> {
///     Ok(step!("multiply", async { Ok::<_, BoxError>(number * number) }).await?)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::builder().workflow(square).store(MemoryStore::new()).start().await?;
/// let answers = runtime.start_batch(square, 1..=3).ids(|number| format!("square-{number}")).await;
///
/// // All of them, or the first error; without `collect`, an error leaves the others.
/// let handles = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(handles[2].id(), "square-3");
/// assert_eq!(handles[2].result().await?, 9);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is started until this is awaited"]
pub struct StartBatch<W: Workflow> {
    engine: Arc<Engine>,
    items: Vec<Item<W>>,
    workflow: PhantomData<W>,
}

/// The id, if one was given, and the input.
type Item<W> = (Option<String>, <W as Workflow>::Input);

impl<W: Workflow> StartBatch<W> {
    pub(super) fn new(engine: Arc<Engine>, _: W, inputs: impl IntoIterator<Item = W::Input>) -> Self {
        Self {
            engine,
            items: inputs.into_iter().map(|input| (None, input)).collect(),
            workflow: PhantomData,
        }
    }

    /// Names the instances: `id` is called with each input, in order. See [`Start::id`](crate::Start::id) for what an id is.
    /// Without this, random ids are made.
    pub fn ids<I: Into<String>>(mut self, mut id: impl FnMut(&W::Input) -> I) -> Self {
        for (name, input) in &mut self.items {
            *name = Some(id(input).into());
        }
        self
    }

    async fn run(self) -> Vec<Result<Handle<W>, StartError>> {
        let Self { engine, items, .. } = self;
        let mut answers = Vec::with_capacity(items.len());
        let mut items = items.into_iter();
        let mut under_way: VecDeque<Submitted<W>> = VecDeque::with_capacity(GROUPS_UNDER_WAY);
        while items.len() > 0 {
            // Made while the earlier ones are written.
            let group = Group::prepare(&engine, &mut items).await;
            if under_way.len() == GROUPS_UNDER_WAY
                && let Some(earliest) = under_way.pop_front()
            {
                earliest.answer(&engine, &mut answers).await;
            }
            under_way.push_back(group.submit(&engine));
        }
        for group in under_way {
            group.answer(&engine, &mut answers).await;
        }
        answers
    }
}

/// As many starts as a group of the committer takes.
struct Group<W> {
    asked: Vec<Result<Asked<W>, StartError>>,
    requests: Vec<(Write, Fresh)>,
}

/// A group that is with the committer.
struct Submitted<W> {
    asked: Vec<Result<Asked<W>, StartError>>,
    /// To those that could be asked. `None` if there are none, or the runtime has stopped.
    answers: Option<oneshot::Receiver<Answers>>,
}

impl<W: Workflow> Group<W> {
    async fn prepare(engine: &Engine, items: &mut std::vec::IntoIter<Item<W>>) -> Self {
        let (mut asked, mut requests, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (id, input) in items.take(GROUP_WRITES_MAX) {
            let prepared = prepare::<W>(engine, id, input).map(|(request, one, fresh)| {
                bytes += size(&request);
                requests.push((request, fresh));
                one
            });
            asked.push(prepared);
            if asked.len() % PREPARED_AT_ONCE == 0 {
                tokio::task::yield_now().await;
            }
            if bytes >= GROUP_BYTES_MAX {
                break;
            }
        }
        Self { asked, requests }
    }

    fn submit(self, engine: &Arc<Engine>) -> Submitted<W> {
        let Self { asked, requests } = self;
        let answers = (!requests.is_empty() && !engine.is_stopped()).then(|| {
            let calls = requests.into_iter().map(|(request, fresh)| {
                let begin = move |engine: &Arc<Engine>, written: &Written| fresh.begin(engine, written);
                (request, begin)
            });
            engine.call_all(calls.collect())
        });
        Submitted { asked, answers }
    }
}

impl<W: Workflow> Submitted<W> {
    async fn answer(self, engine: &Arc<Engine>, to: &mut Vec<Result<Handle<W>, StartError>>) {
        let written = match self.answers {
            Some(answers) => answers.await.unwrap_or_default(),
            None => Vec::new(),
        };
        let mut written = written.into_iter();
        for asked in self.asked {
            to.push(asked.and_then(|asked| {
                let written = match written.next() {
                    Some(answer) => answer.map_err(RuntimeError::from).and_then(taken),
                    None => Err(stopped(engine)),
                };
                asked.answer(engine, written)
            }));
        }
    }
}

impl<W: Workflow> IntoFuture for StartBatch<W> {
    type Output = Vec<Result<Handle<W>, StartError>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}
