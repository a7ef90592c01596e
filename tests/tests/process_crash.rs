//! Real processes over real sled, ended by `SIGKILL`: at every commit, at random moments, and right after an answer.
//!
//! `STEADFAST_KILLS` is the number of random kills and of kills after an answer (default 200 and 100);
//! `STEADFAST_SEED` repeats a run.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::thread;
use steadfast::prelude::*;
use steadfast::store::{SledStore, Store as _};
use steadfast::testing::{Entropy as _, SeededEntropy};
use steadfast_tests::drive::process;
use steadfast_tests::fault::Moment;
use steadfast_tests::journal;
use steadfast_tests::ledger::{Line, read_lines};
use steadfast_tests::verify::Inspector;
use steadfast_tests::workload::gathers;
use tempfile::TempDir;

/// How many children run at once: as many as a small machine has cores.
const LANES: u64 = 2;

fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A child that is being made has, for a moment, this process's files and with them the lock of a store that is open here.
/// So none is made while one is.
static OPEN_HERE: RwLock<()> = RwLock::new(());

fn spawn(words: &[&str]) -> Child {
    let _none_is_open = OPEN_HERE.write().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new(env!("CARGO_BIN_EXE_crash_child"));
    command
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Looks at the store of a folder that no process has open.
fn look<T>(folder: &Path, at: impl FnOnce(&SledStore) -> T) -> T {
    let _open = OPEN_HERE.read().unwrap_or_else(PoisonError::into_inner);
    let store = SledStore::open(folder.join("store")).unwrap();
    let seen = at(&store);
    store.close().unwrap();
    seen
}

/// What became of a child: its lines, and its end.
struct Life {
    lines: Vec<String>,
    status: ExitStatus,
    complaint: String,
}

impl Life {
    fn was_killed(&self) -> bool {
        self.status.signal() == Some(9)
    }

    /// The results, by instance.
    fn results(&self) -> BTreeMap<String, String> {
        let results = self
            .lines
            .iter()
            .filter_map(|line| line.strip_prefix("result ")?.split_once(' '));
        results.map(|(id, result)| (id.to_owned(), result.to_owned())).collect()
    }
}

/// Lets a child live; `on_line` sees each of its lines.
fn live(mut child: Child, mut on_line: impl FnMut(usize, &mut Child)) -> Life {
    let mut lines = Vec::new();
    let output = child.stdout.take().unwrap();
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        lines.push(line);
        on_line(lines.len(), &mut child);
    }
    let output = child.wait_with_output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    Life {
        lines,
        status: output.status,
        complaint,
    }
}

fn run(words: &[&str]) -> Life {
    live(spawn(words), |_, _| {})
}

/// What a run that nothing disturbs gives.
struct Undisturbed {
    commits: u64,
    result: String,
    journal: Vec<String>,
}

fn undisturbed() -> Undisturbed {
    let folder = folder();
    let life = run(&["run", folder.path().to_str().unwrap(), "a"]);
    assert!(life.status.success(), "{}", life.complaint);
    let commits = life
        .lines
        .iter()
        .filter(|line| line.starts_with("commit ") && line.ends_with("Before"))
        .count();
    Undisturbed {
        commits: commits as u64 - 1,
        result: life.results()["a"].clone(),
        journal: look(folder.path(), |store| journal::comparable(&journal::lines(store, "a"))),
    }
}

/// Nobody has the store open: what is there must hold together.
fn inspect(inspector: &mut Inspector, folder: &Path, context: &str) {
    let ledger = read_lines(&folder.join("ledger"));
    let wrong = look(folder, |store| inspector.look(store, &ledger));
    assert!(wrong.is_empty(), "{context}: {wrong:#?}");
}

/// The end of all instances: the same as if nothing had happened.
fn check_end(folder: &Path, life: &Life, expected: &Undisturbed, context: &str) {
    assert!(life.status.success(), "{context}: {}", life.complaint);
    for (id, result) in life.results() {
        assert_eq!(result, expected.result, "{context}: {id}");
        let lines = look(folder, |store| journal::lines(store, &id));
        let difference = journal::difference(&lines, &expected.journal);
        assert_eq!(difference, None, "{context}: {id}\n{}", lines.join("\n"));
    }
    let once = |line: &&Line| matches!(line, Line::Began { step, .. } if step == "retries/once");
    let ledger = read_lines(&folder.join("ledger"));
    let instances = life.results().len();
    assert!(
        ledger.iter().filter(once).count() <= instances,
        "{context}: more than once"
    );
}

/// Works through jobs on as many threads as there are lanes.
fn in_lanes(jobs: u64, job: impl Fn(u64) + Sync) {
    let next = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= jobs {
                        return;
                    }
                    job(number);
                }
            });
        }
    });
}

