//! A crash just before and just after every commit of a workflow that uses every primitive, in memory: exhaustive, fast.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use steadfast::secs;
use steadfast::store::MemoryStore;
use steadfast_tests::drive::World;
use steadfast_tests::fault::{Faulty, Moment, failed};
use steadfast_tests::journal;
use steadfast_tests::ledger::Ledger;
use steadfast_tests::workload::{STUCK, Summary};

const ID: &str = "a";

/// What a run without a crash gives.
struct Undisturbed {
    commits: u64,
    result: Vec<Summary>,
    journal: Vec<String>,
}

fn undisturbed() -> Undisturbed {
    let data = MemoryStore::new();
    let world = World::new(Ledger::over(data.clone()));
    let count = Arc::new(AtomicU64::new(0));
    let last = Arc::clone(&count);
    let store = Faulty::new(data.clone(), move |number, _, _| {
        last.store(number, Ordering::SeqCst);
        Ok(())
    });
    let result = world.process(store, &[ID]).expect("nothing crashes it");
    let lines = journal::lines(&data, ID);
    assert_eq!(world.ledger.violations(), Vec::<String>::new());
    assert_eq!(journal::defects(&lines), Vec::<String>::new());
    Undisturbed {
        commits: count.load(Ordering::SeqCst),
        result,
        journal: journal::comparable(&lines),
    }
}

/// Where a process dies.
#[derive(Clone, Copy, Debug)]
struct Death {
    commit: u64,
    moment: Moment,
}

impl Death {
    /// The store that a process sees which dies there.
    fn store(self, data: &MemoryStore) -> Faulty<MemoryStore> {
        Faulty::new(data.clone(), move |number, moment, _| {
            let is_here = number == self.commit && moment == self.moment;
            if is_here { Err(failed()) } else { Ok(()) }
        })
    }
}

/// Lives through one process for each death, and through one that nothing ends; then checks everything.
fn dies_and_finishes(expected: &Undisturbed, park_after: Duration, deaths: &[Death]) {
    let data = MemoryStore::new();
    let mut world = World::new(Ledger::over(data.clone()));
    world.park_after = park_after;
    let mut finished = None;
    for death in deaths {
        let before = ended(&data);
        if let Ok(result) = world.process(death.store(&data), &[ID]) {
            finished = Some(result);
        }
        let after = ended(&data);
        assert!(
            before.is_subset(&after),
            "{deaths:?}: the journal lost {before:?} of {after:?}"
        );
        let returned = |step: &String| world.ledger.ended(ID, step) > 0 || is_stuck(step) || step == "retries/once";
        let unexplained: Vec<&String> = after.iter().filter(|step| !returned(step)).collect();
        assert!(
            unexplained.is_empty(),
            "{deaths:?}: recorded without a body that returned: {unexplained:?}"
        );
    }
    let result = finished.unwrap_or_else(|| world.process(data.clone(), &[ID]).expect("nothing crashes it"));
    let lines = journal::lines(&data, ID);
    let whole = lines.join("\n");
    assert_eq!(world.ledger.violations(), Vec::<String>::new(), "{deaths:?}\n{whole}");
    assert_eq!(journal::defects(&lines), Vec::<String>::new(), "{deaths:?}\n{whole}");
    assert_eq!(result, expected.result, "{deaths:?}\n{whole}");
    let difference = journal::difference(&lines, &expected.journal);
    assert_eq!(difference, None, "{deaths:?}\n{whole}");
    assert!(
        world.ledger.began(ID, "retries/once") <= 1,
        "{deaths:?}: at most once\n{whole}"
    );
    let interrupted = lines
        .iter()
        .filter(|line| line.contains(" was interrupted; attempt "))
        .count();
    // No more than three bodies run at once.
    assert!(
        interrupted <= 3 * deaths.len(),
        "{deaths:?}: {interrupted} interrupted attempts\n{whole}"
    );
}

fn ended(data: &MemoryStore) -> BTreeSet<String> {
    journal::ended_steps(&journal::lines(data, ID))
}

fn is_stuck(step: &str) -> bool {
    step.rsplit('/').next().is_some_and(|name| STUCK.contains(&name))
}

fn deaths(commits: u64) -> impl Iterator<Item = Death> {
    (0..=commits).flat_map(|commit| [Moment::Before, Moment::After].map(|moment| Death { commit, moment }))
}

/// Instances that stay in memory while they wait, and instances that leave it at once.
const PARKING: [Duration; 2] = [secs(1), Duration::ZERO];

#[test]
fn a_crash_before_or_after_any_commit_changes_nothing_that_counts() {
    let expected = undisturbed();
    for park_after in PARKING {
        for death in deaths(expected.commits) {
            dies_and_finishes(&expected, park_after, &[death]);
        }
    }
}

/// The second death comes while the first is being mended: at one of the first commits of the second process.
#[test]
fn a_crash_during_recovery_changes_nothing_that_counts() {
    let expected = undisturbed();
    for first in deaths(expected.commits) {
        for second in deaths(2) {
            dies_and_finishes(&expected, secs(1), &[first, second]);
        }
    }
}

/// A process that always dies after three commits gets there in the end.
#[test]
fn a_process_that_always_dies_soon_still_finishes() {
    let expected = undisturbed();
    for moment in [Moment::Before, Moment::After] {
        let death = Death { commit: 4, moment };
        let enough = vec![death; expected.commits as usize];
        dies_and_finishes(&expected, secs(1), &enough);
    }
}
