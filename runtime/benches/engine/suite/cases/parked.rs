//! Instances that wait and are not in memory: what each of them costs in memory, whether an engine over them is idle,
//! how long it takes to open, and how fast 10,000 of them wake at one instant.

use super::short::fives;
use super::{at_once, open};
use crate::suite::Fault;
use crate::suite::arguments::Arguments;
use crate::suite::bed::Bed;
use crate::suite::measured::Measured;
use crate::suite::meter::{cpu_time, heap_bytes, once, resident_bytes};
use crate::suite::parking::{Template, fill, introduce};
use crate::suite::report::{Goal, Report, Reports, Round};
use crate::suite::watch::Watch;
use crate::suite::workflows::waits;
use std::time::{Duration, Instant, SystemTime};
use steadfast::store::Store;
use steadfast::{Runtime, Timestamp, days};

/// How many wake at one instant.
const WOKEN: u64 = 10_000;
/// How many tasks start them, and how many instances run at once in the `short` that waking is compared with.
const IN_FLIGHT: usize = 1_000;
/// Threads that were needed a moment ago end, and pages are written back.
const SETTLE: Duration = Duration::from_millis(300);

pub(super) async fn parked(arguments: &Arguments) -> Result<Reports, Fault> {
    let mut reports = Reports::default();
    for n in arguments.sizes(&[10_000, 100_000, 1_000_000], &[300]) {
        let report = |aspect, unit, wait, goals, rounds| Report {
            case: "parked",
            aspect,
            setting: ("parked", n),
            store: arguments.store.name(),
            unit,
            wait,
            goals,
            rounds,
        };
        let bed = Bed::new(arguments.store)?;
        introduce(&bed).await?;
        // Two stores that grew are too far apart to judge by. What the engine keeps is judged where it is opened.
        let memory = memory(arguments, &bed, n).await?;
        reports.push(report("memory", "parked instance", "", Vec::new(), vec![memory]));
        let goals = vec![
            Goal::at_most("open/store open", 1.2),
            Goal::at_most("open/empty engine open", 1.2),
            Goal::at_most("heap bytes each", 64.0)
                .counted()
                .between("heap bytes each, lowest", "heap bytes each, highest"),
        ];
        let opens = opens(arguments, &bed, n).await?;
        reports.push(report("open", "open", "open", goals, vec![opens]));
        let goal = vec![Goal::at_most("cpu/empty engine's cpu", 1.1)];
        let idle = idle(arguments, &bed).await?;
        reports.push(report("idle", "window", "", goal, vec![idle]));
        let goal = vec![Goal::at_least("woken/short steps", 0.5)];
        let wakes = wakes(arguments, &bed, n).await?;
        reports.push(report("wake", "instance", "from the instant to the end", goal, wakes));
    }
    Ok(reports)
}

/// An instant this far away, in microseconds since 1970.
fn instant_in(time: Duration) -> u64 {
    (Timestamp::from(SystemTime::now()) + time).as_micros()
}

/// Half of the instances sleep, half wait for a signal.
fn input(number: u64, far: u64) -> u64 {
    if number.is_multiple_of(2) { far } else { 0 }
}

/// Lets an engine start instances until `n` are parked, and a bare store take the same rows. What the engine keeps of
/// them is how much further its heap has grown.
async fn memory(arguments: &Arguments, bed: &Bed, n: u64) -> Result<Round, Fault> {
    let far = instant_in(days(30));
    let (bare, (bare_heap, bare_resident)) = bare(arguments, far, n).await?;
    let (watch, _marks) = Watch::new(false);
    let store = bed.open()?;
    let runtime = open(&store, &watch, Duration::ZERO).await?;
    let (heap, resident) = (heap_bytes(), resident_bytes());
    let in_flight = arguments.in_flight(&[IN_FLIGHT])[0];
    let starting = runtime.clone();
    let one = move |number: u64| {
        let runtime = starting.clone();
        async move {
            runtime
                .start(waits, input(number, far))
                .id(Template::id(number))
                .await?;
            Ok(())
        }
    };
    let own = store
        .measure(async {
            // How long each start took is told by `start`, and would be in memory.
            at_once(in_flight, n, one).await?;
            watch.all_left(n).await?;
            Ok((n, Vec::new()))
        })
        .await?;
    tokio::time::sleep(SETTLE).await;
    let (heap, resident) = (heap_bytes() - heap, resident_bytes() - resident);
    runtime.shutdown(Duration::ZERO).await;
    let each = |bytes: f64| bytes / n as f64;
    Ok(Round {
        ratios: vec![
            ("resident/store's resident", resident / bare_resident),
            ("heap/store's heap", heap / bare_heap),
        ],
        figures: vec![
            ("heap bytes each", each(heap - bare_heap)),
            ("resident bytes each", each(resident - bare_resident)),
            ("heap_bytes", heap),
            ("store_heap_bytes", bare_heap),
            ("resident_bytes", resident),
            ("store_resident_bytes", bare_resident),
        ],
        references: vec![("store", bare)],
        own,
    })
}