#[test]
fn a_process_killed_before_or_after_any_commit_is_gone_on_with_by_the_next() {
    let expected = undisturbed();
    in_lanes(2 * (expected.commits + 1), |number| {
        let commit = (number / 2).to_string();
        let moment = if number % 2 == 0 { Moment::Before } else { Moment::After };
        let context = format!("killed {moment:?} commit {commit}");
        let folder = folder();
        let path = folder.path().to_str().unwrap();
        let moment = if moment == Moment::Before { "before" } else { "after" };
        let killed = run(&["run", path, "a", &commit, moment]);
        let mut inspector = Inspector::default();
        // Signals and turns share commits now and then, so the last number is not always reached.
        assert!(
            killed.was_killed() || killed.status.success(),
            "{context}: {}",
            killed.complaint
        );
        inspect(&mut inspector, folder.path(), &context);
        let finished = run(&["run", path, "a"]);
        check_end(folder.path(), &finished, &expected, &context);
        inspect(&mut inspector, folder.path(), &context);
    });
}

/// A number from the environment.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

#[test]
fn processes_killed_at_random_moments_finish_in_the_end() {
    let seed = setting("STEADFAST_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    let kills = setting("STEADFAST_KILLS").unwrap_or(200);
    println!("STEADFAST_SEED={seed} STEADFAST_KILLS={kills}");
    let expected = undisturbed();
    let done = AtomicU64::new(0);
    in_lanes(LANES, |lane| {
        let chance = SeededEntropy::new(seed.wrapping_add(lane));
        while done.load(Ordering::Relaxed) < kills {
            let folder = folder();
            kill_until_finished(folder.path(), &chance, &expected, &done, &format!("seed {seed}"));
        }
    });
}

/// Three instances in one process after the other, each killed soon after some line, until one gets to the end.
fn kill_until_finished(folder: &Path, chance: &SeededEntropy, expected: &Undisturbed, done: &AtomicU64, context: &str) {
    let mut inspector = Inspector::default();
    loop {
        let last_line = 1 + chance.draw() % 150;
        // A little later than the line, and not by the clock: somewhere in what the child does next.
        let later = chance.draw() % 200_000;
        let words = ["run", folder.to_str().unwrap(), "a,b,c"];
        let life = live(spawn(&words), |lines, child| {
            if lines as u64 == last_line {
                for _ in 0..later {
                    std::hint::spin_loop();
                }
                child.kill().unwrap();
            }
        });
        if !life.was_killed() {
            check_end(folder, &life, expected, context);
            return;
        }
        inspect(&mut inspector, folder, context);
        done.fetch_add(1, Ordering::Relaxed);
    }
}

/// The instance is there after every single one; at the end all of them do what they were asked to.
#[test]
fn what_was_answered_is_there_after_a_kill() {
    const SIGNALS: u32 = 5;
    let rounds = setting("STEADFAST_KILLS").unwrap_or(100);
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    let call = |words: &[&str]| {
        let life = run(words);
        assert!(life.was_killed(), "{words:?}: {}", life.complaint);
    };
    for round in 0..rounds {
        let id = format!("i{round}");
        call(&["start", path, &id, &SIGNALS.to_string()]);
        let found = look(folder.path(), |store| store.find(&id).unwrap());
        assert!(found.is_some(), "{id} was acknowledged");
        match round % 10 {
            // One of ten gets all its signals, each from a process of its own; one is cancelled.
            0 => (0..SIGNALS).for_each(|value| call(&["signal", path, &id, &value.to_string()])),
            1 => call(&["cancel", path, &id]),
            _ => {}
        }
    }
    let acknowledged = read_lines(&folder.path().join("ledger"));
    let starts = acknowledged
        .iter()
        .filter(|line| matches!(line, Line::Acknowledged(what) if what.starts_with("start ")));
    assert_eq!(starts.count() as u64, rounds);
    let _open = OPEN_HERE.read().unwrap_or_else(PoisonError::into_inner);
    process(async {
        let runtime = Runtime::builder()
            .workflow(gathers)
            .open(folder.path().join("store"))
            .await
            .unwrap();
        for round in 0..rounds {
            let handle = runtime.handle(gathers, &format!("i{round}")).await.unwrap();
            match round % 10 {
                0 => assert_eq!(handle.result().await.unwrap(), (0..SIGNALS).collect::<Vec<_>>()),
                1 => {
                    let result = handle.result().await;
                    assert!(
                        matches!(result, Err(steadfast::WorkflowError::Cancelled { .. })),
                        "{result:?}"
                    );
                }
                _ => assert!(!handle.status().await.unwrap().status.is_terminal()),
            }
        }
    });
}
