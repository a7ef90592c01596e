//! The cases. `runtime/benches/README.md` says what each one is for.

use crate::Fault;
use crate::arguments::Arguments;
use crate::bed::{Bed, Counted, Measured};
use crate::reference;
use crate::report::{Report, Round};
use crate::workflows::{Beginnings, FIVE, five, instant, payload, recalled, sequence, wide};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use steadfast::store::Store;
use steadfast::{InstanceNumber, Runtime, Status, Workflow};

type Case = fn(&Arguments) -> Pin<Box<dyn Future<Output = Result<Vec<Report>, Fault>> + '_>>;

pub(crate) const ALL: &[(&str, Case)] = &[
    ("short", |arguments| Box::pin(short(arguments))),
    ("latency", |arguments| Box::pin(latency(arguments))),
    ("long", |arguments| Box::pin(long(arguments))),
    ("fan-out", |arguments| Box::pin(fan_out(arguments))),
    ("start", |arguments| Box::pin(start(arguments))),
    ("replay", |arguments| Box::pin(replay(arguments))),
    ("payload", |arguments| Box::pin(large_results(arguments))),
];

/// How many raw writes of 4 KiB a reference is made of.
async fn raw(arguments: &Arguments) -> Result<Measured, Fault> {
    reference::raw(4096, arguments.amount(300, 20).clamp(20, 1_000)).await
}

async fn open(store: &Counted) -> Result<Runtime, Fault> {
    let builder = Runtime::builder()
        .workflow(five)
        .workflow(sequence)
        .workflow(wide)
        .workflow(instant)
        .workflow(payload);
    Ok(builder.store(store.clone()).start().await?)
}

