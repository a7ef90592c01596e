//! Code that is changed while instances are in flight: `patched!`, `retired!`, `removed!`. Old and new code are workflows
//! of one stored name; a deploy is a restart with the other one. No instance here may diverge unless the test says so.

use steadfast::prelude::*;
use steadfast::store::{Store as _, Write};
use steadfast::testing::Clock as _;
use steadfast::{WaitingFor, Workflow, WorkflowError};
use steadfast_tests::{Ask, Gate, Ledger, World, until};

type Done = Result<u32, BoxError>;

/// The world, and what bodies can reach in it.
#[derive(Clone, Default)]
struct Place {
    world: World,
    ledger: Ledger,
    gate: Gate,
}

impl Place {
    /// Ends the process, if one runs, and begins one with this code.
    async fn deploy<W: Workflow>(&self, code: W) -> Runtime {
        let (ledger, gate) = (self.ledger.clone(), self.gate.clone());
        self.world
            .open(|runtime| runtime.workflow(code).state(ledger).state(gate))
            .await
    }

    /// An instance under old code, up to where `is_there` says that it is; then the process ends.
    async fn begin<W: Workflow<Input = ()>>(&self, old: W, is_there: impl AsyncFn(&Runtime) -> bool) {
        let runtime = self.deploy(old).await;
        runtime.start(old, ()).id("a").await.unwrap();
        until(async || is_there(&runtime).await).await;
    }

    /// What the instance gives under this code, with the bodies that it runs.
    async fn finish<W: Workflow<Output = u32>>(&self, code: W) -> (u32, Vec<String>) {
        let before = self.ledger.total();
        let runtime = self.deploy(code).await;
        let handle = runtime.handle(code, "a").await.unwrap();
        let result = tokio::select! {
            result = handle.result() => result.unwrap(),
            () = self.world.advance_until(async || false) => unreachable!(),
        };
        (result, self.ledger.entries().split_off(before))
    }

    /// Why the instance stops under this code.
    async fn trouble<W: Workflow>(&self, code: W) -> String {
        let before = self.ledger.total();
        let runtime = self.deploy(code).await;
        let _ = runtime.resume("a").await;
        let seen = runtime.until_status("a", Status::Quarantined).await;
        assert_eq!(self.ledger.total(), before, "no body ran");
        seen.trouble.expect("a quarantined instance says why")
    }
}

async fn rests(runtime: &Runtime) -> bool {
    runtime.ask("a").await.status == Status::Waiting
}

fn waits_for_go(wait: &WaitingFor) -> bool {
    matches!(wait, WaitingFor::Signal { name, .. } if name == "go")
}

/// `a`, a sleep, `b`.
#[workflow(name = "sleeper")]
async fn sleeper(ledger: &Ledger) -> Done {
    step!("a", ledger.work("a", ())).await?;
    sleep!("nap", secs(10)).await;
    step!("b", ledger.work("b", 1)).await.map_err(Into::into)
}

/// A change before the sleep and one behind it.
#[workflow(name = "sleeper")]
async fn sleeper_patched(ledger: &Ledger) -> Done {
    step!("a", ledger.work("a", ())).await?;
    if patched!("early") {
        step!("early", ledger.work("early", ())).await?;
    }
    sleep!("nap", secs(10)).await;
    if patched!("late") {
        step!("late", ledger.work("late", ())).await?;
    }
    let early = patched!("early");
    step!("b", ledger.work("b", 1 + u32::from(early)))
        .await
        .map_err(Into::into)
}

#[tokio::test]
async fn a_sleeper_is_before_the_changes_that_it_is_past_and_after_those_it_comes_to() {
    let place = Place::default();
    place.begin(sleeper, rests).await;
    assert_eq!(
        place.finish(sleeper_patched).await,
        (1, vec!["late".to_owned(), "b".to_owned()])
    );
    let lines = place.deploy(sleeper_patched).await.lines("a").await;
    assert_eq!(
        lines.iter().filter(|line| line.contains("change `")).count(),
        1,
        "{lines:?}"
    );
    assert!(lines.contains(&"change `late` applies from here on".to_owned()));
}

#[tokio::test]
async fn an_instance_that_is_started_under_the_new_code_runs_all_of_it_after_restarts_too() {
    let place = Place::default();
    place.begin(sleeper_patched, rests).await;
    assert_eq!(place.ledger.entries(), ["a", "early"]);
    assert_eq!(
        place.finish(sleeper_patched).await,
        (2, vec!["late".to_owned(), "b".to_owned()])
    );
}

