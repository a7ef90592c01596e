//! The task of one instance in memory: polls its workflow, commits what turns produce, releases bodies by the receipt.
//!
//! # What is on disk when
//!
//! At most one commit is under way. Events of turns that run meanwhile gather in the machine and go with the next one. A
//! body begins only when every event before it is in a commit whose receipt has come: steps that a turn reached are *gated*;
//! a commit *seals* them; the receipt *releases* them. A crash before the receipt finds the journal without the commit, and
//! no body of it has begun. A crash after it finds the step open at the end of replay: it may have begun.
//!
//! A record says `Waiting` on disk only when no body runs, so an instance that is found waiting had none interrupted. The
//! same commit that records why an instance goes on makes it `Running`.

mod begin;
mod commit;
mod wake;

pub(super) use begin::{Origin, read_journal, run};

use super::code::{Run, panicked};
use super::engine::{Engine, Outcome};
use super::live::{Live, Mail};
use super::seams::Chance;
use super::silence::silenced;
use super::turn::{OnWait, Turn};
use crate::machine::{Activity, Event, Fault, Machine, Next, OpenNo};
use crate::store::{InstanceRecord, RecordChange, Status, StoredSignal};
use crate::time::Timestamp;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tracing::Span;
use wake::RootWake;

/// How many events a turn delivers before other tasks of the same thread get a chance.
const DELIVERIES_MAX: usize = 512;

/// What is known of an instance when its task begins.
pub(crate) struct Loaded {
    pub(crate) record: InstanceRecord,
    pub(crate) journal: Vec<Event>,
    pub(crate) signals: Vec<StoredSignal>,
    pub(crate) batches: u64,
}

pub(crate) struct Task {
    engine: Arc<Engine>,
    live: Arc<Live>,
    turn: Option<Box<Turn>>,
    root: Arc<RootWake>,
    root_waker: Waker,
    chance: Chance,
    span: Span,
    batches: u64,
    /// The changeable part of the record as it is, or is about to be, on disk.
    recorded: RecordChange,
    /// Whether bodies may have been running when the journal was written last.
    interrupted: bool,
    progress: Progress,
    commit: Commit,
    /// The workflow ended or must stop: no turn follows, only the commit that says so.
    end: Option<End>,
    armed: Option<Timestamp>,
    idle_since: Option<Timestamp>,
    /// The clock, read at most once between two moments at which bodies may have run.
    now: Option<Timestamp>,
    published_status: Option<Status>,
    published_waits: u64,
    /// A cancellation came while the instance was being stopped; it is taken up again from the store.
    late_cancel: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    NotStarted,
    Replaying,
    Live,
}

/// Whether a commit of this instance is on its way to the disk.
enum Commit {
    Idle,
    UnderWay,
    /// The last one: when it is durable, the end is told, which does not change any more.
    Last,
}

/// Why the task ends once its last commit is durable.
enum End {
    Outcome(Outcome),
    Stopped { status: Status, trouble: String },
}

impl End {
    fn record(&self) -> RecordChange {
        let (status, trouble) = match self {
            End::Outcome(outcome) => (outcome.status(), None),
            End::Stopped { status, trouble } => (*status, Some(trouble.clone())),
        };
        RecordChange {
            status,
            awaited_signals: Vec::new(),
            wake_at: None,
            trouble,
        }
    }
}

