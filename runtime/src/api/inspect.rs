//! Looking at instances: status, history, lists. Nothing here changes anything.

use super::error::RuntimeError;
use super::runtime::{find, stopped};
use crate::driver::engine::Engine;
use crate::ids::InstanceNumber;
use crate::machine::{self, Activity, WaitingFor, decode_batch};
use crate::store::{InstanceRecord, Status, Store};
use crate::time::Timestamp;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

/// What an instance is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstanceStatus {
    /// Its id.
    pub id: String,
    /// The name of its workflow.
    pub workflow: String,
    /// The version of its workflow.
    pub version: u32,
    /// What it is doing.
    pub status: Status,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When its record last changed on disk: started, began or ceased to wait, stopped, ended.
    pub updated_at: Timestamp,
    /// Steps whose body runs or is about to.
    pub running: Vec<RunningStep>,
    /// What it waits for.
    pub waiting_for: Vec<WaitingFor>,
    /// Signals that were accepted and that no wait has consumed, in order; also those that came too late.
    pub buffered_signals: Vec<BufferedSignal>,
    /// The reason of a cancellation that was requested.
    pub cancel_requested: Option<String>,
    /// Why it is quarantined or waits for code, and what to do.
    pub trouble: Option<String>,
}

/// A step whose body runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunningStep {
    /// Its checkpoint path.
    pub step: String,
    /// The number of the attempt.
    pub attempt: u32,
}

/// A signal that no wait has consumed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BufferedSignal {
    /// Its name.
    pub name: String,
    /// When it was accepted.
    pub at: Timestamp,
}

/// One event of a journal. Prints as one line: number, time, what happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// Its place in the journal, from 0.
    pub number: usize,
    /// When it was recorded.
    pub at: Timestamp,
    /// What happened, for people: no values, and no promise about the words.
    pub what: String,
}

impl fmt::Display for HistoryEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>5}  {}  {}", self.number, self.at, self.what)
    }
}

pub(super) async fn status(engine: &Arc<Engine>, id: &str) -> Result<InstanceStatus, RuntimeError> {
    let record = find(engine, id)?;
    let trouble_reading = engine.trouble_reading(record.number);
    let (status, activity) = match engine.activity(record.number).await {
        Some((status, activity)) if !record.status.is_terminal() => (status, activity),
        Some(_) | None if trouble_reading.is_some() => (Status::Quarantined, Activity::default()),
        // It may have moved on while it was looked for in memory.
        Some(_) | None => {
            let record = find(engine, id)?;
            let activity = parked_activity(engine, &record)?;
            return Ok(describe(record, None, activity, trouble_reading));
        }
    };
    Ok(describe(record, Some(status), activity, trouble_reading))
}

/// What an instance that is not in memory waits for and has buffered, from what is stored.
fn parked_activity(engine: &Engine, record: &InstanceRecord) -> Result<Activity, RuntimeError> {
    let Some(stored) = engine.store().load(record.number)? else {
        return Ok(Activity::default());
    };
    let waiting = if record.status == Status::Waiting {
        let journal = events(&record.id, &stored.batches)?;
        machine::waiting_for(&journal, &record.awaited_signals, record.wake_at)
    } else {
        Vec::new()
    };
    Ok(Activity {
        running: Vec::new(),
        waiting,
        buffered: stored
            .signals
            .into_iter()
            .map(|signal| (signal.name, signal.at))
            .collect(),
    })
}

fn describe(
    record: InstanceRecord,
    live: Option<Status>,
    activity: Activity,
    trouble_reading: Option<String>,
) -> InstanceStatus {
    let InstanceRecord {
        id,
        workflow,
        version,
        created_at,
        updated_at,
        cancel_requested,
        trouble,
        ..
    } = record;
    let running = activity
        .running
        .into_iter()
        .map(|(step, attempt)| RunningStep { step, attempt })
        .collect();
    let status = match (&trouble_reading, live) {
        (Some(_), _) => Status::Quarantined,
        (None, Some(live)) => live,
        (None, None) => record.status,
    };
    let trouble = trouble_reading.or(trouble.filter(|_| live.is_none()));
    InstanceStatus {
        id,
        workflow,
        version,
        status,
        created_at,
        updated_at,
        running,
        waiting_for: activity.waiting,
        buffered_signals: activity
            .buffered
            .into_iter()
            .map(|(name, at)| BufferedSignal { name, at })
            .collect(),
        cancel_requested,
        trouble,
    }
}

