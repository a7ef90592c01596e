//! From sending a signal until the workflow has moved on: until the body behind its wait begins. The signal is durable
//! before it is handed over, and what it led to is durable before the body begins: two commits.

use super::{STAYS, open, raw};
use crate::suite::Fault;
use crate::suite::arguments::Arguments;
use crate::suite::bed::Bed;
use crate::suite::measured::Measured;
use crate::suite::reference;
use crate::suite::report::{Goal, Report, Reports, Round};
use crate::suite::watch::Watch;
use crate::suite::workflows::relay;
use std::time::{Duration, Instant};
use steadfast::Status;

pub(super) async fn signal(arguments: &Arguments) -> Result<Reports, Fault> {
    let mut reports = Reports::default();
    let n = arguments.amount(300, 20);
    for (aspect, park_after) in [("live", STAYS), ("parked", Duration::ZERO)] {
        let mut rounds = Vec::new();
        for _ in 0..arguments.rounds() {
            let raw = raw(arguments).await?;
            let store = reference::store(arguments.store, 1, 2 * n).await?;
            let own = signals(arguments, park_after, n).await?;
            rounds.push(Round {
                ratios: vec![
                    ("p50/2 commits", own.p50() / 2.0 / store.p50()),
                    ("p50/2 raw", own.p50() / 2.0 / raw.p50()),
                ],
                figures: vec![("p50 less 2 commits, us", own.p50() - 2.0 * store.p50())],
                references: vec![("store", store), ("raw", raw)],
                own,
            });
        }
        reports.push(Report {
            case: "signal",
            aspect,
            setting: ("in_flight", 1),
            store: arguments.store.name(),
            unit: "signal",
            wait: "until the next body begins",
            goals: vec![Goal::at_most("p50 less 2 commits, us", 100.0)],
            rounds,
        });
    }
    Ok(reports)
}

/// A fresh instance for each signal, so that none has a history. `elapsed` is the waits together, without starts and ends.
async fn signals(arguments: &Arguments, park_after: Duration, n: u64) -> Result<Measured, Fault> {
    let (watch, mut marks) = Watch::new(false);
    let bed = Bed::new(arguments.store)?;
    let store = bed.open()?;
    let runtime = open(&store, &watch, park_after).await?;
    let measured = store
        .measure(async {
            let mut latencies = Vec::new();
            for number in 0..n {
                let handle = runtime.start(relay, number).id(format!("instance-{number}")).await?;
                while handle.status().await?.status != Status::Waiting {
                    tokio::task::yield_now().await;
                }
                if park_after == Duration::ZERO {
                    // Before it is there a second time, for the signal.
                    watch.all_left(2 * number + 1).await?;
                }
                let sent = Instant::now();
                handle.signal("go", &()).await?;
                let mark = marks.next().await?;
                latencies.push(mark.at - sent);
                handle.result().await?;
            }
            Ok((n, latencies))
        })
        .await?;
    runtime.shutdown(Duration::ZERO).await;
    Ok(measured.of_waits_only())
}