impl Task {
    pub(crate) fn new(
        engine: Arc<Engine>,
        live: Arc<Live>,
        workflow: &'static str,
        loaded: Loaded,
    ) -> Result<Self, Fault> {
        let Loaded {
            record,
            journal,
            signals,
            batches,
        } = loaded;
        let machine = restored(&record, journal, signals, batches)?;
        let (types, version) = (Arc::downgrade(&engine), record.version);
        let on_wait: OnWait = Box::new(move |name, signal_type, check| {
            if let Some(engine) = types.upgrade() {
                engine.learn_signal_type((workflow, version, name), signal_type, check);
            }
        });
        let root = Arc::new(RootWake::new(Arc::clone(&live)));
        let span = tracing::info_span!("instance", workflow, instance = record.id.as_str());
        Ok(Self {
            turn: Some(Turn::new(machine, on_wait)),
            root_waker: Waker::from(Arc::clone(&root)),
            root,
            chance: Chance::new(engine.entropy.draw()),
            span,
            batches,
            interrupted: record.status != Status::Waiting,
            recorded: RecordChange {
                status: record.status,
                awaited_signals: record.awaited_signals,
                wake_at: record.wake_at,
                trouble: record.trouble,
            },
            progress: Progress::NotStarted,
            commit: Commit::Idle,
            end: None,
            armed: None,
            idle_since: None,
            now: None,
            published_status: None,
            published_waits: u64::MAX,
            late_cancel: false,
            engine,
            live,
        })
    }

    /// Fresh instances have nothing that could have been interrupted.
    pub(crate) fn is_fresh(&mut self) {
        self.interrupted = false;
    }