#[tokio::test]
async fn old_code_that_is_put_back_diverges_on_a_recorded_change_and_names_it() {
    let place = Place::default();
    place.begin(sleeper_patched, rests).await;
    let trouble = place.trouble(sleeper).await;
    for part in [
        "change `early` applies from here on",
        "sleep `nap`",
        "changing.rs:",
        "keep `patched!(\"early\")`",
    ] {
        assert!(trouble.contains(part), "{part} is not in {trouble}");
    }
    assert_eq!(place.finish(sleeper_patched).await.0, 2, "and the new code finishes it");
}

#[tokio::test]
async fn a_retired_change_goes_on_for_those_after_it_and_stops_those_before_it() {
    #[workflow(name = "sleeper")]
    async fn retired(ledger: &Ledger) -> Done {
        step!("a", ledger.work("a", ())).await?;
        retired!("early");
        step!("early", ledger.work("early", ())).await?;
        sleep!("nap", secs(10)).await;
        retired!("late");
        step!("late", ledger.work("late", ())).await?;
        step!("b", ledger.work("b", 2)).await.map_err(Into::into)
    }
    let after = Place::default();
    after.begin(sleeper_patched, rests).await;
    let finished = (2, vec!["late".to_owned(), "b".to_owned()]);
    assert_eq!(after.finish(retired).await, finished);

    let new = Place::default();
    new.begin(retired, rests).await;
    assert_eq!(new.finish(retired).await, finished);
    let lines = new.deploy(retired).await.lines("a").await;
    assert!(!lines.iter().any(|line| line.contains("change `")), "{lines:?}");

    let before = Place::default();
    before.begin(sleeper, rests).await;
    let trouble = before.trouble(retired).await;
    assert!(trouble.contains("sleep `nap` began"), "{trouble}");
    assert!(trouble.contains("step `early`"), "{trouble}");
}

/// A wait without a deadline leaves nothing in the journal, and nothing runs meanwhile: the instance stands at the change.
#[tokio::test]
async fn an_instance_that_waits_for_a_signal_right_behind_a_change_is_after_it() {
    #[workflow(name = "waiter")]
    async fn old(ledger: &Ledger) -> Done {
        step!("a", ledger.work("a", ())).await?;
        let go: u32 = signal!("go").await;
        step!("b", ledger.work("b", go)).await.map_err(Into::into)
    }
    #[workflow(name = "waiter")]
    async fn new(ledger: &Ledger) -> Done {
        step!("a", ledger.work("a", ())).await?;
        if patched!("check") {
            step!("check", ledger.work("check", ())).await?;
        }
        let go: u32 = signal!("go").await;
        step!("b", ledger.work("b", go)).await.map_err(Into::into)
    }
    let place = Place::default();
    place.begin(old, rests).await;
    let runtime = place.deploy(new).await;
    runtime.signal("a", "go", &5u32).await.unwrap();
    assert_eq!(runtime.handle(new, "a").await.unwrap().result().await.unwrap(), 5);
    assert_eq!(place.ledger.entries(), ["a", "check", "b"]);
    let lines = runtime.lines("a").await;
    let order: Vec<&str> = lines.iter().filter_map(|line| line.split('`').nth(1)).collect();
    assert_eq!(order, ["a", "check", "check", "go", "b"], "change, step, signal");

    // With a deadline the wait is recorded, and lies behind the change.
    #[workflow(name = "timed")]
    async fn old_timed() -> Done {
        Ok(signal!("go").timeout(days(1)).await?)
    }
    #[workflow(name = "timed")]
    async fn new_timed() -> Done {
        let before = u32::from(patched!("check"));
        let go: u32 = signal!("go").timeout(days(1)).await?;
        Ok(go + before)
    }
    let place = Place::default();
    place.begin(old_timed, rests).await;
    let runtime = place.deploy(new_timed).await;
    runtime.signal("a", "go", &5u32).await.unwrap();
    assert_eq!(runtime.handle(new_timed, "a").await.unwrap().result().await.unwrap(), 5);
}

async fn held(gate: &Gate, ledger: &Ledger, body: &str) -> Done {
    ledger.note(body);
    gate.pass(body).await;
    Ok(1)
}

