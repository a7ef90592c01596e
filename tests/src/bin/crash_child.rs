//! The process that the crash tests kill. It runs over a folder: `store/` and `ledger`, both of which outlive it.
//!
//! `run FOLDER IDS [COMMIT before|after]` brings instances to their ends, and kills itself at that commit.
//! `start FOLDER ID COUNT`, `signal FOLDER ID VALUE`, `cancel FOLDER ID` make one call, write down that it was answered,
//! and kill the process at once.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use steadfast::prelude::*;
use steadfast::store::{SledStore, Store};
use steadfast_tests::drive::{World, process};
use steadfast_tests::fault::{Faulty, Moment, kill_this_process};
use steadfast_tests::ledger::Ledger;
use steadfast_tests::workload::gathers;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["run", folder, ids] => run(Path::new(folder), ids, None),
        ["run", folder, ids, commit, moment] => {
            let moment = if moment == "before" {
                Moment::Before
            } else {
                Moment::After
            };
            run(
                Path::new(folder),
                ids,
                commit.parse().ok().map(|commit| (commit, moment)),
            )
        }
        [what, folder, id, ref rest @ ..] => call(what, Path::new(folder), id, rest.first().copied()),
        _ => Err("see the source for the arguments".into()),
    };
    if let Err(error) = done {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn open(folder: &Path) -> Result<(SledStore, Ledger), BoxError> {
    let ledger: PathBuf = folder.join("ledger");
    Ok((SledStore::open(folder.join("store"))?, Ledger::in_file(&ledger)))
}

fn run(folder: &Path, ids: &str, death: Option<(u64, Moment)>) -> Result<(), BoxError> {
    let (store, ledger) = open(folder)?;
    let world = World::new(ledger);
    // Time goes on where the last process left it.
    let records = store.list(None, usize::MAX)?;
    if let Some(last) = records.iter().map(|record| record.updated_at).max() {
        world.clock.set(last);
    }
    let store = Faulty::new(store, move |number, moment, _| {
        // The parent counts lines.
        writeln!(std::io::stdout(), "commit {number} {moment:?}").expect("the parent listens");
        if death == Some((number, moment)) {
            kill_this_process();
        }
        Ok(())
    });
    let ids: Vec<&str> = ids.split(',').collect();
    let results = world.process(store, &ids).map_err(|_| "the store failed")?;
    let violations = world.ledger.violations();
    if !violations.is_empty() {
        return Err(format!("{violations:#?}").into());
    }
    for (id, result) in ids.iter().zip(results) {
        println!("result {id} {}", result.comparable());
    }
    Ok(())
}

fn call(what: &str, folder: &Path, id: &str, value: Option<&str>) -> Result<(), BoxError> {
    let (store, ledger) = open(folder)?;
    let value: u32 = value.unwrap_or("0").parse()?;
    process(async {
        let runtime = Runtime::builder().workflow(gathers).store(store).start().await?;
        match what {
            "start" => {
                let handle = runtime.start(gathers, u64::from(value)).id(id).await?;
                assert!(handle.created(), "every id is used once");
            }
            "signal" => {
                runtime.signal(id, "go", &value).await?;
            }
            "cancel" => {
                runtime.cancel(id, "enough").await?;
            }
            other => return Err(format!("{other}?").into()),
        }
        ledger.acknowledge(&format!("{what} {id} {value}"));
        kill_this_process()
    })
}