    /// Advances the instance as far as it goes. Ready when it has ended, stopped, parked, or the engine stops.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>, future: &mut Option<Run<'_>>) -> Poll<()> {
        self.root.begin_poll();
        self.now = None;
        let polled = self.advance(context, future);
        let is_woken = self.root.end_poll();
        if is_woken && polled.is_pending() && future.is_some() && self.machine().fault().is_none() {
            context.waker().wake_by_ref();
        }
        polled
    }

    fn advance(&mut self, context: &mut Context<'_>, future: &mut Option<Run<'_>>) -> Poll<()> {
        let mail = self.live.collect(context.waker());
        let queries = match self.read(mail, future) {
            Ok(queries) => queries,
            Err(Gone { ended }) => {
                let left = self.leave(future);
                // Only after leaving: whoever asks from now on finds the end in the store, and nobody waits in vain.
                if let Some(end) = ended {
                    self.announce(*end);
                }
                return left;
            }
        };
        if self.engine.is_stopped() {
            drop_future(future);
            return if self.is_committing() && self.engine.failure().is_none() {
                Poll::Pending
            } else {
                self.leave(future)
            };
        }
        loop {
            self.run_turn(context, future);
            if !self.settle(future) {
                break;
            }
        }
        self.publish(queries);
        if self.engine.is_draining() && self.is_drained() {
            return self.leave(future);
        }
        self.rest(future)
    }

    fn machine(&mut self) -> &mut Machine {
        &mut self
            .turn
            .as_mut()
            .expect("the turn is only out during a poll of the workflow")
            .machine
    }

    /// The present instant.
    fn now(&mut self) -> Timestamp {
        let engine = &self.engine;
        *self.now.get_or_insert_with(|| engine.clock.now())
    }

    fn read(&mut self, mail: Mail, future: &mut Option<Run<'_>>) -> Result<Vec<Query>, Gone> {
        if mail.alarm_went_off {
            // One that was set meanwhile is set anew by `rest`.
            self.engine.alarms.arm(self.live.number, self.armed.take(), None);
        }
        for signal in mail.signals {
            self.machine().offer_signal(signal);
        }
        if let Some(receipt) = mail.receipt {
            let commit = std::mem::replace(&mut self.commit, Commit::Idle);
            match receipt {
                Ok(true) => {
                    if let Commit::Last = commit {
                        self.late_cancel |= mail.cancel.is_some();
                        return Err(Gone {
                            ended: self.end.take().map(Box::new),
                        });
                    }
                    let now = self.now();
                    if !self.engine.is_draining() {
                        self.release(|machine| machine.release_sealed(now));
                    }
                }
                Ok(false) => {
                    let trouble = "the store refused its turn: its rows are damaged, or another writer changed them";
                    self.span
                        .in_scope(|| tracing::error!(trouble, "the instance stops here"));
                    let status = Status::Quarantined;
                    let trouble = trouble.to_owned();
                    // Nothing of it is on disk, and whoever asks later must be told too.
                    self.engine.note_trouble(self.live.number, trouble.clone());
                    return Err(Gone {
                        ended: Some(Box::new(End::Stopped { status, trouble })),
                    });
                }
                Err(_) => return Err(Gone { ended: None }),
            }
        }
        if let Some(reason) = mail.cancel {
            self.cancel(reason, future);
        }
        Ok(mail.queries)
    }

    fn cancel(&mut self, reason: String, future: &mut Option<Run<'_>>) {
        match &self.end {
            Some(End::Outcome(_)) => {}
            Some(End::Stopped { .. }) if matches!(self.commit, Commit::Last) => self.late_cancel = true,
            Some(End::Stopped { .. }) | None => {
                drop_future(future);
                let now = self.now();
                self.machine().cancel(now, reason.clone());
                self.end = Some(End::Outcome(Outcome::Cancelled { reason }));
            }
        }
    }

    /// Delivers events until nothing moves.
    fn run_turn(&mut self, context: &Context<'_>, future: &mut Option<Run<'_>>) {
        let mut polled_for_bodies = false;
        let mut is_idle = false;
        for _ in 0..DELIVERIES_MAX {
            if self.end.is_some() || self.machine().fault().is_some() {
                return;
            }
            if self.progress == Progress::NotStarted {
                self.progress = Progress::Replaying;
                self.poll_workflow(future);
                continue;
            }
            let (now, chance) = (self.now(), self.chance.draw());
            if self.progress == Progress::Replaying && self.machine().is_replayed() {
                // Before anything new is delivered: what the code reaches from then on was never begun.
                self.progress = Progress::Live;
                let interrupted = self.interrupted;
                self.machine().resume(interrupted, now);
                continue;
            }
            match self.machine().next(now, chance) {
                Next::Deliver(open) => {
                    self.wake(open);
                    self.poll_workflow(future);
                }
                Next::Notify(open) => self.wake(open),
                Next::Quiet => {}
                Next::Idle if self.machine().fault().is_some() => return,
                Next::Idle if self.root.is_woken() && !polled_for_bodies => {
                    polled_for_bodies = true;
                    self.poll_workflow(future);
                }
                Next::Idle => {
                    is_idle = true;
                    break;
                }
            }
        }
        if !is_idle {
            context.waker().wake_by_ref();
        }
    }

    fn wake(&self, open: OpenNo) {
        if let Some(turn) = &self.turn {
            turn.wake(open);
        }
    }

    fn poll_workflow(&mut self, future: &mut Option<Run<'_>>) {
        self.root.take_up();
        let (Some(workflow), Some(turn)) = (future.as_mut(), self.turn.take()) else {
            return;
        };
        let replaying = turn.machine.is_replaying();
        let mut context = Context::from_waker(&self.root_waker);
        // Beside the closures: nearly always there is none, and it is large.
        let mut ended = None;
        let mut poll_once = || {
            if let Poll::Ready(end) = workflow.as_mut().poll(&mut context) {
                ended = Some(end);
            }
        };
        let poll = || catch_unwind(AssertUnwindSafe(&mut poll_once));
        let (turn, polled) = turn.enter(|| {
            if replaying {
                // What the code logs was logged the first time.
                silenced(poll)
            } else {
                // Bodies may take their time.
                self.now = None;
                self.span.in_scope(poll)
            }
        });
        self.turn = Some(turn);
        let now = self.machine().now();
        match polled {
            Ok(()) => {
                let Some(ended) = ended else { return };
                *future = None;
                let event = ended.into_event();
                self.machine().finish(now, &event);
                if self.machine().fault().is_none() {
                    self.end = Outcome::of(event).map(End::Outcome);
                }
            }
            Err(panic) => self.machine().set_fault(panicked(panic.as_ref())),
        }
    }

    fn publish(&mut self, queries: Vec<Query>) {
        let status = self.status();
        if self.published_status != Some(status) {
            self.published_status = Some(status);
            self.live.publish_status(status);
        }
        let revision = self.machine().awaited_revision();
        // While it is replayed, waits are open that were answered long ago.
        if revision != self.published_waits && self.progress == Progress::Live {
            self.published_waits = revision;
            let awaited = self.machine().awaited_signals();
            self.live.publish_waits(&awaited);
        }
        for query in queries {
            // Whoever asked may be gone.
            let _ = query.send((status, self.machine().activity()));
        }
    }

    fn is_committing(&self) -> bool {
        match self.commit {
            Commit::Idle => false,
            Commit::UnderWay | Commit::Last => true,
        }
    }

    fn status(&mut self) -> Status {
        let is_resting = self.progress == Progress::Live && !self.is_committing() && self.end.is_none();
        if is_resting && self.machine().is_waiting() {
            Status::Waiting
        } else {
            Status::Running
        }
    }

    fn is_drained(&mut self) -> bool {
        let is_settled = self.progress != Progress::Live || !self.machine().has_running();
        !self.is_committing() && is_settled
    }

    /// Sets the alarm, or parks: only the store knows the instance then.
    fn rest(&mut self, future: &mut Option<Run<'_>>) -> Poll<()> {
        let now = self.now();
        let is_going = self.end.is_none() && self.machine().fault().is_none();
        // After the end nothing falls due any more.
        let due = self.machine().next_due().filter(|_| is_going);
        let resting = self.status() == Status::Waiting;
        let park_at = if resting {
            let since = *self.idle_since.get_or_insert(now);
            let park_at = since + self.engine.park_after;
            if park_at <= now && due.is_none_or(|due| due > now) {
                // Before the mailbox closes: from then on the instance may be woken anew, and the entry be the new task's.
                self.engine.alarms.arm(self.live.number, self.armed.take(), None);
                if self.live.close_if_empty() {
                    drop_future(future);
                    self.engine.parked(&self.live, due);
                    return Poll::Ready(());
                }
            }
            Some(park_at)
        } else {
            self.idle_since = None;
            None
        };
        let alarm = [due, park_at].into_iter().flatten().min();
        if alarm != self.armed {
            self.engine.alarms.arm(self.live.number, self.armed, alarm);
            self.armed = alarm;
        }
        Poll::Pending
    }

    fn leave(&mut self, future: &mut Option<Run<'_>>) -> Poll<()> {
        drop_future(future);
        let unread = self.engine.left(&self.live, self.armed.take());
        if self.late_cancel || unread.cancel.is_some() {
            self.engine.wake_stored(self.live.number, &[]);
        }
        Poll::Ready(())
    }
}