/// What may have had its effect is not replaced by something else.
#[tokio::test]
async fn a_step_that_was_running_when_the_process_ended_keeps_its_instance_before_the_change() {
    #[workflow(name = "runner")]
    async fn old(ledger: &Ledger, gate: &Gate) -> Done {
        step!("a", ledger.work("a", ())).await?;
        step!("old", held(gate, ledger, "old")).await.map_err(Into::into)
    }
    #[workflow(name = "runner")]
    async fn new(ledger: &Ledger, gate: &Gate) -> Done {
        step!("a", ledger.work("a", ())).await?;
        if patched!("replaced") {
            step!("new", ledger.work("new", 2)).await.map_err(Into::into)
        } else {
            step!("old", held(gate, ledger, "old")).await.map_err(Into::into)
        }
    }
    let place = Place::default();
    place.begin(old, async |_| place.gate.held() == 1).await;
    until(async || place.gate.held() == 0).await;
    place.gate.open(1);
    assert_eq!(place.finish(new).await, (1, vec!["old".to_owned()]));

    let started_later = Place::default();
    started_later
        .begin(new, async |runtime| runtime.ask("a").await.status.is_terminal())
        .await;
    assert_eq!(started_later.ledger.entries(), ["a", "new"]);
}

#[tokio::test]
async fn a_step_that_runs_at_most_once_and_has_been_announced_lies_behind_a_change() {
    #[workflow(name = "once")]
    async fn old(ledger: &Ledger, gate: &Gate) -> Done {
        step!("old", held(gate, ledger, "old"))
            .at_most_once()
            .await
            .map_err(Into::into)
    }
    #[workflow(name = "once")]
    async fn new(ledger: &Ledger, gate: &Gate) -> Done {
        if patched!("replaced") {
            return Ok(2);
        }
        let ended = step!("old", held(gate, ledger, "old")).at_most_once().await;
        Ok(if ended.is_err() { 3 } else { 1 })
    }
    let place = Place::default();
    place.begin(old, async |_| place.gate.held() == 1).await;
    assert_eq!(place.finish(new).await, (3, vec![]), "interrupted, and not run again");
}

#[tokio::test]
async fn branches_and_rounds_of_one_instance_are_told_the_same() {
    #[workflow(name = "branches")]
    async fn old(ledger: &Ledger) -> Done {
        let left = async {
            step!("left", ledger.work("left", ())).await?;
            let go: u32 = signal!("go").await;
            Ok::<_, BoxError>(go)
        };
        let right = async {
            for round in 0..3u32 {
                step!("round", ledger.work("round", round)).await?;
                sleep!("pause", secs(10)).await;
            }
            Ok::<_, BoxError>(())
        };
        let (left, right) = join!(left, right).await;
        right?;
        left
    }
    #[workflow(name = "branches")]
    async fn new(ledger: &Ledger) -> Done {
        let left = async {
            step!("left", ledger.work("left", ())).await?;
            let before = u32::from(patched!("both"));
            let go: u32 = signal!("go").await;
            Ok::<_, BoxError>(go + 10 * before)
        };
        let right = async {
            let mut after = 0;
            for round in 0..3u32 {
                step!("round", ledger.work("round", round)).await?;
                sleep!("pause", secs(10)).await;
                after += u32::from(patched!("both"));
            }
            Ok::<_, BoxError>(after)
        };
        let (left, right) = join!(left, right).await;
        Ok(left? + 100 * right?)
    }
    for (code_is_new, expected) in [(false, 5), (true, 315)] {
        let place = Place::default();
        if code_is_new {
            place.begin(new, rests).await;
        } else {
            place.begin(old, rests).await;
        }
        let runtime = place.deploy(new).await;
        runtime.signal("a", "go", &5u32).await.unwrap();
        drop(runtime);
        assert_eq!(place.finish(new).await.0, expected);
    }
}

/// `a`, `pack` (which fails once and backs off), a sleep, `ship`.
#[workflow(name = "packer")]
async fn packer(ledger: &Ledger) -> Done {
    step!("a", ledger.work("a", ())).await?;
    let packed = step!("pack", ledger.fail_first("pack", 1, 7))
        .retry(Retry::fixed(secs(5)).max_attempts(3))
        .await?;
    sleep!("nap", secs(10)).await;
    let go: u32 = signal!("go").timeout(secs(30)).await?;
    step!("ship", ledger.work("ship", packed + go))
        .await
        .map_err(Into::into)
}

#[workflow(name = "packer")]
async fn packs_no_more(ledger: &Ledger) -> Done {
    step!("a", ledger.work("a", ())).await?;
    removed!("pack").await;
    removed!(sleep "nap").await;
    removed!(signal "go").await;
    sleep!("new nap", secs(60)).await;
    step!("ship", ledger.work("ship", 1)).await.map_err(Into::into)
}

type At = fn(&WaitingFor) -> bool;

