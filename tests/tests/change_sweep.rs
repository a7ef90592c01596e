//! A deploy of changed code after a crash at every commit of the old code, and a crash of the new code at every commit
//! after it: whatever an instance is told of a change, it is told again, and no effect of the new code is in the world
//! without its change in the journal.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use steadfast::prelude::*;
use steadfast::store::MemoryStore;
use steadfast::testing::{Clock as _, SeededEntropy, VirtualClock};
use steadfast::{StartError, Workflow, WorkflowError};
use steadfast_tests::drive::{Crashed, process};
use steadfast_tests::fault::{Faulty, Moment, failed};
use steadfast_tests::journal;

const ID: &str = "a";

/// How often an instance may be looked at without moving.
const LOOKS_MAX: u32 = 200_000;

/// Sees what bodies begin, and what is on disk then.
#[derive(Clone)]
struct Watch {
    data: MemoryStore,
    began: Arc<Mutex<Vec<&'static str>>>,
    wrong: Arc<Mutex<Vec<String>>>,
}

impl Watch {
    /// A body. `change` is the one that it is behind.
    async fn body(&self, step: &'static str, change: Option<&str>, value: u32) -> Result<u32, BoxError> {
        let lines = journal::lines(&self.data, ID);
        let is_recorded = |change: &str| lines.contains(&applies(change));
        if change.is_some_and(|change| !is_recorded(change)) {
            self.wrong
                .lock()
                .unwrap()
                .push(format!("{step} began before {change:?} was on disk: {lines:#?}"));
        }
        if journal::ended_steps(&lines).contains(step) {
            self.wrong
                .lock()
                .unwrap()
                .push(format!("{step} began again: {lines:#?}"));
        }
        self.began.lock().unwrap().push(step);
        tokio::task::yield_now().await;
        Ok(value)
    }

    fn has_begun(&self, step: &str) -> bool {
        self.began.lock().unwrap().contains(&step)
    }
}

fn applies(change: &str) -> String {
    format!("change `{change}` applies from here on")
}

/// Fails at first, so that it is found in its back-off too.
async fn packs(watch: &Watch) -> Result<u32, BoxError> {
    watch.body("pack", None, 0).await?;
    if watch
        .began
        .lock()
        .unwrap()
        .iter()
        .filter(|step| **step == "pack")
        .count()
        < 2
    {
        return Err("not yet".into());
    }
    Ok(0)
}

#[workflow(name = "swept")]
async fn old(watch: &Watch) -> Result<u32, BoxError> {
    let mut sum = step!("first", watch.body("first", None, 1)).await?;
    sum += step!("early", watch.body("early", None, 1)).await?;
    sleep!("nap", secs(10)).await;
    sum += step!("second", watch.body("second", None, 1)).await?;
    let (third, go) = join!(step!("third", watch.body("third", None, 1)), async {
        let go: Result<u32, Elapsed> = signal!("go").timeout(days(1)).await;
        go
    })
    .await;
    sum += third? + go.unwrap_or(0);
    sum += step!("replaced", watch.body("replaced", None, 1)).await?;
    step!("pack", packs(watch))
        .retry(Retry::fixed(secs(5)).max_attempts(3))
        .await?;
    sleep!("rest", secs(10)).await;
    let free: u32 = signal!("free").await;
    sum += step!("last", watch.body("last", None, free)).await?;
    Ok(sum)
}

/// Places of all kinds: behind a step, behind a sleep, in a branch, instead of a step, behind a wait without a trace.
#[workflow(name = "swept")]
async fn new(watch: &Watch) -> Result<u32, BoxError> {
    let mut sum = 0;
    if patched!("at the start") {
        sum += step!("begun", watch.body("begun", Some("at the start"), 10)).await?;
    }
    sum += step!("first", watch.body("first", None, 1)).await?;
    sum += if patched!("behind first") {
        step!("earlier", watch.body("earlier", Some("behind first"), 101)).await?
    } else {
        step!("early", watch.body("early", None, 1)).await?
    };
    sleep!("nap", secs(10)).await;
    if patched!("behind nap") {
        sum += 1_000;
        sleep!("another nap", secs(10)).await;
    }
    sum += step!("second", watch.body("second", None, 1)).await?;
    let (third, go) = join!(step!("third", watch.body("third", None, 1)), async {
        let go: Result<u32, Elapsed> = signal!("go").timeout(days(1)).await;
        if patched!("in a branch") {
            step!("branch", watch.body("branch", Some("in a branch"), 10_000)).await?;
            return Ok(10_000 + go.unwrap_or(0));
        }
        Ok::<u32, BoxError>(go.unwrap_or(0))
    },)
    .await;
    sum += third? + go?;
    sum += if patched!("instead") {
        step!("replacement", watch.body("replacement", Some("instead"), 100_001)).await?
    } else {
        step!("replaced", watch.body("replaced", None, 1)).await?
    };
    removed!("pack").await;
    removed!(sleep "rest").await;
    if patched!("before free") {
        sum += step!("aired", watch.body("aired", Some("before free"), 10_000_000)).await?;
    }
    let free: u32 = signal!("free").await;
    if patched!("behind free") {
        sum += step!("freed", watch.body("freed", Some("behind free"), 1_000_000)).await?;
    }
    sum += step!("last", watch.body("last", None, free)).await?;
    Ok(sum)
}

