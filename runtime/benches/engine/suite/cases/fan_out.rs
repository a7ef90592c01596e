//! One instance whose steps all run at once, beside plain tokio tasks and one bare group commit for every 256 of them.

use super::{open_alone, run};
use crate::suite::Fault;
use crate::suite::arguments::Arguments;
use crate::suite::bed::Bed;
use crate::suite::measured::Measured;
use crate::suite::meter::Meter;
use crate::suite::reference;
use crate::suite::report::{Goal, Report, Reports, Round};
use crate::suite::workflows::wide;
use std::time::{Duration, Instant};

/// How many records a commit of the reference takes.
const GROUP: usize = 256;

pub(super) async fn fan_out(arguments: &Arguments) -> Result<Reports, Fault> {
    let mut reports = Reports::default();
    for steps in arguments.sizes(&[1_000, 10_000], &[1_000]) {
        let mut rounds = Vec::new();
        for _ in 0..arguments.rounds() {
            let tasks = plain_tasks(steps).await?;
            let commits = reference::full_groups(GROUP, steps).await?;
            let own = fan(arguments, steps).await?;
            rounds.push(Round {
                ratios: vec![("time/tasks and commits", own.each() / (tasks.each() + commits.each()))],
                figures: Vec::new(),
                references: vec![("tasks", tasks), ("commits", commits)],
                own,
            });
        }
        reports.push(Report {
            case: "fan-out",
            aspect: "",
            setting: ("steps", steps),
            store: arguments.store.name(),
            unit: "step",
            wait: "instance",
            goals: vec![Goal::at_most("time/tasks and commits", 2.0)],
            rounds,
        });
    }
    Ok(reports)
}

async fn fan(arguments: &Arguments, steps: u64) -> Result<Measured, Fault> {
    let bed = Bed::new(arguments.store)?;
    let store = bed.open()?;
    let runtime = open_alone(&store).await?;
    run(&runtime, wide, "warm-up".to_owned(), 100).await?;
    let measured = store
        .measure(async {
            let begun = Instant::now();
            run(&runtime, wide, "instance".to_owned(), steps).await?;
            Ok((steps, vec![begun.elapsed()]))
        })
        .await;
    runtime.shutdown(Duration::ZERO).await;
    measured
}

async fn plain_tasks(n: u64) -> Result<Measured, Fault> {
    let meter = Meter::start();
    let tasks: Vec<_> = (0..n).map(|_| tokio::spawn(async { vec![7_u8; 100] })).collect();
    for task in tasks {
        task.await?;
    }
    Ok(meter.stop(n, Vec::new()))
}
