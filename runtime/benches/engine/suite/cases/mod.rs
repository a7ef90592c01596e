//! The cases, and what several of them do. `runtime/benches/README.md` says what each one is for.

mod fan_out;
mod long;
mod parked;
mod payload;
pub(crate) mod recovery;
mod replay;
mod short;
mod signal;
mod start;

pub(crate) use payload::LARGEST_RESULT;

use crate::suite::Fault;
use crate::suite::arguments::Arguments;
use crate::suite::bed::Counted;
use crate::suite::measured::Measured;
use crate::suite::reference;
use crate::suite::report::Reports;
use crate::suite::watch::Watch;
use crate::suite::workflows::{five, instant, interrupted, payload as large, recalled, relay, sequence, waits, wide};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use steadfast::{Runtime, Workflow};

type Case = fn(&Arguments) -> Pin<Box<dyn Future<Output = Result<Reports, Fault>> + '_>>;

pub(crate) const ALL: &[(&str, Case)] = &[
    ("short", |arguments| Box::pin(short::short(arguments))),
    ("latency", |arguments| Box::pin(short::latency(arguments))),
    ("long", |arguments| Box::pin(long::long(arguments))),
    ("fan-out", |arguments| Box::pin(fan_out::fan_out(arguments))),
    ("start", |arguments| Box::pin(start::start(arguments))),
    ("signal", |arguments| Box::pin(signal::signal(arguments))),
    ("parked", |arguments| Box::pin(parked::parked(arguments))),
    ("recovery", |arguments| Box::pin(recovery::recovery(arguments))),
    ("replay", |arguments| Box::pin(replay::replay(arguments))),
    ("payload", |arguments| Box::pin(payload::payload(arguments))),
];

/// How long a case waits that wants its instances to stay in memory.
const STAYS: Duration = Duration::from_secs(3_600);

/// `n` is what somebody asked for. That it leaves the setting out of reach is theirs to know.
fn say_if_too_few(case: &str, n: u64, in_flight: usize) {
    if n < in_flight as u64 {
        eprintln!("{case}: a round of {n} never has {in_flight} in flight");
    }
}

/// Raw writes of 4 KiB.
async fn raw(arguments: &Arguments) -> Result<Measured, Fault> {
    reference::overwrite(4096, arguments.amount(300, 20).clamp(20, 1_000)).await
}

/// An engine that knows every workflow, so that no two of them differ in what they find changed.
pub(crate) async fn open(store: &Counted, watch: &Arc<Watch>, park_after: Duration) -> Result<Runtime, Fault> {
    let builder = Runtime::builder()
        .workflow(five)
        .workflow(sequence)
        .workflow(wide)
        .workflow(instant)
        .workflow(recalled)
        .workflow(waits)
        .workflow(relay)
        .workflow(interrupted)
        .workflow(large)
        .state(Arc::clone(watch))
        .park_after(park_after);
    Ok(builder.store(store.clone()).start().await?)
}

/// An engine whose instances nobody watches.
async fn open_alone(store: &Counted) -> Result<Runtime, Fault> {
    let (watch, _) = Watch::new(false);
    open(store, &watch, STAYS).await
}

/// Runs an instance from its start to its end.
async fn run<W: Workflow<Input = u64> + Copy>(
    runtime: &Runtime,
    workflow: W,
    id: String,
    input: u64,
) -> Result<(), Fault> {
    let handle = runtime.start(workflow, input).id(id).await?;
    handle.result().await?;
    Ok(())
}

/// Lets `in_flight` tasks do `one`, `n` times in all; gives how long each took.
pub(crate) async fn at_once<F>(
    in_flight: usize,
    n: u64,
    one: impl Fn(u64) -> F + Send + Sync + 'static,
) -> Result<Vec<Duration>, Fault>
where
    F: Future<Output = Result<(), Fault>> + Send,
{
    let (next, one) = (Arc::new(AtomicU64::new(0)), Arc::new(one));
    let tasks: Vec<_> = (0..in_flight)
        .map(|_| {
            let (next, one) = (Arc::clone(&next), Arc::clone(&one));
            tokio::spawn(async move {
                let mut latencies = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= n {
                        return Ok::<_, Fault>(latencies);
                    }
                    let begun = Instant::now();
                    one(number).await?;
                    latencies.push(begun.elapsed());
                }
            })
        })
        .collect();
    let mut latencies = Vec::new();
    for task in tasks {
        latencies.extend(task.await??);
    }
    Ok(latencies)
}
