//! One engine over one store: which instances are in memory, who waits for their ends, and how calls reach them.

mod outcome;
#[cfg(test)]
mod tests;
mod together;

pub(crate) use outcome::Outcome;
pub(crate) use together::Answers;

use super::alarm::{self, Alarms};
use super::code::{Code, States};
use super::committer::{Committer, Reply};
use super::instance::{self, Loaded, Origin};
use super::live::{Live, Mail};
use super::seams::{Clock, Entropy};
use crate::ids::{Epoch, InstanceNumber};
use crate::machine::{Activity, Event, SignalCheck};
use crate::store::{CommitError, InstanceRecord, ReadError, Status, Store, StoredSignal, Write, Written};
use crate::time::Timestamp;
use std::any::TypeId;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};

/// How long an instance's task is waited for whose thread a body may block.
const ANSWER_PATIENCE: Duration = Duration::from_secs(1);

/// How many ready instances are read from the store at once when it is opened.
const PAGE: usize = 1_000;

pub(crate) struct Engine {
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) entropy: Arc<dyn Entropy>,
    pub(super) states: Arc<States>,
    pub(super) alarms: Arc<Alarms>,
    pub(super) park_after: Duration,
    codes: Codes,
    committer: Committer,
    tokio: Handle,
    phase: AtomicU8,
    // Looked up by number; iterated only to wake everybody, where order does not matter.
    live: Mutex<HashMap<InstanceNumber, Arc<Live>>>,
    emptied: Notify,
    waiters: Mutex<HashMap<InstanceNumber, Vec<oneshot::Sender<Outcome>>>>,
    signal_types: Mutex<BTreeMap<SignalKey, BTreeMap<TypeId, SignalCheck>>>,
    failed: OnceLock<CommitError>,
    unreadable: Mutex<BTreeMap<InstanceNumber, String>>,
}

/// Registered workflows by name and version.
pub(crate) type Codes = BTreeMap<(&'static str, u32), Arc<dyn Code>>;

/// Workflow, version, signal name.
type SignalKey = (&'static str, u32, &'static str);

/// Everything that an engine is made of.
pub(crate) struct Parts {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) states: Arc<States>,
    pub(crate) codes: Codes,
    pub(crate) park_after: Duration,
    /// From the claim of the store.
    pub(crate) epoch: Epoch,
    /// Written together with the first other write.
    pub(crate) note: Option<Write>,
}

const RUNNING: u8 = 0;
const DRAINING: u8 = 1;
const STOPPED: u8 = 2;

/// The engine could not start. Nothing was changed but, at most, the epoch.
#[derive(Debug)]
pub(crate) enum StartFault {
    Read(ReadError),
    Thread(std::io::Error),
}

impl Engine {
    /// Sets every ready instance of a claimed store going. Must be called inside a tokio runtime.
    pub(crate) fn start(parts: Parts) -> Result<Arc<Self>, StartFault> {
        let (store, epoch) = (Arc::clone(&parts.store), parts.epoch);
        let mut committer = Ok(());
        let engine = Arc::new_cyclic(|engine: &Weak<Engine>| {
            let failed = engine.clone();
            let started = Committer::start(store, epoch, Handle::current(), move |error| {
                if let Some(engine) = failed.upgrade() {
                    engine.failed.get_or_init(|| error.clone());
                    engine.stop();
                }
            });
            let started = started.unwrap_or_else(|error| {
                committer = Err(error);
                Committer::idle()
            });
            Engine {
                store: parts.store,
                clock: parts.clock,
                entropy: parts.entropy,
                states: parts.states,
                alarms: Arc::default(),
                park_after: parts.park_after,
                codes: parts.codes,
                committer: started,
                tokio: Handle::current(),
                phase: AtomicU8::new(RUNNING),
                live: Mutex::default(),
                emptied: Notify::new(),
                waiters: Mutex::default(),
                signal_types: Mutex::default(),
                failed: OnceLock::new(),
                unreadable: Mutex::default(),
            }
        });
        committer.map_err(StartFault::Thread)?;
        if let Some(note) = parts.note {
            engine.committer.submit_beside_the_first(note);
        }
        if let Err(error) = engine.recover() {
            // Its thread would hold the store for ever.
            engine.close();
            return Err(StartFault::Read(error));
        }
        engine.tokio.spawn(alarm::run(Arc::downgrade(&engine)));
        Ok(engine)
    }

