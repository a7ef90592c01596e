//! One instance with many steps in a row: whether a step costs more the more came before it.

use super::{open_alone, raw, run};
use crate::suite::Fault;
use crate::suite::arguments::Arguments;
use crate::suite::bed::Bed;
use crate::suite::measured::Measured;
use crate::suite::reference;
use crate::suite::report::{Goal, Report, Reports, Round};
use crate::suite::workflows::sequence;
use std::time::{Duration, Instant};

/// Commits of the reference; more of them say nothing new.
const COMMITS_MAX: u64 = 5_000;
/// An instance of more steps is measured once: a round takes minutes.
const ROUNDS_UP_TO: u64 = 10_000;

pub(super) async fn long(arguments: &Arguments) -> Result<Reports, Fault> {
    let mut reports = Reports::default();
    for steps in arguments.sizes(&[100, 1_000, 10_000, 100_000], &[100, 1_000]) {
        let mut rounds = Vec::new();
        let most = if steps > ROUNDS_UP_TO { 1 } else { usize::MAX };
        for _ in 0..arguments.rounds().min(most) {
            rounds.push(round(arguments, steps).await?);
        }
        reports.push(Report {
            case: "long",
            aspect: "",
            setting: ("steps", steps),
            store: arguments.store.name(),
            unit: "step",
            wait: "instance",
            goals: vec![Goal::at_most("step/step of 100", 1.2)],
            rounds,
        });
    }
    Ok(reports)
}

/// The short instances run before and after the long one: machines change while it runs.
async fn round(arguments: &Arguments, steps: u64) -> Result<Round, Fault> {
    let raw = raw(arguments).await?;
    let store = reference::store(arguments.store, 1, steps.min(COMMITS_MAX)).await?;
    // Enough of them that both sides of the ratio take a similar time.
    let instances = (steps / 200).clamp(3, 50);
    let before = sequences(arguments, 100, instances).await?;
    let own = sequences(arguments, steps, (1_000 / steps).max(1)).await?;
    let after = sequences(arguments, 100, instances).await?;
    let hundred = (before.each() + after.each()) / 2.0;
    Ok(Round {
        ratios: vec![
            ("step/step of 100", own.each() / hundred),
            ("step/commit", own.each() / store.each()),
        ],
        figures: Vec::new(),
        references: vec![("before", before), ("after", after), ("store", store), ("raw", raw)],
        own,
    })
}

async fn sequences(arguments: &Arguments, steps: u64, instances: u64) -> Result<Measured, Fault> {
    let bed = Bed::new(arguments.store)?;
    let store = bed.open()?;
    let runtime = open_alone(&store).await?;
    run(&runtime, sequence, "warm-up".to_owned(), 20).await?;
    let measured = store
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
