//! A process is killed while instances run and many more are parked. How long until every one that ran moves again.
//!
//! The process is this program, started again with words that nobody types. It ends when its standard input does, so that
//! it does not outlive a benchmark that is stopped.

use super::{STAYS, at_once, open};
use crate::suite::Fault;
use crate::suite::arguments::{Arguments, StoreKind};
use crate::suite::bed::{Bed, Counted};
use crate::suite::meter::once;
use crate::suite::parking::{Template, fill, introduce};
use crate::suite::report::{Goal, Report, Reports, Round};
use crate::suite::watch::{Marks, Watch};
use crate::suite::workflows::{interrupted, waits};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use steadfast::store::Store;

const CHILD: &str = "--run-until-killed";
/// What the child says when every body runs.
const READY: &str = "ready";

pub(super) async fn recovery(arguments: &Arguments) -> Result<Reports, Fault> {
    if arguments.store == StoreKind::Memory {
        eprintln!("recovery: left out, for a store in memory dies with its process");
        return Ok(Reports::default());
    }
    let mut reports = Reports::default();
    let usual = arguments.usual(1_000, 20);
    for parked in arguments.sizes(&[100_000], &[200]) {
        for running in arguments.in_flight(&[usual]) {
            let mut rounds = Vec::new();
            for _ in 0..arguments.rounds() {
                rounds.push(round(arguments, running, parked).await?);
            }
            reports.push(Report {
                case: "recovery",
                aspect: "",
                setting: ("parked", parked),
                store: arguments.store.name(),
                unit: "running instance",
                wait: "from the open store until its body begins",
                goals: vec![Goal::at_most("seconds to the last", 1.0)],
                rounds,
            });
        }
    }
    Ok(reports)
}

async fn round(arguments: &Arguments, running: usize, parked: u64) -> Result<Round, Fault> {
    let bed = Bed::new(arguments.store)?;
    introduce(&bed).await?;
    let template = Template::of(waits, 0).await?;
    let store = bed.open()?;
    fill(&store, &[&template], parked)?;
    store.close()?;
    let folder = bed.path().ok_or("the store is not on disk")?;
    killed(folder, running)?;

    let (store, opened) = once(async { bed.open() }).await?;
    let (watch, mut marks) = Watch::new(false);
    let mut runtime = None;
    let own = store
        .measure(async {
            let begun = Instant::now();
            runtime = Some(open(&store, &watch, STAYS).await?);
            let latencies = marked(&mut marks, running, begun).await?;
            Ok((running as u64, latencies))
        })
        .await?;
    if let Some(runtime) = runtime {
        runtime.shutdown(Duration::ZERO).await;
    }
    Ok(Round {
        ratios: vec![("time/store open", own.elapsed.as_secs_f64() / opened.each())],
        figures: vec![
            ("seconds to the last", own.elapsed.as_secs_f64()),
            ("store open, seconds", opened.each()),
            ("store_bytes", bed.bytes() as f64),
        ],
        references: vec![("store", opened)],
        own,
    })
}

/// Waits until so many bodies have begun, and gives how long after `begun` each did.
async fn marked(marks: &mut Marks, n: usize, begun: Instant) -> Result<Vec<Duration>, Fault> {
    let mut seen = vec![false; n];
    let mut latencies = Vec::new();
    while latencies.len() < n {
        let mark = marks.next().await?;
        let seen = seen.get_mut(mark.instance as usize).ok_or("an unknown instance")?;
        if !std::mem::replace(seen, true) {
            latencies.push(mark.at - begun);
        }
    }
    Ok(latencies)
}

/// Lets a child run instances over the store in this folder, and kills it (SIGKILL) while all of them run.
fn killed(folder: &Path, running: usize) -> Result<(), Fault> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg(CHILD)
        .arg(folder)
        .arg(running.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let ready = is_ready(&mut child);
    child.kill()?;
    child.wait()?;
    ready
}

fn is_ready(child: &mut Child) -> Result<(), Fault> {
    let output = child.stdout.take().ok_or("the child has no output")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    match line.trim() {
        READY => Ok(()),
        other => Err(format!("the child said `{other}` rather than `{READY}`").into()),
    }
}

/// If these are the words of the child: its life.
pub(crate) fn as_child(words: &[String]) -> Option<Result<(), Fault>> {
    match words {
        [word, folder, running] if word == CHILD => Some(child(Path::new(folder), running)),
        _ => None,
    }
}

fn child(folder: &Path, running: &str) -> Result<(), Fault> {
    let running = running.parse()?;
    let tokio = tokio::runtime::Runtime::new()?;
    let _runtime = tokio.block_on(async {
        let (watch, mut marks) = Watch::new(true);
        let runtime = open(&Counted::at(folder)?, &watch, STAYS).await?;
        let starting = runtime.clone();
        let one = move |number: u64| {
            let runtime = starting.clone();
            async move {
                runtime
                    .start(interrupted, number)
                    .id(format!("running-{number}"))
                    .await?;
                Ok(())
            }
        };
        at_once(running, running as u64, one).await?;
        marked(&mut marks, running, Instant::now()).await?;
        Ok::<_, Fault>(runtime)
    })?;
    println!("{READY}");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