pub(super) fn history(engine: &Engine, id: &str) -> Result<Vec<HistoryEntry>, RuntimeError> {
    let record = find(engine, id)?;
    stored_history(engine.store(), &record)
}

pub(crate) fn stored_history(store: &dyn Store, record: &InstanceRecord) -> Result<Vec<HistoryEntry>, RuntimeError> {
    let stored = store.load(record.number)?;
    let batches = stored.map(|stored| stored.batches).unwrap_or_default();
    let entries = events(&record.id, &batches)?.into_iter().enumerate();
    Ok(entries
        .map(|(number, event)| HistoryEntry {
            number,
            at: event.at,
            what: event.kind.to_string(),
        })
        .collect())
}

fn events(id: &str, batches: &[Vec<u8>]) -> Result<Vec<machine::Event>, RuntimeError> {
    let mut events = Vec::new();
    for batch in batches {
        let batch = decode_batch(batch).map_err(|reason| RuntimeError::Damaged {
            id: id.to_owned(),
            reason,
        })?;
        events.extend(batch);
    }
    Ok(events)
}

/// A list; from [`Runtime::list`](crate::Runtime::list).
///
/// Pages follow the order of creation, which never changes: an instance that exists throughout is listed once, whatever is
/// started or ends meanwhile.
#[must_use = "nothing is listed until this is awaited"]
pub struct List {
    engine: Arc<Engine>,
    workflow: Option<String>,
    status: Option<Status>,
    limit: usize,
    after: Option<Cursor>,
}

/// A place in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Cursor(InstanceNumber);

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// The instances, in order of creation. What they wait for is left out; ask for the status of one.
    pub instances: Vec<InstanceStatus>,
    /// Where the next page begins; `None` when this is the last.
    pub next: Option<Cursor>,
}

/// How many records are read at once, and the default length of a page.
const PAGE: usize = 100;

impl List {
    pub(super) fn new(engine: Arc<Engine>) -> Self {
        Self {
            engine,
            workflow: None,
            status: None,
            limit: PAGE,
            after: None,
        }
    }

    /// Only instances of the workflow with this name.
    pub fn workflow(mut self, name: impl Into<String>) -> Self {
        self.workflow = Some(name.into());
        self
    }

    /// Only instances that are doing this now.
    pub fn status(mut self, status: Status) -> Self {
        self.status = Some(status);
        self
    }

    /// How many instances a page has at the most. Default: 100; at least 1.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit.max(1);
        self
    }

    /// Goes on after an earlier page: its [`Page::next`].
    pub fn after(mut self, cursor: Cursor) -> Self {
        self.after = Some(cursor);
        self
    }

    fn run(self) -> Result<Page, RuntimeError> {
        if self.engine.is_stopped() {
            return Err(stopped(&self.engine));
        }
        let mut instances: Vec<InstanceStatus> = Vec::new();
        let mut after = self.after.map(|Cursor(number)| number);
        loop {
            let records = self.engine.store().list(after, PAGE)?;
            let is_last = records.len() < PAGE;
            for record in records {
                after = Some(record.number);
                let Some(instance) = self.matching(record) else {
                    continue;
                };
                instances.push(instance);
                if instances.len() == self.limit {
                    return Ok(Page {
                        instances,
                        next: after.map(Cursor),
                    });
                }
            }
            if is_last {
                return Ok(Page { instances, next: None });
            }
        }
    }

    fn matching(&self, record: InstanceRecord) -> Option<InstanceStatus> {
        if self
            .workflow
            .as_ref()
            .is_some_and(|workflow| *workflow != record.workflow)
        {
            return None;
        }
        let live = self
            .engine
            .live_status(record.number)
            .filter(|_| !record.status.is_terminal());
        let trouble_reading = self.engine.trouble_reading(record.number);
        let instance = describe(record, live, Activity::default(), trouble_reading);
        self.status
            .is_none_or(|status| status == instance.status)
            .then_some(instance)
    }
}

impl IntoFuture for List {
    type Output = Result<Page, RuntimeError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.run() })
    }
}
