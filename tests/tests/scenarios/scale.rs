//! Width, depth and number: what an instance and a runtime must bear.

use steadfast::prelude::*;
use steadfast::{Builder, WaitingFor};
use steadfast_tests::{Ask, Gate, Ledger, World, until};

#[tokio::test]
async fn ten_thousand_ready_awaits_pass_in_one_go() {
    #[workflow]
    async fn reads(count: u32, gate: &Gate) -> Result<u64, BoxError> {
        step!("hold", {
            gate.pass("hold").await;
            Ok(())
        })
        .await?;
        let mut sum = 0;
        for _ in 0..count {
            let value: u32 = signal!("value").await;
            sum += u64::from(value);
        }
        Ok(sum)
    }
    let (world, gate) = (World::new(), Gate::default());
    let open = |runtime: Builder| runtime.workflow(reads).state(gate.clone());
    let runtime = world.open(open).await;
    let handle = runtime.start(reads, 10_000).id("a").await.unwrap();
    let senders = (0..10_000u32).map(|value| {
        let runtime = runtime.clone();
        tokio::spawn(async move { runtime.signal("a", "value", &value).await.unwrap() })
    });
    for sender in senders.collect::<Vec<_>>() {
        sender.await.unwrap();
    }
    let turns = world.store.counts().turns;
    gate.open(1);
    assert_eq!(handle.result().await.unwrap(), 49_995_000);
    let turns = world.store.counts().turns - turns;
    assert!(turns <= 50, "10,000 signals were taken in {turns} commits");
}

#[tokio::test]
async fn ten_thousand_chances_are_drawn_without_a_commit() {
    #[workflow]
    async fn draws() -> Result<u64, BoxError> {
        let mut drawn = std::collections::BTreeSet::new();
        for _ in 0..10_000 {
            let chance: u128 = random!();
            drawn.insert(chance);
        }
        sleep!("pause", secs(1)).await;
        Ok(drawn.len() as u64)
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(draws)).await;
    runtime.start(draws, ()).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(draws)).await;
    world.clock.advance(secs(1));
    assert_eq!(
        runtime.handle(draws, "a").await.unwrap().result().await.unwrap(),
        10_000
    );
}

#[tokio::test]
async fn a_thousand_steps_are_joined_also_over_a_restart_half_way() {
    #[workflow]
    async fn joins(ledger: &Ledger, gate: &Gate) -> Result<u32, BoxError> {
        let steps = (0..1_000u32).map(|item| async move {
            step!("item", {
                ledger.note(item);
                gate.pass(item).await;
                Ok(1u32)
            })
            .await
        });
        Ok(try_join_all(steps).await?.into_iter().sum())
    }
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let open = |runtime: Builder| runtime.workflow(joins).state(ledger.clone()).state(gate.clone());
    let runtime = world.open(open).await;
    runtime.start(joins, ()).id("a").await.unwrap();
    until(async || gate.held() == 1_000).await;
    gate.open(500);
    until(async || gate.passed().len() == 500).await;
    // On disk, since dropping the runtime is a crash: the start and 500 ends.
    until(async || runtime.lines("a").await.len() == 501).await;
    let turns = world.store.counts().turns;
    assert!(turns < 100, "500 steps that ended together took {turns} commits");
    drop(runtime);
    until(async || gate.held() == 0).await;
    let runtime = world.open(open).await;
    until(async || gate.held() == 500).await;
    gate.open(500);
    assert_eq!(runtime.handle(joins, "a").await.unwrap().result().await.unwrap(), 1_000);
    assert_eq!(ledger.total(), 1_500);
}

#[tokio::test]
async fn a_thousand_sleeps_and_waits_are_joined() {
    #[workflow]
    async fn joins() -> Result<u32, BoxError> {
        let sleeps = (0..500u64).map(|item| async move {
            sleep!("rest", secs(item % 7)).await;
            1u32
        });
        let waits = (0..500u64).map(|_| async {
            let value: Result<u32, Elapsed> = signal!("value").timeout(hours(1)).await;
            value.unwrap_or(1)
        });
        let (sleeps, waits) = join!(join_all(sleeps), join_all(waits)).await;
        Ok(sleeps.into_iter().chain(waits).sum())
    }
    let world = World::new();
    let runtime = world
        .open(|runtime| runtime.workflow(joins).park_after(millis(0)))
        .await;
    let handle = runtime.start(joins, ()).id("a").await.unwrap();
    world
        .advance_until(async || runtime.ask("a").await.status.is_terminal())
        .await;
    assert_eq!(handle.result().await.unwrap(), 1_000);
}