/// The same instances, written without an engine, and how far heap and resident memory grew.
async fn bare(arguments: &Arguments, far: u64, n: u64) -> Result<(Measured, (f64, f64)), Fault> {
    let asleep = Template::of(waits, far).await?;
    let awaiting = Template::of(waits, 0).await?;
    let bed = Bed::new(arguments.store)?;
    introduce(&bed).await?;
    let store = bed.open()?;
    let (heap, resident) = (heap_bytes(), resident_bytes());
    let measured = store
        .measure(async {
            fill(&store, &[&asleep, &awaiting], n)?;
            Ok((n, Vec::new()))
        })
        .await?;
    tokio::time::sleep(SETTLE).await;
    let grown = (heap_bytes() - heap, resident_bytes() - resident);
    store.close()?;
    Ok((measured, grown))
}

/// Opens what was built again and again: an engine, the bare store, and an engine over an empty store.
async fn opens(arguments: &Arguments, bed: &Bed, n: u64) -> Result<Round, Fault> {
    let empty = Bed::new(arguments.store)?;
    introduce(&empty).await?;
    // The first one finds the log as it was left; sled then writes a snapshot, which the others read.
    let (first, _) = store_open(bed).await?;
    let (mut own, mut store, mut empties) = (Vec::new(), Vec::new(), Vec::new());
    // What is left is what the engine has of the parked ones.
    let mut heaps = Vec::new();
    for _ in 0..arguments.usual(7, 1) {
        let (time, store_heap) = store_open(bed).await?;
        store.push(time);
        let (time, engine_heap) = engine_open(bed).await?;
        own.push(time);
        let (_, no_heap) = store_open(&empty).await?;
        let (time, empty_heap) = engine_open(&empty).await?;
        empties.push(time);
        heaps.push((engine_heap - store_heap) - (empty_heap - no_heap));
    }
    heaps.sort_by(f64::total_cmp);
    let heap = heaps[heaps.len() / 2];
    let each = |bytes: f64| bytes / n as f64;
    let own = Measured::together(own);
    let (store, empties) = (Measured::together(store), Measured::together(empties));
    Ok(Round {
        ratios: vec![
            ("open/store open", own.p50() / store.p50()),
            ("open/empty engine open", own.p50() / empties.p50()),
        ],
        figures: vec![
            ("first store open, ms", first.p50() / 1e3),
            ("heap bytes each", each(heap)),
            ("heap bytes each, lowest", each(heaps[0])),
            ("heap bytes each, highest", each(heaps[heaps.len() - 1])),
            ("engine_heap_bytes", heap),
            ("store_bytes", bed.bytes() as f64),
        ],
        references: vec![("store", store), ("empty", empties)],
        own,
    })
}

/// What it costs, and how much the heap grows by it.
async fn store_open(bed: &Bed) -> Result<(Measured, f64), Fault> {
    let heap = heap_bytes();
    let (store, time) = once(async { bed.open() }).await?;
    tokio::time::sleep(SETTLE).await;
    let grown = heap_bytes() - heap;
    store.close()?;
    Ok((time, grown))
}

async fn engine_open(bed: &Bed) -> Result<(Measured, f64), Fault> {
    let (watch, _marks) = Watch::new(false);
    let heap = heap_bytes();
    let (runtime, time) = once(async { open(&bed.open()?, &watch, Duration::ZERO).await }).await?;
    tokio::time::sleep(SETTLE).await;
    let grown = heap_bytes() - heap;
    runtime.shutdown(Duration::ZERO).await;
    Ok((time, grown))
}