/// The machine of an instance as it was stored.
pub(super) fn restored(
    record: &InstanceRecord,
    journal: Vec<Event>,
    signals: Vec<StoredSignal>,
    batches: u64,
) -> Result<Machine, Fault> {
    let mut machine = Machine::new(journal, signals, record.signals)?;
    if may_have_run(record.status, batches) {
        machine.bodies_may_have_run();
    }
    Ok(machine)
}

/// Whether bodies may have been running, of which the journal does not tell, when the last process ended. An instance of
/// which nothing but its start is recorded is taken for one that has not begun.
fn may_have_run(status: Status, batches: u64) -> bool {
    match status {
        Status::Running => true,
        // Not rewritten to `Running`, respectively written over it.
        Status::Queued | Status::WaitingForCode | Status::Quarantined => batches > 1,
        Status::Waiting
        | Status::Paused
        | Status::Completed
        | Status::Failed
        | Status::Cancelled
        | Status::Terminated => false,
    }
}

type Query = tokio::sync::oneshot::Sender<(Status, Activity)>;

/// The task has nothing more to do. Whoever waits for the instance is told `ended`: an end that is durable, or why the
/// instance stands still.
struct Gone {
    ended: Option<Box<End>>,
}

/// Dropping is cancelling: bodies end where they are. A body whose drop panics must not take the engine along.
fn drop_future(future: &mut Option<Run<'_>>) {
    if let Some(future) = future.take()
        && catch_unwind(AssertUnwindSafe(|| drop(future))).is_err()
    {
        tracing::error!("a workflow panicked while it was dropped");
    }
}
