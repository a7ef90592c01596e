//! Calls of `start`, and `start_batch`. The instances end at once, and their ends are part of the load.

use super::{at_once, open_alone, raw, run, say_if_too_few};
use crate::suite::Fault;
use crate::suite::arguments::Arguments;
use crate::suite::bed::Bed;
use crate::suite::measured::Measured;
use crate::suite::reference;
use crate::suite::report::{Goal, Report, Reports, Round};
use crate::suite::workflows::instant;
use std::time::{Duration, Instant};

pub(super) async fn start(arguments: &Arguments) -> Result<Reports, Fault> {
    let mut reports = Reports::default();
    for in_flight in arguments.in_flight(arguments.usual(&[1, 32, 1_000], &[1, 32])) {
        let usual = match in_flight {
            1 => 1_000,
            2..100 => 20_000,
            _ => 50_000,
        };
        let n = arguments.amount(usual, 100);
        say_if_too_few("start", n, in_flight);
        let mut rounds = Vec::new();
        for _ in 0..arguments.rounds() {
            let raw = raw(arguments).await?;
            let pages = reference::pages(in_flight, n).await?;
            let store = reference::starts(arguments.store, in_flight, n).await?;
            let own = starts(arguments, in_flight, n).await?;
            let mut ratios = vec![
                ("starts/pages", own.rate() / pages.rate()),
                ("starts/store", own.rate() / store.rate()),
            ];
            if in_flight == 1 {
                ratios.insert(0, ("p99/commit p50", own.p99() / store.p50()));
                ratios.push(("p99/commit p99", own.p99() / store.p99()));
            }
            rounds.push(Round {
                own,
                references: vec![("pages", pages), ("store", store), ("raw", raw)],
                ratios,
                figures: Vec::new(),
            });
        }
        reports.push(Report {
            case: "start",
            aspect: "",
            setting: ("in_flight", in_flight as u64),
            store: arguments.store.name(),
            unit: "start",
            wait: "start",
            goals: match in_flight {
                1 => vec![Goal::at_most("p99/commit p50", 1.5)],
                _ => vec![Goal::at_least("starts/pages", 0.5)],
            },
            rounds,
        });
    }
    reports.push(batch(arguments).await?);
    Ok(reports)
}

/// All starts in one call, beside a bare committer with as many tasks as it takes records in a group.
async fn batch(arguments: &Arguments) -> Result<Report, Fault> {
    let n = arguments.amount(50_000, 500);
    let mut rounds = Vec::new();
    for _ in 0..arguments.rounds() {
        let pages = reference::pages(reference::GROUP_MAX, n).await?;
        let store = reference::starts(arguments.store, reference::GROUP_MAX, n).await?;
        let own = started_together(arguments, n).await?;
        rounds.push(Round {
            ratios: vec![
                ("starts/pages", own.rate() / pages.rate()),
                ("starts/store", own.rate() / store.rate()),
            ],
            figures: Vec::new(),
            references: vec![("pages", pages), ("store", store)],
            own,
        });
    }
    Ok(Report {
        case: "start",
        aspect: "batch",
        setting: ("instances", n),
        store: arguments.store.name(),
        unit: "start",
        wait: "batch",
        goals: vec![Goal::at_least("starts/pages", 0.5)],
        rounds,
    })
}

async fn started_together(arguments: &Arguments, n: u64) -> Result<Measured, Fault> {
    let bed = Bed::new(arguments.store)?;
    let store = bed.open()?;
    let runtime = open_alone(&store).await?;
    run(&runtime, instant, "warm-up".to_owned(), 0).await?;
    let measured = store
        .measure(async {
            let begun = Instant::now();
            let batch = runtime.start_batch(instant, 0..n);
            let answers = batch.ids(|number| format!("instance-{number}")).await;
            let latency = begun.elapsed();
            for answer in answers {
                answer?;
            }
            Ok((n, vec![latency]))
        })
        .await;
    runtime.shutdown(Duration::ZERO).await;
    measured
}

async fn starts(arguments: &Arguments, in_flight: usize, n: u64) -> Result<Measured, Fault> {
    let bed = Bed::new(arguments.store)?;
    let store = bed.open()?;
    let runtime = open_alone(&store).await?;
    run(&runtime, instant, "warm-up".to_owned(), 0).await?;
    let shared = runtime.clone();
    let one = move |number: u64| {
        let runtime = shared.clone();
        async move {
            runtime.start(instant, number).id(format!("instance-{number}")).await?;
            Ok(())
        }
    };
    let measured = store
        .measure(async { Ok((n, at_once(in_flight, n, one).await?)) })
        .await;
    runtime.shutdown(Duration::ZERO).await;
    measured
}