#[tokio::test]
async fn five_thousand_steps_one_after_the_other_take_one_commit_each_and_replay() {
    #[workflow]
    async fn climbs(count: u32, ledger: &Ledger) -> Result<u32, BoxError> {
        let mut height = 0;
        for _ in 0..count {
            height = step!("climb", async { Ok::<_, BoxError>(height + 1) }).await?;
        }
        sleep!("rest", secs(1)).await;
        step!("last", ledger.work("last", height)).await.map_err(BoxError::from)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let open = |runtime: Builder| runtime.workflow(climbs).state(ledger.clone());
    let runtime = world.open(open).await;
    runtime.start(climbs, 5_000).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    // The last of them and the sleep share one.
    assert_eq!(world.store.counts().turns, 5_000);
    drop(runtime);
    let runtime = world.open(open).await;
    world.clock.advance(secs(1));
    assert_eq!(
        runtime.handle(climbs, "a").await.unwrap().result().await.unwrap(),
        5_000
    );
    assert_eq!(ledger.total(), 1);
}

#[tokio::test]
async fn joins_of_nothing_are_over_at_once() {
    #[workflow]
    async fn joins() -> Result<u64, BoxError> {
        let nobody = Vec::<u32>::new();
        let empty = nobody.iter().map(|_| async { signal!("never").await });
        let all: Vec<u32> = join_all(empty).await;
        let empty = nobody
            .iter()
            .map(|_| async { step!("never", async { Ok::<u32, BoxError>(1) }).await });
        let tried = try_join_all(empty).await?;
        let mapped = map_concurrent(&nobody, 3, |_| async move {
            step!("not", async { Ok::<u32, BoxError>(1) }).await
        })
        .await?;
        let collected = map_concurrent_all(&nobody, 3, |_| async move { 1 }).await;
        join!().await;
        Ok((all.len() + tried.len() + mapped.len() + collected.len()) as u64)
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(joins)).await;
    assert_eq!(runtime.start(joins, ()).await.unwrap().result().await.unwrap(), 0);
}

#[tokio::test]
async fn a_race_of_which_nothing_is_ready_waits_and_the_first_to_come_wins() {
    #[workflow]
    async fn races() -> Result<u32, BoxError> {
        Ok(match race!(signal!("a"), signal!("b"), sleep!("c", days(400))).await {
            Race3::First(value) | Race3::Second(value) => value,
            Race3::Third(()) => 0,
        })
    }
    for (name, value) in [("a", 1u32), ("b", 2), ("", 0)] {
        for park_after in [millis(0), days(1_000)] {
            let world = World::new();
            let runtime = world
                .open(|runtime| runtime.workflow(races).park_after(park_after))
                .await;
            let handle = runtime.start(races, ()).id("x").await.unwrap();
            let seen = runtime.until_status("x", Status::Waiting).await;
            assert_eq!(seen.waiting_for.len(), 3);
            if name.is_empty() {
                world
                    .advance_until(async || runtime.ask("x").await.status.is_terminal())
                    .await;
            } else {
                handle.signal(name, &value).await.unwrap();
            }
            assert_eq!(handle.result().await.unwrap(), value);
        }
    }
}

#[tokio::test]
async fn nested_races_and_joins_end_with_the_innermost_winner_on_replay_too() {
    #[workflow]
    async fn nests(ledger: &Ledger) -> Result<String, BoxError> {
        let inner = async {
            match race!(
                async {
                    let (a, ()) = join!(signal!("a"), sleep!("with a", secs(5))).await;
                    let a: u32 = a;
                    a
                },
                async {
                    sleep!("slow", secs(60)).await;
                    0u32
                }
            )
            .await
            {
                Race2::First(a) => format!("inner a {a}"),
                Race2::Second(_) => "inner slow".to_owned(),
            }
        };
        let outer = async {
            sleep!("outer", secs(30)).await;
            "outer".to_owned()
        };
        let won = race!(inner, outer).await.into_inner();
        step!("note", async { Ok::<_, BoxError>(ledger.note(&won)) }).await?;
        sleep!("rest", secs(1)).await;
        Ok(won)
    }
    for (signalled, expected) in [(true, "inner a 7"), (false, "outer")] {
        let (world, ledger) = (World::new(), Ledger::default());
        let open = |runtime: Builder| runtime.workflow(nests).state(ledger.clone()).park_after(millis(0));
        let runtime = world.open(open).await;
        let handle = runtime.start(nests, ()).id("x").await.unwrap();
        runtime.until_status("x", Status::Waiting).await;
        if signalled {
            handle.signal("a", &7u32).await.unwrap();
        }
        world.advance_until(async || ledger.total() == 1).await;
        runtime.until_status("x", Status::Waiting).await;
        drop(runtime);
        let runtime = world.open(open).await;
        world
            .advance_until(async || runtime.ask("x").await.status.is_terminal())
            .await;
        assert_eq!(
            runtime.handle(nests, "x").await.unwrap().result().await.unwrap(),
            expected
        );
        assert_eq!(ledger.entries(), [expected]);
    }
}

#[tokio::test]
async fn a_body_that_never_ends_does_not_hold_up_the_instance_that_lost_it() {
    #[workflow]
    async fn loses(ledger: &Ledger) -> Result<u32, BoxError> {
        for _ in 0..100 {
            let lost = race!(
                step!("for ever", async {
                    ledger.note("for ever");
                    std::future::pending::<Result<u32, BoxError>>().await
                }),
                sleep!("short", secs(1))
            )
            .await;
            assert!(matches!(lost, Race2::Second(())));
        }
        Ok(1)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world
        .open(|runtime| runtime.workflow(loses).state(ledger.clone()))
        .await;
    let handle = runtime.start(loses, ()).id("x").await.unwrap();
    for round in 1..=100 {
        until(async || ledger.total() == round).await;
        world.clock.advance(secs(1));
    }
    assert_eq!(handle.result().await.unwrap(), 1);
    assert_eq!(ledger.total(), 100);
}

#[tokio::test]
async fn a_helper_that_calls_itself_gives_every_call_its_own_names() {
    #[durable]
    async fn sums(depth: u32, ledger: &Ledger) -> Result<u32, StepError> {
        let here = step!("here", ledger.work(depth, depth)).await?;
        if depth == 0 {
            return Ok(here);
        }
        Ok(here + Box::pin(sums(depth - 1, ledger)).await?)
    }
    #[workflow]
    async fn recurses(ledger: &Ledger) -> Result<u32, BoxError> {
        let twice = sums(20, ledger).await? + sums(3, ledger).await?;
        sleep!("rest", secs(1)).await;
        Ok(twice)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let open = |runtime: Builder| runtime.workflow(recurses).state(ledger.clone());
    let runtime = world.open(open).await;
    runtime.start(recurses, ()).id("x").await.unwrap();
    runtime.until_status("x", Status::Waiting).await;
    drop(runtime);
    let runtime = world.open(open).await;
    world.clock.advance(secs(1));
    assert_eq!(
        runtime.handle(recurses, "x").await.unwrap().result().await.unwrap(),
        216
    );
    assert_eq!(ledger.total(), 25);
}

#[tokio::test]
async fn ten_thousand_parked_instances_are_woken_at_one_instant() {
    #[workflow]
    async fn rests(value: u32) -> Result<u32, BoxError> {
        sleep!("rest", days(30)).await;
        Ok(value)
    }
    let world = World::new();
    let runtime = world
        .open(|runtime| runtime.workflow(rests).park_after(millis(0)))
        .await;
    let starts = (0..10_000).map(|value| {
        let runtime = runtime.clone();
        tokio::spawn(async move { runtime.start(rests, value).id(format!("{value}")).await.unwrap() })
    });
    let mut handles = Vec::new();
    for start in starts.collect::<Vec<_>>() {
        handles.push(start.await.unwrap());
    }
    for handle in &handles {
        runtime.until_status(handle.id(), Status::Waiting).await;
    }
    let loads = world.store.counts().loads;
    let seen = runtime.ask("77").await;
    assert!(matches!(seen.waiting_for[..], [WaitingFor::Sleep { .. }]));
    world.clock.advance(days(30));
    for (value, handle) in (0..10_000).zip(handles) {
        assert_eq!(handle.result().await.unwrap(), value);
    }
    assert_eq!(
        world.store.counts().loads - loads,
        10_001,
        "each is loaded once to go on, and one was to be looked at"
    );
}