    /// Wakes what is ready; what sleeps is woken by the alarms. The work does not grow with what is parked. Nothing moves
    /// before all of it is known: a start that fails has run no body.
    fn recover(self: &Arc<Self>) -> Result<(), ReadError> {
        let mut ready = Vec::new();
        loop {
            let page = self.store.ready(ready.last().copied(), PAGE)?;
            if page.is_empty() {
                break;
            }
            ready.extend(page);
        }
        for instance in ready {
            self.wake_stored(instance, &[]);
        }
        Ok(())
    }

    /// Queues a write of an API call; the answer comes when it is durable. The effects on instances in memory happen
    /// even if nobody waits for the answer any more.
    pub(crate) fn call(
        self: &Arc<Self>,
        write: Write,
        effect: impl FnOnce(&Arc<Self>, &Written) -> bool + Send + 'static,
    ) -> oneshot::Receiver<Result<(Written, bool), CommitError>> {
        let (sender, receiver) = oneshot::channel();
        let engine = Arc::clone(self);
        let reply = Reply::Call(Box::new(move |answer| {
            let answer = answer.map(|written| {
                let effect = effect(&engine, &written);
                (written, effect)
            });
            // The caller may have gone away; what was written stays.
            let _ = sender.send(answer);
        }));
        self.committer.submit(write, reply);
        receiver
    }

    pub(super) fn commit_turn(&self, write: Write, live: Arc<Live>) {
        self.committer.submit(write, Reply::Turn(live));
    }

    /// A new instance begins, from memory.
    pub(crate) fn begin(self: &Arc<Self>, record: InstanceRecord, journal: Vec<Event>) {
        let number = record.number;
        let loaded = Loaded {
            record,
            journal,
            signals: Vec::new(),
            batches: 1,
        };
        let live = Arc::new(Live::new(number, &[]));
        self.lock_live().insert(number, Arc::clone(&live));
        self.spawn(live, Origin::Fresh(Box::new(loaded)));
    }

    /// An instance that is not in memory is loaded and goes on.
    pub(crate) fn wake_stored(self: &Arc<Self>, instance: InstanceNumber, awaited_signals: &[String]) {
        self.with_live(instance, awaited_signals, |live| live.post(|_| {}).then_some(()));
    }

    /// Hands a signal that is durable to its instance. `true` if a wait was open for it.
    pub(crate) fn hand_signal(self: &Arc<Self>, record: &InstanceRecord, signal: StoredSignal) -> bool {
        let in_memory = self.lock_live().get(&record.number).cloned();
        let signal = match in_memory {
            Some(live) => match live.post_signal(signal) {
                Ok(delivered) => return delivered,
                Err(signal) => signal,
            },
            None => signal,
        };
        if record.status != Status::Waiting || !record.awaited_signals.contains(&signal.name) {
            return false;
        }
        let mut signal = Some(signal);
        self.with_live(record.number, &record.awaited_signals, |live| {
            let posted = live.post_signal(signal.take()?);
            posted.map_err(|back| signal = Some(back)).ok()
        })
    }

    /// Hands a cancellation that is durable to its instance.
    pub(crate) fn hand_cancel(self: &Arc<Self>, instance: InstanceNumber, reason: &str) {
        self.with_live(instance, &[], |live| {
            live.post(|mail| mail.cancel = Some(reason.to_owned())).then_some(())
        });
    }

    /// Reaches an instance in memory, and brings it there first if need be. `reach` gives `None` if its task has ended.
    fn with_live<R: Default>(
        self: &Arc<Self>,
        instance: InstanceNumber,
        awaited_signals: &[String],
        mut reach: impl FnMut(&Live) -> Option<R>,
    ) -> R {
        if self.is_stopped() {
            return R::default();
        }
        let mut live = self.lock_live();
        if let Some(reached) = live.get(&instance).and_then(|live| reach(live)) {
            return reached;
        }
        let fresh = Arc::new(Live::new(instance, awaited_signals));
        let reached = reach(&fresh);
        live.insert(instance, Arc::clone(&fresh));
        drop(live);
        self.spawn(fresh, Origin::Stored);
        reached.unwrap_or_default()
    }

