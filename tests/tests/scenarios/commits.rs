//! What is written, exactly: one commit for a step, none for what can be worked out again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use steadfast::prelude::*;
use steadfast::store::SledStore;
use steadfast::{Builder, WaitingFor};
use steadfast_tests::fault::{Faulty, Moment};
use steadfast_tests::{Ask, Counts, Gate, Ledger, World, until};

/// How many turns `workflow` writes from its start to its end; the test drives it in between.
async fn turns(world: &World) -> u64 {
    world.store.counts().turns
}

#[tokio::test]
async fn a_sequential_step_is_one_commit_and_the_last_one_is_also_the_completion() {
    #[workflow]
    async fn steps(count: u32, ledger: &Ledger) -> Result<u32, BoxError> {
        let mut value = 0;
        for _ in 0..count {
            value = step!("next", ledger.work("next", value + 1)).await?;
        }
        Ok(value)
    }
    for count in [0u32, 1, 2, 10] {
        let (world, ledger) = (World::new(), Ledger::default());
        let runtime = world
            .open(|runtime| runtime.workflow(steps).state(ledger.clone()))
            .await;
        assert_eq!(
            runtime.start(steps, count).await.unwrap().result().await.unwrap(),
            count
        );
        let expected = Counts {
            groups: 1 + u64::from(count.max(1)),
            starts: 1,
            turns: u64::from(count.max(1)),
            signals: 0,
            loads: 0,
        };
        assert_eq!(world.store.counts(), expected, "{count} steps");
    }
}

#[tokio::test]
async fn a_failing_last_step_and_the_failure_share_one_commit() {
    #[workflow]
    async fn fails() -> Result<u32, BoxError> {
        let value = step!("fails", async { Err::<u32, BoxError>("no".into()) })
            .retry(Retry::none())
            .await?;
        Ok(value)
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(fails)).await;
    runtime.start(fails, ()).await.unwrap().result().await.unwrap_err();
    assert_eq!(turns(&world).await, 1);
}