/// What an engine computes while nothing happens, and one over an empty store.
async fn idle(arguments: &Arguments, bed: &Bed) -> Result<Round, Fault> {
    let empty = Bed::new(arguments.store)?;
    introduce(&empty).await?;
    let window = arguments.usual(Duration::from_secs(30), Duration::from_secs(1));
    // sled goes on for a moment after it was opened.
    let settle = arguments.usual(Duration::from_secs(3), SETTLE);
    let (reference, empty_cpu) = idle_window(&empty, settle, window).await?;
    let (own, cpu) = idle_window(bed, settle, window).await?;
    let milliseconds = |cpu: Duration| cpu.as_secs_f64() * 1e3 / window.as_secs_f64();
    Ok(Round {
        ratios: vec![("cpu/empty engine's cpu", milliseconds(cpu) / milliseconds(empty_cpu))],
        figures: vec![
            ("cpu ms/s", milliseconds(cpu)),
            ("empty engine's cpu ms/s", milliseconds(empty_cpu)),
        ],
        references: vec![("empty", reference)],
        own,
    })
}

async fn idle_window(bed: &Bed, settle: Duration, window: Duration) -> Result<(Measured, Duration), Fault> {
    let (watch, _marks) = Watch::new(false);
    let store = bed.open()?;
    let runtime = open(&store, &watch, Duration::ZERO).await?;
    tokio::time::sleep(settle).await;
    let mut cpu = Duration::ZERO;
    let measured = store
        .measure(async {
            let before = cpu_time();
            tokio::time::sleep(window).await;
            cpu = cpu_time() - before;
            Ok((1, Vec::new()))
        })
        .await;
    runtime.shutdown(Duration::ZERO).await;
    Ok((measured?, cpu))
}

/// Over all the others that go on waiting, some sleep until one instant.
async fn wakes(arguments: &Arguments, bed: &Bed, n: u64) -> Result<Vec<Round>, Fault> {
    let (watch, _marks) = Watch::new(false);
    let store = bed.open()?;
    let runtime = open(&store, &watch, Duration::ZERO).await?;
    let woken = n.min(WOKEN);
    let mut rounds = Vec::new();
    for round in 0..arguments.rounds() {
        let short = fives(arguments, IN_FLIGHT.min(woken as usize), woken).await?;
        let (due, handles) = asleep(&runtime, &watch, &format!("wake-{round}"), woken).await?;
        let mut own = store
            .measure(async {
                let mut ends = Vec::new();
                for handle in handles {
                    ends.push(tokio::spawn(async move {
                        handle.result().await?;
                        Ok::<_, Fault>(due.elapsed())
                    }));
                }
                let mut latencies = Vec::new();
                for end in ends {
                    latencies.push(end.await??);
                }
                Ok((woken, latencies))
            })
            .await?;
        own.elapsed = due.elapsed();
        rounds.push(Round {
            ratios: vec![("woken/short steps", own.rate() / short.rate())],
            figures: Vec::new(),
            references: vec![("short", short)],
            own,
        });
    }
    runtime.shutdown(Duration::ZERO).await;
    Ok(rounds)
}

type Sleepers = Vec<steadfast::Handle<waits>>;

/// Starts instances that sleep to one instant, and waits until all of them are parked. If that takes until the instant
/// itself, they end, and others get more time.
async fn asleep(runtime: &Runtime, watch: &Watch, name: &str, n: u64) -> Result<(Instant, Sleepers), Fault> {
    let mut time = Duration::from_secs(1) + Duration::from_micros(500 * n);
    for attempt in 0..6 {
        let entered = watch.entered();
        let (due, handles) = put_to_sleep(runtime, &format!("{name}-{attempt}"), n, time).await?;
        watch.until_left(entered + n).await?;
        if Instant::now() < due && watch.entered() == entered + n {
            return Ok((due, handles));
        }
        for handle in handles {
            handle.result().await?;
        }
        time *= 2;
    }
    Err("instances were not asleep before the instant at which they were to wake".into())
}

async fn put_to_sleep(runtime: &Runtime, name: &str, n: u64, time: Duration) -> Result<(Instant, Sleepers), Fault> {
    let (due, until) = (Instant::now() + time, instant_in(time));
    let starting: Vec<_> = (0..n)
        .map(|number| {
            let start = runtime.start(waits, until).id(format!("{name}-{number}"));
            tokio::spawn(start.into_future())
        })
        .collect();
    let mut handles = Vec::new();
    for started in starting {
        handles.push(started.await??);
    }
    Ok((due, handles))
}