    fn spawn(self: &Arc<Self>, live: Arc<Live>, origin: Origin) {
        self.tokio.spawn(instance::run(Arc::clone(self), live, origin));
    }

    pub(super) fn alarm(&self, instance: InstanceNumber) {
        let live = self.lock_live().get(&instance).cloned();
        if let Some(live) = live {
            // If its task has ended, there is nothing to wake.
            live.post(|mail| mail.alarm_went_off = true);
        }
    }

    /// The instance left memory and waits in the store.
    pub(super) fn parked(&self, live: &Arc<Live>, due: Option<Timestamp>) {
        self.forget(live);
        if let Some(due) = due {
            self.alarms.parked(due);
        }
    }

    /// The instance's task ends. Gives the mail that it has not read.
    pub(super) fn left(&self, live: &Arc<Live>, armed: Option<Timestamp>) -> Mail {
        self.alarms.arm(live.number, armed, None);
        let unread = live.close();
        self.forget(live);
        unread
    }

    fn forget(&self, live: &Arc<Live>) {
        let mut all = self.lock_live();
        if all.get(&live.number).is_some_and(|known| Arc::ptr_eq(known, live)) {
            all.remove(&live.number);
        }
        let is_empty = all.is_empty();
        drop(all);
        if is_empty {
            self.emptied.notify_waiters();
        }
    }

    pub(super) fn load(&self, instance: InstanceNumber) -> Result<Option<Loaded>, String> {
        let loaded = self.store.load(instance).map_err(|error| error.to_string())?;
        let Some(stored) = loaded else { return Ok(None) };
        let batches = stored.batches.len() as u64;
        let journal = instance::read_journal(stored.batches)?;
        lock(&self.unreadable).remove(&instance);
        Ok(Some(Loaded {
            record: stored.record,
            journal,
            signals: stored.signals,
            batches,
        }))
    }

    /// Whether the instance was found to have no code before, and has none now.
    pub(super) fn still_waits_for_code(&self, record: &InstanceRecord) -> bool {
        record.status == Status::WaitingForCode
            && record.cancel_requested.is_none()
            && !self.is_registered(&record.workflow, record.version)
    }

    /// The instance's data cannot be read. It stays as it is, and says so.
    pub(super) fn unreadable(&self, instance: InstanceNumber, reason: String) {
        tracing::error!(
            instance = instance.0,
            reason,
            "an instance cannot be read; it stays as it is"
        );
        let trouble = format!("its journal cannot be read: {reason}");
        self.note_trouble(instance, trouble.clone());
        self.announce(
            instance,
            Outcome::Stopped {
                status: Status::Quarantined,
                trouble,
            },
        );
    }

    /// What keeps an instance from going on and cannot be written into its record. Gone when it is loaded again.
    pub(super) fn note_trouble(&self, instance: InstanceNumber, trouble: String) {
        lock(&self.unreadable).insert(instance, trouble);
    }

    pub(crate) fn trouble_reading(&self, instance: InstanceNumber) -> Option<String> {
        lock(&self.unreadable).get(&instance).cloned()
    }

    pub(super) fn code(&self, workflow: &str, version: u32) -> Option<Arc<dyn Code>> {
        self.codes.get(&(workflow, version)).cloned()
    }

    pub(crate) fn is_registered(&self, workflow: &str, version: u32) -> bool {
        self.codes.contains_key(&(workflow, version))
    }

    pub(super) fn learn_signal_type(&self, key: SignalKey, signal_type: TypeId, check: SignalCheck) {
        lock(&self.signal_types)
            .entry(key)
            .or_default()
            .insert(signal_type, check);
    }

    /// Whether the bytes are known not to be what the workflow waits for under this name.
    pub(crate) fn refuse_signal(&self, workflow: &str, version: u32, name: &str, payload: &[u8]) -> Option<String> {
        let types = lock(&self.signal_types);
        let is_asked = |key: &SignalKey| key.0 == workflow && key.1 == version && key.2 == name;
        let (_, checks) = types.iter().find(|(key, _)| is_asked(key))?;
        let mut reason = None;
        for check in checks.values() {
            reason = Some(check(payload).err()?);
        }
        reason
    }

