//! A parked instance is brought back to where it was, again and again: read, decoded and replayed. Nothing is written.

use super::open;
use crate::suite::Fault;
use crate::suite::arguments::Arguments;
use crate::suite::bed::{Bed, Counted};
use crate::suite::measured::Measured;
use crate::suite::meter::once;
use crate::suite::parking::{Template, fill, introduce};
use crate::suite::reference;
use crate::suite::report::{Goal, Report, Reports, Round};
use crate::suite::watch::Watch;
use crate::suite::workflows::recalled;
use std::time::{Duration, Instant};
use steadfast::store::Store;

/// What the journal holds beside its steps: the start.
const OTHER_EVENTS: u64 = 1;

pub(super) async fn replay(arguments: &Arguments) -> Result<Reports, Fault> {
    let mut reports = Reports::default();
    for events in arguments.sizes(&[1_000, 100_000], &[1_000]) {
        let times = if events > 10_000 { 3 } else { arguments.usual(30, 3) };
        reports.push(Report {
            case: "replay",
            aspect: "",
            setting: ("events", events),
            store: arguments.store.name(),
            unit: "event",
            wait: "replay",
            goals: vec![Goal::at_least("events/s", 1e6)],
            rounds: rounds(arguments, events, times).await?,
        });
    }
    Ok(reports)
}

async fn rounds(arguments: &Arguments, events: u64, times: u64) -> Result<Vec<Round>, Fault> {
    let template = Template::of(recalled, events.saturating_sub(OTHER_EVENTS)).await?;
    let bed = Bed::new(arguments.store)?;
    introduce(&bed).await?;
    let store = bed.open()?;
    fill(&store, &[&template], 1)?;
    store.close()?;
    let mut rounds = Vec::new();
    for _ in 0..arguments.rounds() {
        rounds.push(round(&bed.open()?, times).await?);
    }
    Ok(rounds)
}

async fn round(store: &Counted, times: u64) -> Result<Round, Fault> {
    let (stored, load) = once(async {
        let record = store.find(&Template::id(0))?.ok_or("the instance is not there")?;
        Ok(store.load(record.number)?.ok_or("the instance is not there")?)
    })
    .await?;
    let decode = reference::decode(&stored.batches)?;
    drop(stored);
    let own = replays(store, decode.n, times).await?;
    Ok(Round {
        ratios: vec![
            ("time/decode", own.each() / decode.each()),
            ("time/load", own.p50() / load.p50()),
        ],
        figures: vec![("events/s", own.rate())],
        references: vec![("decode", decode), ("load", load)],
        own,
    })
}

/// The time of a replay is that from asking for it until the code is behind the last recorded event.
async fn replays(store: &Counted, events: u64, times: u64) -> Result<Measured, Fault> {
    let (watch, mut marks) = Watch::new(false);
    let runtime = open(store, &watch, Duration::ZERO).await?;
    let measured = store
        .measure(async {
            let mut latencies = Vec::new();
            for number in 0..times {
                let asked = Instant::now();
                runtime.resume(&Template::id(0)).await?;
                let mark = marks.next().await?;
                latencies.push(mark.at - asked);
                watch.all_left(number + 1).await?;
            }
            Ok((events * times, latencies))
        })
        .await?;
    runtime.shutdown(Duration::ZERO).await;
    Ok(measured.of_waits_only())
}