#[tokio::test]
async fn now_random_and_uuid_add_no_commit() {
    #[workflow]
    async fn draws(ledger: &Ledger) -> Result<String, BoxError> {
        let began = now!();
        let number: u64 = random!();
        step!("one", ledger.work("one", ())).await?;
        let id = uuid!();
        let dice: u32 = random!(1..=6);
        step!("two", ledger.work("two", ())).await?;
        let more: bool = random!();
        Ok(format!("{began} {number} {id} {dice} {more} {}", now!()))
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world
        .open(|runtime| runtime.workflow(draws).state(ledger.clone()))
        .await;
    runtime.start(draws, ()).await.unwrap().result().await.unwrap();
    assert_eq!(turns(&world).await, 2);
}

#[tokio::test]
async fn a_sleep_is_a_commit_when_it_begins_and_one_when_it_ends_and_parking_adds_none() {
    #[workflow]
    async fn rests() -> Result<u32, BoxError> {
        for _ in 0..3 {
            sleep!("rest", hours(1)).await;
        }
        Ok(1)
    }
    for park_after in [millis(0), secs(1), days(1_000)] {
        let world = World::new();
        let runtime = world
            .open(|runtime| runtime.workflow(rests).park_after(park_after))
            .await;
        let handle = runtime.start(rests, ()).id("a").await.unwrap();
        for round in 0..3u64 {
            let began = steadfast::testing::Clock::now(&world.clock);
            let is_next =
                |wait: &WaitingFor| matches!(wait, WaitingFor::Sleep { until, .. } if *until == began + hours(1));
            runtime.until_waiting_for("a", is_next).await;
            runtime.until_status("a", Status::Waiting).await;
            // The end of one sleep and the begin of the next share one.
            assert_eq!(turns(&world).await, 1 + round, "{park_after:?}");
            world.clock.advance(minutes(30));
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            assert_eq!(turns(&world).await, 1 + round, "parking writes nothing");
            world.clock.advance(minutes(30));
        }
        assert_eq!(handle.result().await.unwrap(), 1);
        assert_eq!(turns(&world).await, 4);
    }
}

#[tokio::test]
async fn a_signal_is_a_commit_when_it_is_sent_and_one_when_it_is_taken() {
    #[workflow]
    async fn takes() -> Result<u32, BoxError> {
        let first: u32 = signal!("value").await;
        let second: u32 = signal!("value").await;
        Ok(first + second)
    }
    for park_after in [millis(0), days(1_000)] {
        let world = World::new();
        let runtime = world
            .open(|runtime| runtime.workflow(takes).park_after(park_after))
            .await;
        let handle = runtime.start(takes, ()).id("a").await.unwrap();
        runtime.until_status("a", Status::Waiting).await;
        assert_eq!(turns(&world).await, 1, "that it waits, and for what");
        handle.signal("value", &1u32).await.unwrap();
        until(async || runtime.lines("a").await.len() == 2).await;
        runtime.until_status("a", Status::Waiting).await;
        assert_eq!(turns(&world).await, 2);
        handle.signal("value", &2u32).await.unwrap();
        assert_eq!(handle.result().await.unwrap(), 3);
        let counts = world.store.counts();
        assert_eq!((counts.turns, counts.signals, counts.groups), (3, 2, 6));
    }
}

#[tokio::test]
async fn looking_writes_nothing() {
    #[workflow]
    async fn rests() -> Result<u32, BoxError> {
        sleep!("rest", hours(1)).await;
        Ok(1)
    }
    for park_after in [millis(0), days(1_000)] {
        let world = World::new();
        let runtime = world
            .open(|runtime| runtime.workflow(rests).park_after(park_after))
            .await;
        runtime.start(rests, ()).id("a").await.unwrap();
        runtime.until_status("a", Status::Waiting).await;
        let groups = world.store.counts().groups;
        runtime.status("a").await.unwrap();
        runtime.history("a").await.unwrap();
        runtime.list().await.unwrap();
        runtime.resume("a").await.unwrap();
        assert!(!runtime.start(rests, ()).id("a").await.unwrap().created());
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        runtime.until_status("a", Status::Waiting).await;
        // The start that found it is a question to the store's writer, and changes nothing.
        assert_eq!(world.store.counts().groups - groups, 1);
        assert_eq!(turns(&world).await, 1);
    }
}

#[tokio::test]
async fn a_restart_without_work_writes_nothing() {
    #[workflow]
    async fn rests() -> Result<u32, BoxError> {
        sleep!("rest", hours(1)).await;
        Ok(1)
    }
    let world = World::new();
    let open = |runtime: Builder| runtime.workflow(rests);
    let runtime = world.open(open).await;
    runtime.start(rests, ()).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    drop(runtime);
    let groups = world.store.counts().groups;
    for _ in 0..5 {
        let runtime = world.open(open).await;
        runtime.resume("a").await.unwrap();
        runtime
            .until_waiting_for("a", |wait| matches!(wait, WaitingFor::Sleep { .. }))
            .await;
        runtime.shutdown(secs(1)).await;
    }
    assert_eq!(world.store.counts().groups, groups);
}

#[tokio::test]
async fn what_many_instances_have_to_write_at_one_time_is_one_group() {
    #[workflow]
    async fn holds(gate: &Gate) -> Result<u32, BoxError> {
        step!("hold", {
            gate.pass("hold").await;
            Ok(())
        })
        .await?;
        sleep!("rest", hours(1)).await;
        Ok(1)
    }
    let (world, gate) = (World::new(), Gate::default());
    let runtime = world.open(|runtime| runtime.workflow(holds).state(gate.clone())).await;
    for place in 0..200 {
        runtime.start(holds, ()).id(format!("{place}")).await.unwrap();
    }
    until(async || gate.held() == 200).await;
    let before = world.store.counts();
    world.store.hold(true);
    gate.open(200);
    until(async || gate.held() == 0).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    world.store.hold(false);
    for place in 0..200 {
        runtime.until_status(&format!("{place}"), Status::Waiting).await;
    }
    let after = world.store.counts();
    assert_eq!(after.turns - before.turns, 200);
    // The first one was on its way when the others came.
    assert!(after.groups - before.groups <= 2, "{before:?} {after:?}");
}

#[tokio::test]
async fn no_body_begins_before_its_cause_is_durable() {
    #[workflow]
    async fn chains(ledger: &Ledger) -> Result<u32, BoxError> {
        step!("first", ledger.work("first", ())).await?;
        step!("second", ledger.work("second", ())).await?;
        Ok(1)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world
        .open(|runtime| runtime.workflow(chains).state(ledger.clone()))
        .await;
    world.store.hold(true);
    let start = tokio::spawn({
        let runtime = runtime.clone();
        async move { runtime.start(chains, ()).id("a").await.unwrap() }
    });
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    assert!(!start.is_finished() && ledger.total() == 0, "the start is not durable");
    world.store.hold(false);
    let handle = start.await.unwrap();
    assert_eq!(handle.result().await.unwrap(), 1);

    let began = runtime.start(chains, ()).id("b").await.unwrap();
    world.store.hold(true);
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    let (firsts, seconds) = (ledger.count("first"), ledger.count("second"));
    assert!(firsts <= 2 && seconds <= firsts);
    world.store.hold(false);
    assert_eq!(began.result().await.unwrap(), 1);
}

/// Opens the gate while commits wait, so that nothing but the number of events decides what goes with which commit.
async fn open_while_held(world: &World, gate: &Gate, bodies: usize) {
    until(async || gate.held() == bodies).await;
    world.store.hold(true);
    gate.open(bodies);
    until(async || gate.held() == 0).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    world.store.hold(false);
}

/// Requirement A14. A thousand are more than an instance delivers at once: the first half is committed, and meanwhile the
/// rest gathers.
#[tokio::test]
async fn steps_that_end_together_share_a_commit_and_very_many_of_them_share_two() {
    #[workflow]
    async fn fans(width: u32, gate: &Gate) -> Result<u32, BoxError> {
        let done = map_concurrent(0..width, usize::MAX, |item| async move {
            step!("item", {
                gate.pass(item).await;
                Ok(1u32)
            })
            .await
        })
        .await?;
        Ok(done.into_iter().sum())
    }
    for (width, commits) in [(1, 1), (2, 1), (100, 1), (1_000, 2)] {
        let (world, gate) = (World::new(), Gate::default());
        let runtime = world.open(|runtime| runtime.workflow(fans).state(gate.clone())).await;
        let handle = runtime.start(fans, width).await.unwrap();
        open_while_held(&world, &gate, width as usize).await;
        assert_eq!(handle.result().await.unwrap(), width);
        let counts = world.store.counts();
        assert_eq!((counts.turns, counts.groups), (commits, 1 + commits), "{width} steps");
    }
}

#[tokio::test]
async fn steps_joined_one_pair_after_the_other_are_one_commit_a_pair() {
    #[workflow]
    async fn pairs(gate: &Gate) -> Result<u32, BoxError> {
        let mut sum = 0;
        for _ in 0..3 {
            let (left, right) = try_join!(
                step!("left", {
                    gate.pass("left").await;
                    Ok(1u32)
                }),
                step!("right", {
                    gate.pass("right").await;
                    Ok(2u32)
                })
            )
            .await?;
            sum += left + right;
        }
        Ok(sum)
    }
    let (world, gate) = (World::new(), Gate::default());
    let runtime = world.open(|runtime| runtime.workflow(pairs).state(gate.clone())).await;
    let handle = runtime.start(pairs, ()).await.unwrap();
    for _ in 0..3 {
        open_while_held(&world, &gate, 2).await;
    }
    assert_eq!(handle.result().await.unwrap(), 9);
    assert_eq!(turns(&world).await, 3);
}

#[tokio::test]
async fn a_race_is_one_commit_for_its_winner_and_none_for_its_losers() {
    #[workflow]
    async fn races(gate: &Gate) -> Result<u32, BoxError> {
        let won = race!(
            step!("quick", async { Ok::<_, BoxError>(1u32) }),
            step!("slow", {
                gate.pass("slow").await;
                Ok(2u32)
            })
        )
        .await;
        let first = match won {
            Race2::First(value) | Race2::Second(value) => value?,
        };
        let second = step!("after", async { Ok::<_, BoxError>(first + 1) }).await?;
        Ok(second)
    }
    let (world, gate) = (World::new(), Gate::default());
    let runtime = world.open(|runtime| runtime.workflow(races).state(gate.clone())).await;
    assert_eq!(runtime.start(races, ()).await.unwrap().result().await.unwrap(), 2);
    assert_eq!(turns(&world).await, 2, "the winner, and the step after it with the end");
}

#[tokio::test]
async fn a_race_with_a_sleep_is_one_commit_for_its_instant_and_one_for_its_end() {
    #[workflow]
    async fn races(gate: &Gate) -> Result<u32, BoxError> {
        let won = race!(
            step!("body", {
                gate.pass("body").await;
                Ok(1u32)
            }),
            sleep!("patience", secs(10))
        )
        .await;
        Ok(match won {
            Race2::First(value) => value?,
            Race2::Second(()) => 0,
        })
    }
    for body_wins in [true, false] {
        let (world, gate) = (World::new(), Gate::default());
        let runtime = world.open(|runtime| runtime.workflow(races).state(gate.clone())).await;
        let handle = runtime.start(races, ()).await.unwrap();
        until(async || gate.held() == 1).await;
        assert_eq!(
            turns(&world).await,
            1,
            "when it ends must be durable before the body begins"
        );
        if body_wins {
            gate.open(1);
        } else {
            world.clock.advance(secs(10));
        }
        assert_eq!(handle.result().await.unwrap(), u32::from(body_wins));
        assert_eq!(turns(&world).await, 2);
    }
}

/// The failure is one, with the instant of the next attempt; that it goes on is another, because a record that says it waits
/// says that no body runs.
#[tokio::test]
async fn a_retry_is_a_commit_for_the_failure_and_one_for_the_wake_up() {
    #[workflow]
    async fn retries(failures: u32, ledger: &Ledger) -> Result<u32, BoxError> {
        let done = step!("flaky", ledger.fail_first("flaky", failures, 1u32))
            .retry(Retry::fixed(secs(60)).max_attempts(10))
            .await?;
        Ok(done)
    }
    for park_after in [millis(0), days(1_000)] {
        for failures in [0, 1, 4] {
            let (world, ledger) = (World::new(), Ledger::default());
            let runtime = world
                .open(|runtime| runtime.workflow(retries).state(ledger.clone()).park_after(park_after))
                .await;
            let handle = runtime.start(retries, failures).id("a").await.unwrap();
            for failure in 1..=failures {
                let is_next =
                    |wait: &WaitingFor| matches!(wait, WaitingFor::Retry { attempt, .. } if *attempt == failure + 1);
                runtime.until_waiting_for("a", is_next).await;
                runtime.until_status("a", Status::Waiting).await;
                assert_eq!(turns(&world).await, u64::from(failure * 2 - 1), "{park_after:?}");
                world.clock.advance(secs(60));
            }
            assert_eq!(handle.result().await.unwrap(), 1);
            assert_eq!(
                turns(&world).await,
                u64::from(failures * 2 + 1),
                "{park_after:?} {failures}"
            );
        }
    }
}

#[tokio::test]
async fn a_step_with_a_timeout_costs_what_it_costs_without_whether_it_elapses_or_not() {
    #[workflow]
    async fn hurries(gate: &Gate) -> Result<u32, BoxError> {
        let done = step!("body", {
            gate.pass("body").await;
            Ok(1u32)
        })
        .timeout(secs(10))
        .retry(Retry::none())
        .await;
        Ok(done.unwrap_or(0))
    }
    for in_time in [true, false] {
        let (world, gate) = (World::new(), Gate::default());
        let runtime = world
            .open(|runtime| runtime.workflow(hurries).state(gate.clone()))
            .await;
        let handle = runtime.start(hurries, ()).await.unwrap();
        until(async || gate.held() == 1).await;
        if in_time {
            gate.open(1);
        } else {
            world.clock.advance(secs(10));
        }
        assert_eq!(handle.result().await.unwrap(), u32::from(in_time));
        assert_eq!(turns(&world).await, 1);
    }
}

#[tokio::test]
async fn a_wait_with_a_timeout_is_a_commit_when_it_begins_and_one_when_it_ends() {
    #[workflow]
    async fn waits() -> Result<u32, BoxError> {
        let value: Result<u32, Elapsed> = signal!("value").timeout(hours(1)).await;
        Ok(value.unwrap_or(0))
    }
    for park_after in [millis(0), days(1_000)] {
        for in_time in [true, false] {
            let world = World::new();
            let runtime = world
                .open(|runtime| runtime.workflow(waits).park_after(park_after))
                .await;
            let handle = runtime.start(waits, ()).id("a").await.unwrap();
            runtime.until_status("a", Status::Waiting).await;
            assert_eq!(turns(&world).await, 1);
            if in_time {
                handle.signal("value", &1u32).await.unwrap();
            } else {
                world.clock.advance(hours(1));
            }
            assert_eq!(handle.result().await.unwrap(), u32::from(in_time));
            let counts = world.store.counts();
            assert_eq!(
                (counts.turns, counts.signals),
                (2, u64::from(in_time)),
                "{park_after:?}"
            );
            assert_eq!(counts.groups, 3 + u64::from(in_time));
        }
    }
}

/// That it begins is durable before it does; so it is two, and the only kind of step that is.
#[tokio::test]
async fn a_step_that_runs_at_most_once_is_two_commits() {
    #[workflow]
    async fn once(ledger: &Ledger) -> Result<u32, BoxError> {
        let first = step!("first", ledger.work("first", 1u32)).await?;
        let second = step!("second", ledger.work("second", first + 1)).at_most_once().await?;
        Ok(second)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| runtime.workflow(once).state(ledger.clone())).await;
    assert_eq!(runtime.start(once, ()).await.unwrap().result().await.unwrap(), 2);
    assert_eq!(turns(&world).await, 3);
}

#[tokio::test]
async fn a_cancellation_is_a_commit_when_it_is_asked_for_and_one_for_the_end() {
    #[workflow]
    async fn rests() -> Result<u32, BoxError> {
        sleep!("rest", hours(1)).await;
        Ok(1)
    }
    for park_after in [millis(0), days(1_000)] {
        let world = World::new();
        let runtime = world
            .open(|runtime| runtime.workflow(rests).park_after(park_after))
            .await;
        let handle = runtime.start(rests, ()).id("a").await.unwrap();
        runtime.until_status("a", Status::Waiting).await;
        let before = world.store.counts();
        handle.cancel("no longer needed").await.unwrap();
        handle.result().await.unwrap_err();
        let after = world.store.counts();
        assert_eq!((after.groups - before.groups, after.turns - before.turns), (2, 1));
    }
}

/// Whoever waits long enough to be parked, and is woken by what he waits for, pays for that and for nothing else.
#[tokio::test]
async fn being_woken_from_the_store_adds_one_reading_and_no_commit() {
    #[workflow]
    async fn rests() -> Result<u32, BoxError> {
        let before: u32 = signal!("before").await;
        sleep!("rest", hours(1)).await;
        Ok(before)
    }
    for (park_after, loads) in [(millis(0), 1), (days(1_000), 0)] {
        let world = World::new();
        let runtime = world
            .open(|runtime| runtime.workflow(rests).park_after(park_after))
            .await;
        let handle = runtime.start(rests, ()).id("a").await.unwrap();
        runtime.until_status("a", Status::Waiting).await;
        handle.signal("before", &1u32).await.unwrap();
        let is_asleep = |wait: &WaitingFor| matches!(wait, WaitingFor::Sleep { .. });
        until(async || runtime.ask("a").await.waiting_for.iter().any(is_asleep) && turns(&world).await == 2).await;
        runtime.until_status("a", Status::Waiting).await;
        let loads_of_looking = world.store.counts().loads;
        world.clock.advance(hours(1));
        assert_eq!(handle.result().await.unwrap(), 1);
        let counts = world.store.counts();
        assert_eq!(
            (counts.turns, counts.signals, counts.groups),
            (3, 1, 5),
            "{park_after:?}"
        );
        assert_eq!(counts.loads - loads_of_looking, loads, "{park_after:?}");
    }
}

/// A commit is one flush and one sync of the data file; the store's own tests count those.
#[tokio::test]
async fn on_disk_an_instance_of_five_steps_is_six_commits_and_a_batch_of_fifty_starts_is_one() {
    #[workflow]
    async fn five(ledger: &Ledger) -> Result<u32, BoxError> {
        let mut value = 0;
        for _ in 0..5 {
            value = step!("next", ledger.work("next", value + 1)).await?;
        }
        Ok(value)
    }
    #[workflow]
    async fn holds(_number: u32, gate: &Gate) -> Result<u32, BoxError> {
        step!("hold", {
            gate.pass("hold").await;
            Ok(())
        })
        .await?;
        Ok(1)
    }
    let folder = tempfile::tempdir().unwrap();
    let commits = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&commits);
    let store = Faulty::new(SledStore::open(folder.path()).unwrap(), move |number, moment, _| {
        counted.fetch_add(u64::from(number > 0 && moment == Moment::After), Ordering::SeqCst);
        Ok(())
    });
    let (ledger, gate) = (Ledger::default(), Gate::default());
    let builder = Runtime::builder().workflow(five).workflow(holds);
    let builder = builder.state(ledger).state(gate.clone());
    let runtime = builder.store(store).start().await.unwrap();
    for round in 1..=3 {
        let handle = runtime.start(five, ()).await.unwrap();
        assert_eq!(handle.result().await.unwrap(), 5);
        assert_eq!(commits.load(Ordering::SeqCst), 6 * round);
    }
    let answers = runtime.start_batch(holds, 0..50).await;
    assert_eq!(commits.load(Ordering::SeqCst), 19);
    until(async || gate.held() == 50).await;
    gate.open(50);
    for answer in answers {
        assert_eq!(answer.unwrap().result().await.unwrap(), 1);
    }
    runtime.shutdown(secs(1)).await;
}