impl Place {
    /// As [`Place::begin`], through whatever time it takes, to where the instance waits for something that fits.
    async fn begin_until<W: Workflow<Input = ()>>(&self, old: W, fits: At) {
        let clock = &self.world.clock;
        self.begin(old, async |runtime| {
            let seen = runtime.ask("a").await;
            let fits = seen.waiting_for.iter().any(fits);
            if !fits && let Some(due) = clock.next_due() {
                clock.set(due.max(clock.now()));
            }
            // Only what waits at rest is on disk.
            fits && seen.status == Status::Waiting
        })
        .await;
    }

    /// Lets the new code look at the instance, which waits and has no reason to be looked at.
    async fn look<W: Workflow>(&self, new: W, fits: At) {
        let runtime = self.deploy(new).await;
        runtime.resume("a").await.unwrap();
        until(async || runtime.ask("a").await.waiting_for.iter().any(fits)).await;
    }
}

#[tokio::test]
async fn what_was_removed_is_passed_wherever_an_instance_is() {
    let backs_off: At = |wait| matches!(wait, WaitingFor::Retry { .. });
    let naps: At = |wait| matches!(wait, WaitingFor::Sleep { .. });
    for there in [backs_off, naps, waits_for_go] {
        let place = Place::default();
        place.begin_until(packer, there).await;
        place
            .look(
                packs_no_more,
                |wait| matches!(wait, WaitingFor::Sleep { sleep, .. } if sleep == "new nap"),
            )
            .await;
        // What is told of it from the store alone knows that what would be due before is gone.
        let parked = place.deploy(packs_no_more).await.ask("a").await;
        assert_eq!(parked.waiting_for.len(), 1, "{parked:?}");
        assert_eq!(place.finish(packs_no_more).await, (1, vec!["ship".to_owned()]));
    }
    let new = Place::default();
    new.begin(packs_no_more, rests).await;
    assert_eq!(new.finish(packs_no_more).await, (1, vec!["ship".to_owned()]));
    let lines = new.deploy(packs_no_more).await.lines("a").await;
    assert_eq!(lines.len(), 6, "nothing is recorded of what is gone: {lines:?}");
}

#[tokio::test]
async fn a_removed_step_that_was_running_does_not_run_again() {
    #[workflow(name = "runner")]
    async fn old(ledger: &Ledger, gate: &Gate) -> Done {
        step!("a", ledger.work("a", ())).await?;
        step!("old", held(gate, ledger, "old")).await?;
        step!("b", ledger.work("b", 1)).await.map_err(Into::into)
    }
    #[workflow(name = "runner")]
    async fn old_once(ledger: &Ledger, gate: &Gate) -> Done {
        step!("a", ledger.work("a", ())).await?;
        step!("old", held(gate, ledger, "old")).at_most_once().await?;
        step!("b", ledger.work("b", 1)).await.map_err(Into::into)
    }
    #[workflow(name = "runner")]
    async fn new(ledger: &Ledger) -> Done {
        step!("a", ledger.work("a", ())).await?;
        removed!("old").await;
        step!("b", ledger.work("b", 1)).await.map_err(Into::into)
    }
    for at_most_once in [false, true] {
        let place = Place::default();
        let is_held = async |_: &Runtime| place.gate.held() == 1;
        if at_most_once {
            place.begin(old_once, is_held).await;
        } else {
            place.begin(old, is_held).await;
        }
        assert_eq!(place.finish(new).await, (1, vec!["b".to_owned()]));
    }
}

#[tokio::test]
async fn removed_steps_with_keys_are_passed_one_by_one() {
    #[workflow(name = "keys")]
    async fn old(ledger: &Ledger, gate: &Gate) -> Done {
        let packed = map_concurrent(["x", "y", "z"], 2, |line| async move {
            step!("weigh", ledger.work(format!("weigh {line}"), ()))
                .key(line)
                .await?;
            step!("pack", held(gate, ledger, "pack")).await
        })
        .await?;
        Ok(packed.len() as u32)
    }
    #[workflow(name = "keys")]
    async fn new(ledger: &Ledger, gate: &Gate) -> Done {
        let packed = map_concurrent(["x", "y", "z"], 2, |line| async move {
            removed!("weigh").key(line).await;
            step!("pack", held(gate, ledger, "pack")).await
        })
        .await?;
        Ok(packed.len() as u32)
    }
    let place = Place::default();
    place.begin(old, async |_| place.gate.held() == 2).await;
    until(async || place.gate.held() == 0).await;
    place.gate.open(5);
    assert_eq!(place.finish(new).await, (3, vec!["pack".to_owned(); 3]));
}

async fn packs(gate: &Gate, ledger: &Ledger, item: &str) -> Done {
    if item == "x" {
        return ledger.work("pack x", 1).await;
    }
    held(gate, ledger, "held").await
}

