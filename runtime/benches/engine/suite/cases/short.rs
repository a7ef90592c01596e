//! Short workflows: how many steps a second, many at once; how long one takes alone.

use super::{at_once, open_alone, raw, run, say_if_too_few};
use crate::suite::Fault;
use crate::suite::arguments::Arguments;
use crate::suite::bed::Bed;
use crate::suite::measured::Measured;
use crate::suite::reference;
use crate::suite::report::{Goal, Report, Reports, Round};
use crate::suite::workflows::{FIVE, five};
use std::time::Duration;

/// The flushes of an instance that runs alone: its start, and each of its steps.
const FLUSHES: f64 = (FIVE + 1) as f64;

/// Instances of [`five`], `in_flight` at once, `n` in all. Some run before, so that threads and files are there.
pub(super) async fn fives(arguments: &Arguments, in_flight: usize, n: u64) -> Result<Measured, Fault> {
    let bed = Bed::new(arguments.store)?;
    let store = bed.open()?;
    let runtime = open_alone(&store).await?;
    for warm_up in 0..20 {
        run(&runtime, five, format!("warm-up-{warm_up}"), warm_up).await?;
    }
    let shared = runtime.clone();
    let measured = store
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
pub(super) async fn short(arguments: &Arguments) -> Result<Reports, Fault> {
    let mut reports = Reports::default();
    let usual = arguments.usual(&[1, 100, 1_000, 10_000][..], &[1, 100]);
    for in_flight in arguments.in_flight(usual) {
        let usual = match in_flight {
            1 => 300,
            2..5_000 => 10_000,
            _ => 30_000,
        };
        let n = arguments.amount(usual, (in_flight as u64).clamp(50, 200));
        say_if_too_few("short", n, in_flight);
        let mut rounds = Vec::new();
        for _ in 0..arguments.rounds() {
            rounds.push(short_round(arguments, in_flight, n).await?);
        }
        reports.push(Report {
            case: "short",
            aspect: "",
            setting: ("in_flight", in_flight as u64),
            store: arguments.store.name(),
            unit: "step",
            wait: "instance",
            goals: match in_flight {
                1 => vec![Goal::at_most("flush time/pages", 1.15)],
                2..1_000 => vec![Goal::at_least("steps/pages", 0.5)],
                _ => vec![Goal::at_least("steps/pages", 0.35)],
            },
            rounds,
        });
    }
    Ok(reports)
}

async fn short_round(arguments: &Arguments, in_flight: usize, n: u64) -> Result<Round, Fault> {
    let raw = raw(arguments).await?;
    let store = reference::store(arguments.store, in_flight, n * FIVE).await?;
    let pages = reference::pages(in_flight, n * FIVE).await?;
    let own = fives(arguments, in_flight, n).await?;
    let writes = own.writes as f64 / own.elapsed.as_secs_f64();
    let mut ratios = vec![
        ("steps/pages", own.rate() / pages.rate()),
        ("steps/store", own.rate() / store.rate()),
        ("writes/store", writes / store.rate()),
        ("steps/raw", own.rate() / raw.rate()),
    ];
    if in_flight == 1 {
        let flush = own.elapsed.as_secs_f64() / own.flushes as f64;
        ratios.insert(0, ("flush time/pages", flush / pages.each()));
        ratios.push(("step time/pages", own.each() / pages.each()));
    }
    Ok(Round {
        own,
        references: vec![("pages", pages), ("store", store), ("raw", raw)],
        ratios,
        figures: Vec::new(),
    })
}

/// How long one instance takes when it is alone.
pub(super) async fn latency(arguments: &Arguments) -> Result<Reports, Fault> {
    let n = arguments.amount(300, 20);
    let mut rounds = Vec::new();
    for _ in 0..arguments.rounds() {
        let raw = raw(arguments).await?;
        let store = reference::store(arguments.store, 1, n * FIVE).await?;
        let mut own = fives(arguments, 1, n).await?;
        own.n = n;
        rounds.push(Round {
            ratios: vec![
                ("p50/6 commits", own.p50() / FLUSHES / store.p50()),
                ("p50/6 raw", own.p50() / FLUSHES / raw.p50()),
            ],
            figures: vec![("p50 less 6 commits, us", own.p50() - FLUSHES * store.p50())],
            references: vec![("store", store), ("raw", raw)],
            own,
        });
    }
    let mut reports = Reports::default();
    reports.push(Report {
        case: "latency",
        aspect: "",
        setting: ("in_flight", 1),
        store: arguments.store.name(),
        unit: "instance",
        wait: "instance",
        goals: vec![Goal::at_most("p50 less 6 commits, us", 100.0)],
        rounds,
    });
    Ok(reports)
}
