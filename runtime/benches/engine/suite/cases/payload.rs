//! Large results: the time from an acknowledged start to the result, which is one commit with the payload in it.

use super::{open_alone, run};
use crate::suite::Fault;
use crate::suite::arguments::Arguments;
use crate::suite::bed::Bed;
use crate::suite::measured::Measured;
use crate::suite::meter::{HeapPeak, heap_bytes, resident_bytes};
use crate::suite::reference;
use crate::suite::report::{Goal, Report, Reports, Round};
use crate::suite::workflows::payload as large;
use std::time::{Duration, Instant};

/// The limit, less the length that is stored with it.
pub(crate) const LARGEST_RESULT: u64 = (16 << 20) - 4;
/// Below, what the engine has in memory anyway, about a megabyte, is more than what it has of a result.
const JUDGED_FROM: u64 = 1 << 20;
/// What a process may have in memory of one result, each about as large as the result: the value that the step gave, its
/// encoding, the batch of the journal with it, the piece that is written, the value that the workflow gets.
const COPIES_MAX: f64 = 5.0;

pub(super) async fn payload(arguments: &Arguments) -> Result<Reports, Fault> {
    let mut reports = Reports::default();
    let sizes = [1 << 10, 64 << 10, 1 << 20, LARGEST_RESULT];
    for bytes in arguments.bytes(&sizes, &sizes[..2]) {
        let n = arguments.amount(((64 << 20) / bytes).clamp(5, 200), 5);
        let mut rounds = Vec::new();
        for _ in 0..arguments.rounds() {
            let overwrite = reference::overwrite(bytes as usize, n).await?;
            let append = reference::append(bytes as usize, n).await?;
            let (own, (heap, resident)) = results(arguments, bytes, n).await?;
            rounds.push(Round {
                ratios: vec![
                    ("p50/append", own.p50() / append.p50()),
                    ("p50/overwrite", own.p50() / overwrite.p50()),
                    ("append/overwrite", append.p50() / overwrite.p50()),
                ],
                figures: vec![
                    ("peak heap bytes/payload byte", heap / bytes as f64),
                    ("peak resident bytes/payload byte", resident / bytes as f64),
                ],
                references: vec![("append", append), ("overwrite", overwrite)],
                own,
            });
        }
        reports.push(Report {
            case: "payload",
            aspect: "",
            setting: ("bytes", bytes),
            store: arguments.store.name(),
            unit: "instance",
            wait: "from start to result",
            goals: goals(bytes),
            rounds,
        });
    }
    Ok(reports)
}

fn goals(bytes: u64) -> Vec<Goal> {
    let mut goals = vec![Goal::at_most("p50/append", 3.0)];
    if bytes >= JUDGED_FROM {
        goals.push(Goal::at_most("peak heap bytes/payload byte", COPIES_MAX).counted());
    }
    goals
}

/// One instance after another, and how far heap and resident memory rose above what they were before.
async fn results(arguments: &Arguments, bytes: u64, n: u64) -> Result<(Measured, (f64, f64)), Fault> {
    let bed = Bed::new(arguments.store)?;
    let store = bed.open()?;
    let runtime = open_alone(&store).await?;
    run(&runtime, large, "warm-up".to_owned(), 1).await?;
    let (heap, resident, peak) = (heap_bytes(), resident_bytes(), HeapPeak::watch());
    let measured = store
        .measure(async {
            let mut latencies = Vec::new();
            for number in 0..n {
                let handle = runtime.start(large, bytes).id(format!("instance-{number}")).await?;
                let acknowledged = Instant::now();
                handle.result().await?;
                latencies.push(acknowledged.elapsed());
            }
            Ok((n, latencies))
        })
        .await?;
    let memory = (peak.bytes() - heap, measured.peak_memory_bytes as f64 - resident);
    runtime.shutdown(Duration::ZERO).await;
    Ok((measured.of_waits_only(), memory))
}