/// Items beside each other: some have been packed, some were being packed, some come later.
#[workflow(name = "fan")]
async fn old_fan(watch: &Watch) -> Result<u32, BoxError> {
    let shipped = map_concurrent(0..ITEMS, 2, |item| async move {
        step!("pack", watch.body("pack", None, 1)).key(item).await?;
        sleep!("dry", secs(10)).await;
        step!("ship", watch.body(SHIP[item], None, 1)).key(item).await
    })
    .await?;
    Ok(shipped.into_iter().sum())
}

#[workflow(name = "fan")]
async fn new_fan(watch: &Watch) -> Result<u32, BoxError> {
    let shipped = map_concurrent(0..ITEMS, 2, |item| async move {
        removed!("pack").key(item).await;
        let wrapped = patched!("wrapped");
        if wrapped {
            step!("wrap", watch.body(WRAP[item], Some("wrapped"), 1))
                .key(item)
                .await?;
        }
        sleep!("dry", secs(10)).await;
        step!("ship", watch.body(SHIP[item], None, 1 + u32::from(wrapped)))
            .key(item)
            .await
    })
    .await?;
    Ok(shipped.into_iter().sum())
}

const ITEMS: usize = 4;
const SHIP: [&str; ITEMS] = [
    "map[0]/{0}/ship(0)",
    "map[1]/{0}/ship(1)",
    "map[2]/{0}/ship(2)",
    "map[3]/{0}/ship(3)",
];
const WRAP: [&str; ITEMS] = [
    "map[0]/{0}/wrap(0)",
    "map[1]/{0}/wrap(1)",
    "map[2]/{0}/wrap(2)",
    "map[3]/{0}/wrap(3)",
];

/// What each change adds to the result.
const CHANGES: [(&str, u32); 7] = [
    ("at the start", 10),
    ("behind first", 100),
    ("behind nap", 1_000),
    ("in a branch", 10_000),
    ("instead", 100_000),
    ("behind free", 1_000_000),
    ("before free", 10_000_000),
];

/// What an instance gives that knows no change.
const OLD: u32 = 1 + 1 + 1 + 1 + 5 + 1 + 7;

/// What one gives that knows them all.
const NEW: u32 = OLD + 11_111_110;

#[derive(Clone)]
struct World {
    watch: Watch,
    clock: VirtualClock,
    park_after: Duration,
}

impl World {
    fn new(park_after: Duration) -> Self {
        let watch = Watch {
            data: MemoryStore::new(),
            began: Arc::default(),
            wrong: Arc::default(),
        };
        Self {
            watch,
            clock: VirtualClock::default(),
            park_after,
        }
    }

    /// One process with this code, which dies at a commit or brings the instance to its end.
    fn live<W: Workflow<Input = (), Output = u32>>(&self, code: W, death: Option<Death>) -> Result<u32, Crashed> {
        let counted = Arc::new(AtomicU64::new(0));
        self.counting(code, death, &counted)
    }

    fn counting<W: Workflow<Input = (), Output = u32>>(
        &self,
        code: W,
        death: Option<Death>,
        commits: &Arc<AtomicU64>,
    ) -> Result<u32, Crashed> {
        let last = Arc::clone(commits);
        let store = Faulty::new(self.watch.data.clone(), move |number, moment, _| {
            last.store(number, Ordering::SeqCst);
            match death {
                Some(death) if death.commit == number && death.moment == moment => Err(failed()),
                Some(_) | None => Ok(()),
            }
        });
        process(async {
            let runtime = Runtime::builder()
                .workflow(code)
                .state(self.watch.clone())
                .clock(self.clock.clone())
                .entropy(SeededEntropy::new(7))
                .park_after(self.park_after)
                .store(store);
            let runtime = runtime.start().await.map_err(|_| Crashed)?;
            self.drive(&runtime, code).await
        })
    }

    async fn drive<W: Workflow<Input = (), Output = u32>>(&self, runtime: &Runtime, code: W) -> Result<u32, Crashed> {
        let handle = match runtime.start(code, ()).id(ID).await {
            Ok(handle) => handle,
            Err(StartError::Runtime(_)) => return Err(Crashed),
            Err(error) => panic!("{error}"),
        };
        for (name, value) in [("go", 5u32), ("free", 7)] {
            let sent = runtime.signal(ID, name, &value).dedup_key(name).await;
            sent.map_err(|_| Crashed)?;
        }
        for _ in 0..LOOKS_MAX {
            let seen = runtime.status(ID).await.map_err(|_| Crashed)?;
            assert_eq!(seen.trouble, None, "{:#?}", self.lines());
            if seen.status.is_terminal() {
                return match handle.result().await {
                    Ok(result) => Ok(result),
                    Err(WorkflowError::Runtime(_)) => Err(Crashed),
                    Err(error) => panic!("{error}"),
                };
            }
            if seen.status == Status::Waiting
                && let Some(due) = self.clock.next_due()
            {
                self.clock.set(due.max(self.clock.now()));
            }
            tokio::task::yield_now().await;
        }
        panic!("nothing moves: {:#?}", self.lines());
    }