/// Some items have been packed and dry, others were being packed when the process ended.
#[tokio::test]
async fn a_fan_out_goes_on_from_where_each_item_was() {
    #[workflow(name = "fan out")]
    async fn old(ledger: &Ledger, gate: &Gate) -> Done {
        let dried = map_concurrent(["x", "y", "z", "late"], 3, |item| async move {
            step!("pack", packs(gate, ledger, item)).key(item).await?;
            sleep!("dry", secs(10)).await;
            step!("ship", ledger.work("ship", 1)).await
        })
        .await?;
        Ok(dried.into_iter().sum())
    }
    #[workflow(name = "fan out")]
    async fn new(ledger: &Ledger) -> Done {
        let dried = map_concurrent(["x", "y", "z", "late"], 3, |item| async move {
            removed!("pack").key(item).await;
            sleep!("dry", secs(10)).await;
            step!("ship", ledger.work("ship", 1)).await
        })
        .await?;
        Ok(dried.into_iter().sum())
    }
    let place = Place::default();
    place
        .begin(old, async |runtime| {
            let lines = runtime.lines("a").await;
            place.gate.held() == 2 && lines.iter().any(|line| line.contains("dry` began"))
        })
        .await;
    for _ in 0..2 {
        // Every look replays what the one before recorded.
        let runtime = place.deploy(new).await;
        until(async || runtime.ask("a").await.status == Status::Waiting).await;
        let lines = runtime.lines("a").await;
        assert_eq!(
            lines.iter().filter(|line| line.contains("dry` began")).count(),
            3,
            "{lines:?}"
        );
    }
    assert_eq!(place.finish(new).await, (4, vec!["ship".to_owned(); 4]));
}

#[tokio::test]
async fn a_removed_step_that_had_lost_a_race_does_not_win_it_now() {
    #[workflow(name = "racer")]
    async fn old(ledger: &Ledger, gate: &Gate) -> Done {
        let won = race!(step!("slow", held(gate, ledger, "slow")), sleep!("patience", secs(10))).await;
        let go: u32 = signal!("go").await;
        Ok(go + u32::from(matches!(won, Race2::First(_))))
    }
    #[workflow(name = "racer")]
    async fn new() -> Done {
        let won = race!(removed!("slow"), sleep!("patience", secs(10))).await;
        let go: u32 = signal!("go").await;
        Ok(go + u32::from(matches!(won, Race2::First(_))))
    }
    for (there, expected) in [(waits_for_go as At, 5), (|_| false, 6)] {
        let place = Place::default();
        if expected == 5 {
            place.begin_until(old, there).await;
        } else {
            place.begin(old, async |_| place.gate.held() == 1).await;
        }
        let runtime = place.deploy(new).await;
        runtime.signal("a", "go", &5u32).await.unwrap();
        drop(runtime);
        assert_eq!(place.finish(new).await.0, expected);
    }
}

/// The journal that a later Steadfast would write: its second event is the number of what its engine does.
#[tokio::test]
async fn an_instance_of_a_newer_engine_is_left_as_it_is() {
    let place = Place::default();
    place.begin(sleeper, rests).await;
    let mut number = place.world.store.find("a").unwrap().unwrap().number;
    let batch = place.world.store.load(number).unwrap().unwrap().batches.remove(0);
    let later = Place::default();
    let record = place.world.store.record(number).unwrap().unwrap();
    let epoch = later.world.store.claim().unwrap();
    let start = Write::Start {
        id: "a".to_owned(),
        workflow: record.workflow,
        version: record.version,
        input_digest: record.input_digest,
        batch: [batch, vec![0, 19, 2]].concat(),
        at: record.created_at,
    };
    later.world.store.commit(epoch, &[start]).unwrap();
    number = later.world.store.find("a").unwrap().unwrap().number;
    let before = later.world.store.load(number).unwrap();

    let runtime = later.deploy(sleeper).await;
    let seen = runtime.until_status("a", Status::Quarantined).await;
    let trouble = seen.trouble.unwrap();
    assert!(
        trouble.contains("newer Steadfast, with engine behaviour 2, and this one knows 1"),
        "{trouble}"
    );
    match runtime.handle(sleeper, "a").await.unwrap().result().await {
        Err(WorkflowError::Quarantined { trouble: told }) => assert_eq!(told, trouble),
        other => panic!("{other:?}"),
    }
    assert_eq!(runtime.lines("a").await[1], "runs with engine behaviour 2");
    assert_eq!(later.ledger.total(), 0);
    assert_eq!(later.world.store.load(number).unwrap(), before);
}