    /// Whether any workflow is known to wait for a signal of this name.
    pub(crate) fn knows_signal(&self, name: &str) -> bool {
        lock(&self.signal_types).keys().any(|key| key.2 == name)
    }

    /// What an instance in memory is doing.
    pub(crate) async fn activity(&self, instance: InstanceNumber) -> Option<(Status, Activity)> {
        let live = self.lock_live().get(&instance).cloned()?;
        let (sender, receiver) = oneshot::channel();
        live.post(move |mail| mail.queries.push(sender)).then_some(())?;
        match tokio::time::timeout(ANSWER_PATIENCE, receiver).await {
            Ok(answer) => answer.ok(),
            // A body blocks the thread; what else goes on cannot be told.
            Err(_) => Some((live.status().unwrap_or(Status::Running), Activity::default())),
        }
    }

    /// The status of an instance in memory, as it was published last.
    pub(crate) fn live_status(&self, instance: InstanceNumber) -> Option<Status> {
        self.lock_live().get(&instance).and_then(|live| live.status())
    }

    pub(crate) fn store(&self) -> &dyn Store {
        self.store.as_ref()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn draw(&self) -> u64 {
        self.entropy.draw()
    }

    /// Whether new effects are held back.
    pub(crate) fn is_draining(&self) -> bool {
        self.phase.load(Ordering::Acquire) != RUNNING
    }

    /// Something of ours went wrong that must not: nothing is released any more until the store is opened again.
    pub(super) fn poison(&self, reason: &str) {
        tracing::error!(reason, "the engine stops");
        self.failed.get_or_init(|| CommitError::Failed {
            reason: reason.to_owned(),
        });
        self.stop();
    }

    /// Why the store answers nothing any more, if that is why the engine stopped.
    pub(crate) fn failure(&self) -> Option<CommitError> {
        self.failed.get().cloned()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.phase.load(Ordering::Acquire) == STOPPED
    }

    /// No body begins any more; running ones get `grace` to end, and what they end with is recorded.
    pub(crate) async fn shut_down(self: &Arc<Self>, grace: Duration) {
        self.phase.fetch_max(DRAINING, Ordering::AcqRel);
        self.wake_all();
        let until = self.now() + grace;
        tokio::select! {
            () = self.until_empty() => {}
            () = self.until(until) => {}
        }
        self.stop();
        // The committer is closed while instances still wait for it: one that tries a write again and again, because the
        // store is unavailable, gives up only then. What it can write it writes first.
        let engine = Arc::clone(self);
        if tokio::task::spawn_blocking(move || engine.committer.close())
            .await
            .is_err()
        {
            tracing::error!("the committer could not be closed");
        }
        if tokio::time::timeout(ANSWER_PATIENCE, self.until_empty()).await.is_err() {
            tracing::warn!("a body blocks its thread; the runtime closes without it");
        }
        lock(&self.waiters).clear();
    }

    /// At once: bodies are dropped where they are. What was handed to the committer is still written.
    pub(crate) fn stop(&self) {
        self.phase.store(STOPPED, Ordering::Release);
        self.wake_all();
        self.alarms.look_again();
        lock(&self.waiters).clear();
    }

    /// Stops and waits, blocking, until everything queued is on disk and the store is closed.
    pub(crate) fn close(&self) {
        self.stop();
        self.committer.close();
    }

    async fn until(&self, due: Timestamp) {
        while self.now() < due {
            self.clock.wait_until(due).await;
        }
    }

    async fn until_empty(&self) {
        loop {
            let emptied = self.emptied.notified();
            tokio::pin!(emptied);
            emptied.as_mut().enable();
            if self.lock_live().is_empty() {
                return;
            }
            emptied.await;
        }
    }

    fn wake_all(&self) {
        let all: Vec<Arc<Live>> = self.lock_live().values().cloned().collect();
        for live in all {
            live.wake();
        }
    }

    fn lock_live(&self) -> MutexGuard<'_, HashMap<InstanceNumber, Arc<Live>>> {
        lock(&self.live)
    }
}

/// Nothing in this file panics while it holds a lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