    fn lines(&self) -> Vec<String> {
        journal::lines(&self.watch.data, ID)
    }

    /// What must be true of an instance that has ended under the new code.
    fn check(&self, result: u32, how: &str) {
        let lines = self.lines();
        let wrong = self.watch.wrong.lock().unwrap().clone();
        assert_eq!(wrong, Vec::<String>::new(), "{how}");
        assert_eq!(journal::defects(&lines), Vec::<String>::new(), "{how}: {lines:#?}");
        let recorded = CHANGES.iter().filter(|(change, _)| lines.contains(&applies(change)));
        let expected = OLD + recorded.map(|(_, adds)| adds).sum::<u32>();
        let ended_under_old_code = journal::ended_steps(&lines).contains("pack") && result == OLD;
        assert!(
            result == expected || ended_under_old_code,
            "{how}: {result}, and {expected} is recorded: {lines:#?}"
        );
        for (before, after) in [("early", "earlier"), ("replaced", "replacement")] {
            let both = self.watch.has_begun(before) && self.watch.has_begun(after);
            assert!(!both, "{how}: {after} replaces {before}: {lines:#?}");
        }
    }
}

/// Where a process dies.
#[derive(Clone, Copy, Debug)]
struct Death {
    commit: u64,
    moment: Moment,
}

fn deaths(commits: u64) -> impl Iterator<Item = Death> {
    (0..=commits).flat_map(|commit| [Moment::Before, Moment::After].map(|moment| Death { commit, moment }))
}

fn commits_of<W: Workflow<Input = (), Output = u32>>(code: W, expected: u32) -> u64 {
    let (world, commits) = (World::new(secs(1)), Arc::default());
    let result = world.counting(code, None, &commits).expect("nothing crashes it");
    assert_eq!(result, expected);
    world.check(result, "undisturbed");
    commits.load(Ordering::SeqCst)
}

/// Instances that stay in memory while they wait, and instances that leave it at once.
const PARKING: [Duration; 2] = [secs(1), Duration::ZERO];

#[test]
fn a_deploy_after_a_crash_at_any_commit_and_a_crash_at_any_commit_after_it_tell_one_story() {
    let (before, after) = (commits_of(old, OLD), commits_of(new, NEW));
    let mut results = BTreeSet::new();
    for park_after in PARKING {
        for first in deaths(before) {
            for second in deaths(after) {
                let world = World::new(park_after);
                let _ = world.live(old, Some(first));
                let how = format!("{first:?}, then {second:?}, parked after {park_after:?}");
                let _ = world.live(new, Some(second));
                let result = world.live(new, None).expect("nothing crashes it");
                world.check(result, &how);
                assert_eq!(world.live(new, None).expect("it has ended"), result, "{how}");
                results.insert(result);
            }
        }
    }
    assert!(
        results.len() > 4,
        "instances stood before each of the changes: {results:?}"
    );
}

#[test]
fn an_instance_that_was_started_under_the_new_code_gives_the_same_after_a_crash_at_any_commit() {
    let expected = NEW;
    let commits = commits_of(new, expected);
    for park_after in PARKING {
        for first in deaths(commits) {
            for second in deaths(3) {
                let world = World::new(park_after);
                let _ = world.live(new, Some(first));
                let _ = world.live(new, Some(second));
                let result = world.live(new, None).expect("nothing crashes it");
                let how = format!("{first:?}, then {second:?}, parked after {park_after:?}");
                assert_eq!(result, expected, "{how}: {:#?}", world.lines());
                world.check(result, &how);
            }
        }
    }
}

#[test]
fn a_fan_out_from_which_a_step_was_removed_goes_on_wherever_its_items_were() {
    let count = |commits: &Arc<AtomicU64>| commits.load(Ordering::SeqCst);
    let (before, after) = (Arc::default(), Arc::default());
    World::new(secs(1))
        .counting(old_fan, None, &before)
        .expect("nothing crashes it");
    World::new(secs(1))
        .counting(new_fan, None, &after)
        .expect("nothing crashes it");
    let mut results = BTreeSet::new();
    for park_after in PARKING {
        for first in deaths(count(&before)) {
            for second in deaths(count(&after)) {
                let world = World::new(park_after);
                let _ = world.live(old_fan, Some(first));
                let _ = world.live(new_fan, Some(second));
                let result = world.live(new_fan, None).expect("nothing crashes it");
                let (how, lines) = (
                    format!("{first:?}, then {second:?}, parked after {park_after:?}"),
                    world.lines(),
                );
                assert_eq!(*world.watch.wrong.lock().unwrap(), Vec::<String>::new(), "{how}");
                assert_eq!(journal::defects(&lines), Vec::<String>::new(), "{how}: {lines:#?}");
                results.insert(result);
            }
        }
    }
    assert_eq!(
        results,
        BTreeSet::from([ITEMS as u32, 2 * ITEMS as u32]),
        "all items are told the same"
    );
}
