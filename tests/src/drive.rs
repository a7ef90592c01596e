//! Brings instances of `workload::everything` to their ends in virtual time, across crashes.

use crate::ledger::Ledger;
use crate::workload::{STUCK, Summary, everything};
use steadfast::prelude::*;
use steadfast::store::Store;
use steadfast::testing::{Clock as _, SeededEntropy, VirtualClock};
use steadfast::{InstanceStatus, SignalAnswer, SignalError, StartError, WaitingFor};

/// How often an instance may be looked at without moving. A run that needs more hangs.
const LOOKS_MAX: u32 = 2_000_000;

/// What outlives processes: the world around the store.
#[derive(Clone)]
pub struct World {
    /// The clock on the wall.
    pub clock: VirtualClock,
    /// What bodies did.
    pub ledger: Ledger,
    /// How long a waiting instance stays in memory.
    pub park_after: std::time::Duration,
}

/// The engine failed under the driver. What was acknowledged before is durable.
#[derive(Debug)]
pub struct Crashed;

impl World {
    /// A world at the beginning of 2026.
    pub fn new(ledger: Ledger) -> Self {
        Self {
            clock: VirtualClock::default(),
            ledger,
            park_after: secs(1),
        }
    }

    /// Lives through one process: opens a runtime over the store, does what is left to be done, and drops everything at
    /// the end or at the crash, whichever comes first.
    ///
    /// # Errors
    /// [`Crashed`].
    pub fn process(&self, store: impl Store, ids: &[&str]) -> Result<Vec<Summary>, Crashed> {
        process(async {
            let opened = Runtime::builder()
                .workflow(everything)
                .state(self.ledger.clone())
                .clock(self.clock.clone())
                .entropy(SeededEntropy::new(7))
                .park_after(self.park_after)
                .store(store)
                .start()
                .await;
            let runtime = opened.map_err(|_| Crashed)?;
            self.drive(&runtime, ids).await
        })
    }

    /// Starts the instances, sends them their signals, and moves the clock whenever nothing else moves.
    ///
    /// # Errors
    /// [`Crashed`].
    pub async fn drive(&self, runtime: &Runtime, ids: &[&str]) -> Result<Vec<Summary>, Crashed> {
        for id in ids {
            self.start(runtime, id).await?;
            for (number, name) in [(1, "go"), (2, "go"), (3, "go")] {
                self.signal(runtime, id, name, number).await?;
            }
        }
        let mut looks = 0;
        loop {
            let mut open = Vec::new();
            for id in ids {
                let status = runtime.status(id).await.map_err(|_| Crashed)?;
                if !status.status.is_terminal() {
                    open.push(status);
                }
            }
            if open.is_empty() {
                break;
            }
            for status in &open {
                assert!(status.trouble.is_none(), "{status:?}");
                if waits_for(status, "nudge") {
                    self.signal(runtime, &status.id, "nudge", 9).await?;
                }
            }
            if open.iter().all(|status| self.is_at_rest(status))
                && let Some(due) = self.clock.next_due()
            {
                self.clock.set(due.max(self.clock.now()));
                looks = 0;
            }
            looks += 1;
            assert!(looks < LOOKS_MAX, "nothing moves: {open:?}");
            tokio::task::yield_now().await;
        }
        let mut results = Vec::new();
        for id in ids {
            let handle = runtime.handle(everything, id).await.map_err(|_| Crashed)?;
            match handle.result().await {
                Ok(result) => results.push(result),
                Err(steadfast::WorkflowError::Runtime(_)) => return Err(Crashed),
                Err(error) => panic!("{id}: {error}"),
            }
        }
        Ok(results)
    }

    async fn start(&self, runtime: &Runtime, id: &str) -> Result<(), Crashed> {
        match runtime.start(everything, id.to_owned()).id(id).await {
            Ok(handle) => {
                let is_new = self.ledger.acknowledge(&format!("start {id}"));
                assert!(is_new || !handle.created(), "the acknowledged start of {id} was lost");
                Ok(())
            }
            Err(StartError::Runtime(_)) => Err(Crashed),
            Err(error) => panic!("{id}: {error}"),
        }
    }

    async fn signal(&self, runtime: &Runtime, id: &str, name: &str, value: u32) -> Result<(), Crashed> {
        let key = format!("{name} {value}");
        match runtime.signal(id, name, &value).dedup_key(&key).await {
            Ok(answer) => {
                let is_new = self.ledger.acknowledge(&format!("{key} to {id}"));
                let is_duplicate = answer == SignalAnswer::Duplicate;
                assert!(
                    is_new || is_duplicate,
                    "the acknowledged signal {key} to {id} was lost: {answer:?}"
                );
                Ok(())
            }
            Err(SignalError::Runtime(_)) => Err(Crashed),
            Err(error) => panic!("{id}: {error}"),
        }
    }

    /// Whether only time or a signal can move the instance.
    fn is_at_rest(&self, status: &InstanceStatus) -> bool {
        let is_stuck = |step: &str| {
            let name = step.rsplit('/').next().unwrap_or_default();
            STUCK.contains(&name) && self.ledger.is_running(&status.id, step)
        };
        match status.status {
            Status::Waiting => true,
            Status::Running => {
                !status.running.is_empty() && status.running.iter().all(|running| is_stuck(&running.step))
            }
            _ => false,
        }
    }
}

fn waits_for(status: &InstanceStatus, signal: &str) -> bool {
    status
        .waiting_for
        .iter()
        .any(|waiting| matches!(waiting, WaitingFor::Signal { name, .. } if name == signal))
}

/// Longer than any test takes: one that waits for ever fails instead of holding everything up.
const PATIENCE: std::time::Duration = secs(600);

/// Lives through one process: everything that `life` leaves behind is dropped where it is, as a crash would.
pub fn process<T>(life: impl Future<Output = T>) -> T {
    live(tokio::runtime::Builder::new_current_thread(), life)
}

/// The same on several threads, so that what can happen at once does.
pub fn process_on_threads<T>(threads: usize, life: impl Future<Output = T>) -> T {
    let mut tokio = tokio::runtime::Builder::new_multi_thread();
    tokio.worker_threads(threads);
    live(tokio, life)
}

fn live<T>(mut tokio: tokio::runtime::Builder, life: impl Future<Output = T>) -> T {
    let life = async { tokio::time::timeout(PATIENCE, life).await };
    let tokio = tokio.enable_all().build().expect("a process can have a tokio runtime");
    tokio.block_on(life).expect("something waits for what never comes")
}

/// Lets everything else go on until `is_reached`; says what was waited for when that does not come.
pub async fn until(what: &str, mut is_reached: impl AsyncFnMut() -> bool) {
    for _ in 0..LOOKS_MAX {
        if is_reached().await {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("never came: {what}");
}

/// Lets everything else go on until the instance has this status.
pub async fn until_status(runtime: &Runtime, id: &str, status: Status) -> InstanceStatus {
    let mut last = None;
    until(&format!("{id} is {status}"), async || {
        let now = runtime.status(id).await.expect("the instance can be looked at");
        let is_reached = now.status == status;
        last = Some(now);
        is_reached
    })
    .await;
    last.expect("it was looked at")
}
