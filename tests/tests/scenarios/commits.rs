//! What is written, exactly: one commit for a step, none for what can be worked out again.

use steadfast::prelude::*;
use steadfast::{Builder, WaitingFor};
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

/// Requirement A14.
#[tokio::test]
async fn steps_that_end_together_share_their_commits() {
    #[workflow]
    async fn fans(gate: &Gate) -> Result<u32, BoxError> {
        let done = map_concurrent(0..100u32, 100, |item| async move {
            step!("item", {
                gate.pass(item).await;
                Ok(1u32)
            })
            .await
        })
        .await?;
        Ok(done.into_iter().sum())
    }
    let (world, gate) = (World::new(), Gate::default());
    let runtime = world.open(|runtime| runtime.workflow(fans).state(gate.clone())).await;
    let handle = runtime.start(fans, ()).await.unwrap();
    until(async || gate.held() == 100).await;
    gate.open(100);
    assert_eq!(handle.result().await.unwrap(), 100);
    let turns = turns(&world).await;
    assert!(turns <= 5, "{turns} commits for 100 steps that ended together");
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