/// Lets `in_flight` tasks do `one`, `n` times in all; gives how long each took.
async fn at_once<F>(
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

/// Instances of [`five`], `in_flight` at once, `n` in all. Some run before, so that threads and files are there.
async fn fives(arguments: &Arguments, in_flight: usize, n: u64) -> Result<Measured, Fault> {
    let bed = Bed::new(arguments.store)?;
    let runtime = open(&bed.store).await?;
    for warm_up in 0..20 {
        run(&runtime, five, format!("warm-up-{warm_up}"), warm_up).await?;
    }
    let shared = runtime.clone();
    let measured = bed
        .measure(async {
            let one = move |number: u64| {
                let runtime = shared.clone();
                async move { run(&runtime, five, format!("instance-{number}"), number).await }
            };
            Ok((n * FIVE, at_once(in_flight, n, one).await?))
        })
        .await;
    runtime.shutdown(Duration::ZERO).await;
    measured
}

/// The rate of steps with many instances at once.
async fn short(arguments: &Arguments) -> Result<Vec<Report>, Fault> {
    let mut reports = Vec::new();
    for in_flight in arguments.in_flight(&[1, 100, 1_000]) {
        let usual = if in_flight == 1 { 300 } else { 10_000 };
        let n = arguments.amount(usual, 50).max(in_flight.min(200) as u64);
        let mut rounds = Vec::new();
        for _ in 0..arguments.rounds() {
            let raw = raw(arguments).await?;
            let store = reference::store(arguments.store, in_flight, n * FIVE).await?;
            let pages = reference::pages(in_flight, n * FIVE).await?;
            let own = fives(arguments, in_flight, n).await?;
            let ratios = vec![
                ("steps/store", own.rate() / store.rate()),
                ("steps/pages", own.rate() / pages.rate()),
                (
                    "writes/store",
                    own.writes as f64 / own.elapsed.as_secs_f64() / store.rate(),
                ),
                ("steps/raw", own.rate() / raw.rate()),
            ];
            let references = vec![("store", store), ("pages", pages), ("raw", raw)];
            rounds.push(Round {
                own,
                references,
                ratios,
            });
        }
        reports.push(Report {
            case: "short",
            setting: ("in_flight", in_flight as u64),
            store: arguments.store.name(),
            unit: "step",
            wait: "instance",
            rounds,
        });
    }
    Ok(reports)
}

/// How long one instance takes when it is alone.
async fn latency(arguments: &Arguments) -> Result<Vec<Report>, Fault> {
    let n = arguments.amount(300, 20);
    let mut rounds = Vec::new();
    for _ in 0..arguments.rounds() {
        let raw = raw(arguments).await?;
        let store = reference::store(arguments.store, 1, n * FIVE).await?;
        let mut own = fives(arguments, 1, n).await?;
        own.n = n;
        let commits = (FIVE + 1) as f64;
        let ratios = vec![
            (
                "p50/6 store commits",
                own.percentile(0.5) / commits / store.percentile(0.5),
            ),
            ("p50/6 raw syncs", own.percentile(0.5) / commits / raw.percentile(0.5)),
        ];
        let references = vec![("store", store), ("raw", raw)];
        rounds.push(Round {
            own,
            references,
            ratios,
        });
    }
    Ok(vec![Report {
        case: "latency",
        setting: ("in_flight", 1),
        store: arguments.store.name(),
        unit: "instance",
        wait: "instance",
        rounds,
    }])
}

/// One instance with many steps: does a step cost more the more were before it?
async fn long(arguments: &Arguments) -> Result<Vec<Report>, Fault> {
    let mut reports = Vec::new();
    for steps in arguments.sizes(&[100, 1_000, 10_000], 2) {
        let mut rounds = Vec::new();
        for _ in 0..arguments.rounds() {
            let raw = raw(arguments).await?;
            let store = reference::store(arguments.store, 1, steps).await?;
            // Enough short runs that both sides of the ratio take a similar time.
            let hundred = sequences(arguments, 100, (steps / 100).clamp(5, 20)).await?;
            let own = sequences(arguments, steps, (1_000 / steps).max(1)).await?;
            let ratios = vec![
                ("step/step of 100", own.each() / hundred.each()),
                ("step/store", own.each() / store.each()),
            ];
            let references = vec![("hundred", hundred), ("store", store), ("raw", raw)];
            rounds.push(Round {
                own,
                references,
                ratios,
            });
        }
        reports.push(Report {
            case: "long",
            setting: ("steps", steps),
            store: arguments.store.name(),
            unit: "step",
            wait: "instance",
            rounds,
        });
    }
    Ok(reports)
}

async fn sequences(arguments: &Arguments, steps: u64, instances: u64) -> Result<Measured, Fault> {
    let bed = Bed::new(arguments.store)?;
    let runtime = open(&bed.store).await?;
    run(&runtime, sequence, "warm-up".to_owned(), 20).await?;
    let measured = bed
        .measure(async {
            let mut latencies = Vec::new();
            for number in 0..instances {
                let begun = Instant::now();
                run(&runtime, sequence, format!("instance-{number}"), steps).await?;
                latencies.push(begun.elapsed());
            }
            Ok((steps * instances, latencies))
        })
        .await;
    runtime.shutdown(Duration::ZERO).await;
    measured
}

/// One instance whose steps all run at once, beside plain tokio tasks and one bare commit for every 256 of them.
async fn fan_out(arguments: &Arguments) -> Result<Vec<Report>, Fault> {
    let mut reports = Vec::new();
    for steps in arguments.sizes(&[1_000, 10_000], 1) {
        let mut rounds = Vec::new();
        for _ in 0..arguments.rounds() {
            let tasks = plain_tasks(arguments, steps).await?;
            let bed = Bed::new(arguments.store)?;
            let runtime = open(&bed.store).await?;
            run(&runtime, wide, "warm-up".to_owned(), 100).await?;
            let own = bed
                .measure(async {
                    let begun = Instant::now();
                    run(&runtime, wide, "instance".to_owned(), steps).await?;
                    Ok((steps, vec![begun.elapsed()]))
                })
                .await?;
            runtime.shutdown(Duration::ZERO).await;
            let ratios = vec![("time/plain tasks", own.each() / tasks.each())];
            let references = vec![("tasks", tasks)];
            rounds.push(Round {
                own,
                references,
                ratios,
            });
        }
        reports.push(Report {
            case: "fan-out",
            setting: ("steps", steps),
            store: arguments.store.name(),
            unit: "step",
            wait: "instance",
            rounds,
        });
    }
    Ok(reports)
}

async fn plain_tasks(arguments: &Arguments, n: u64) -> Result<Measured, Fault> {
    let begun = Instant::now();
    let tasks: Vec<_> = (0..n).map(|_| tokio::spawn(async { vec![7_u8; 100] })).collect();
    for task in tasks {
        task.await?;
    }
    let spawned = begun.elapsed();
    let commits = reference::store(arguments.store, 256, n).await?;
    Ok(Measured::new(n, spawned + commits.elapsed, Vec::new()))
}

/// Calls of `start`. The instances end at once, and their ends are part of the load.
async fn start(arguments: &Arguments) -> Result<Vec<Report>, Fault> {
    let mut reports = Vec::new();
    for in_flight in arguments.in_flight(&[1, 32]) {
        let usual = if in_flight == 1 { 1_000 } else { 20_000 };
        let n = arguments.amount(usual, 100);
        let mut rounds = Vec::new();
        for _ in 0..arguments.rounds() {
            let raw = raw(arguments).await?;
            let store = reference::starts(arguments.store, in_flight, n).await?;
            let bed = Bed::new(arguments.store)?;
            let runtime = open(&bed.store).await?;
            run(&runtime, instant, "warm-up".to_owned(), 0).await?;
            let shared = runtime.clone();
            let one = move |number: u64| {
                let runtime = shared.clone();
                async move {
                    runtime.start(instant, number).id(format!("instance-{number}")).await?;
                    Ok(())
                }
            };
            let own = bed
                .measure(async { Ok((n, at_once(in_flight, n, one).await?)) })
                .await?;
            runtime.shutdown(Duration::ZERO).await;
            let ratios = vec![
                ("rate/store", own.rate() / store.rate()),
                ("p99/store p50", own.percentile(0.99) / store.percentile(0.5)),
            ];
            let references = vec![("store", store), ("raw", raw)];
            rounds.push(Round {
                own,
                references,
                ratios,
            });
        }
        reports.push(Report {
            case: "start",
            setting: ("in_flight", in_flight as u64),
            store: arguments.store.name(),
            unit: "start",
            wait: "start",
            rounds,
        });
    }
    Ok(reports)
}

/// A parked instance is sent the signal that it waits for: load, replay, and the last commit.
async fn replay(arguments: &Arguments) -> Result<Vec<Report>, Fault> {
    let mut reports = Vec::new();
    for steps in arguments.sizes(&[1_000, 10_000], 1) {
        let mut rounds = Vec::new();
        for _ in 0..arguments.rounds() {
            let (own, load) = replay_one(arguments, steps).await?;
            let ratios = vec![("time/load", own.each() / load.each())];
            let references = vec![("load", load)];
            rounds.push(Round {
                own,
                references,
                ratios,
            });
        }
        reports.push(Report {
            case: "replay",
            setting: ("events", steps),
            store: arguments.store.name(),
            unit: "event",
            wait: "instance",
            rounds,
        });
    }
    Ok(reports)
}

/// The replay, and the bare reading of the same journal.
async fn replay_one(arguments: &Arguments, steps: u64) -> Result<(Measured, Measured), Fault> {
    let bed = Bed::new(arguments.store)?;
    let beginnings = Arc::new(Beginnings::default());
    let builder = Runtime::builder().workflow(recalled).state(Arc::clone(&beginnings));
    let runtime = builder
        .park_after(Duration::ZERO)
        .store(bed.store.clone())
        .start()
        .await?;
    let handle = runtime.start(recalled, steps).id("instance").await?;
    while handle.status().await?.status != Status::Waiting {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // The status is known a moment before the instance has left memory.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let number = bed
        .store
        .find("instance")?
        .map_or(InstanceNumber(0), |record| record.number);
    let begun = Instant::now();
    let stored = bed.store.load(number)?.ok_or("the instance is not there")?;
    let load = Measured::new(stored.batches.len() as u64, begun.elapsed(), Vec::new());
    let own = bed
        .measure(async {
            let begun = Instant::now();
            handle.signal("go", &()).await?;
            handle.result().await?;
            Ok((steps, vec![begun.elapsed()]))
        })
        .await?;
    runtime.shutdown(Duration::ZERO).await;
    match beginnings.count() {
        2 => Ok((own, load)),
        count => Err(format!("the workflow began {count} times: it was not replayed once").into()),
    }
}

/// Steps with large results, one after another, beside raw writes of as many bytes.
async fn large_results(arguments: &Arguments) -> Result<Vec<Report>, Fault> {
    let mut reports = Vec::new();
    // The last one is the limit, less its own length.
    for bytes in arguments.sizes(&[1 << 10, 64 << 10, 1 << 20, (16 << 20) - 4], 2) {
        let n = arguments.amount((32 << 20) / bytes, 5).clamp(2, 200);
        let mut rounds = Vec::new();
        for _ in 0..arguments.rounds() {
            let raw = reference::raw(bytes as usize, n).await?;
            let bed = Bed::new(arguments.store)?;
            let runtime = open(&bed.store).await?;
            run(&runtime, payload, "warm-up".to_owned(), 1).await?;
            let shared = runtime.clone();
            let one = move |number: u64| {
                let runtime = shared.clone();
                async move { run(&runtime, payload, format!("instance-{number}"), bytes).await }
            };
            let own = bed.measure(async { Ok((n, at_once(1, n, one).await?)) }).await?;
            runtime.shutdown(Duration::ZERO).await;
            let ratios = vec![("p50/raw p50", own.percentile(0.5) / raw.percentile(0.5))];
            let references = vec![("raw", raw)];
            rounds.push(Round {
                own,
                references,
                ratios,
            });
        }
        reports.push(Report {
            case: "payload",
            setting: ("bytes", bytes),
            store: arguments.store.name(),
            unit: "instance",
            wait: "instance",
            rounds,
        });
    }
    Ok(reports)
}
