//! Time is absolute: due instants are fixed when first reached, whatever clocks and processes do (requirement D18, family 4).

use std::time::{Duration, SystemTime};
use steadfast::prelude::*;
use steadfast::testing::Clock;
use steadfast::{Builder, WaitingFor};
use steadfast_tests::{Ask, Ledger, World, until};

async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

fn is_sleep(wait: &WaitingFor) -> bool {
    matches!(wait, WaitingFor::Sleep { .. })
}

#[workflow]
async fn rests(length: Duration) -> Result<Timestamp, BoxError> {
    sleep!("rest", length).await;
    Ok(now!())
}

#[tokio::test]
async fn a_sleep_ends_at_its_instant_not_before_whatever_its_length() {
    let lengths = [
        Duration::ZERO,
        Duration::from_nanos(1),
        millis(1),
        secs(1),
        // Beyond 2^31 milliseconds.
        Duration::from_millis((1 << 31) + 1),
        days(400),
        days(100_000),
    ];
    for park_after in [millis(0), days(10_000_000)] {
        for length in lengths {
            let world = World::new();
            let runtime = world
                .open(|runtime| runtime.workflow(rests).park_after(park_after))
                .await;
            let due = world.clock.now() + length;
            let handle = runtime.start(rests, length).id("a").await.unwrap();
            if length > Duration::ZERO {
                runtime.until_status("a", Status::Waiting).await;
                let early = Timestamp::from_micros(due.as_micros() - 1);
                if early > world.clock.now() {
                    world.clock.set(early);
                    settle().await;
                    assert_eq!(runtime.ask("a").await.status, Status::Waiting, "{length:?}");
                }
                world.clock.set(due);
            }
            assert_eq!(handle.result().await.unwrap(), due, "{length:?}");
        }
    }
}

#[tokio::test]
async fn a_sleep_of_any_length_can_be_cancelled_and_the_longest_never_ends() {
    for park_after in [millis(0), Duration::MAX] {
        let world = World::new();
        let runtime = world
            .open(|runtime| runtime.workflow(rests).park_after(park_after))
            .await;
        let handle = runtime.start(rests, Duration::MAX).id("a").await.unwrap();
        let seen = runtime.until_status("a", Status::Waiting).await;
        let expected = WaitingFor::Sleep {
            sleep: "rest".into(),
            until: Timestamp::MAX,
        };
        assert_eq!(seen.waiting_for, [expected]);
        world.clock.set(Timestamp::from_micros(u64::MAX - 1));
        settle().await;
        assert_eq!(runtime.ask("a").await.status, Status::Waiting);
        handle.cancel("enough").await.unwrap();
        handle.result().await.unwrap_err();
    }
}

#[tokio::test]
async fn a_clock_that_was_set_back_delays_a_sleep_to_its_instant_and_does_not_start_it_over() {
    for park_after in [millis(0), days(1_000)] {
        for reopen in [false, true] {
            let world = World::new();
            let open = |runtime: Builder| runtime.workflow(rests).park_after(park_after);
            let mut runtime = world.open(open).await;
            let began = world.clock.now();
            runtime.start(rests, hours(10)).id("a").await.unwrap();
            runtime.until_status("a", Status::Waiting).await;
            world.clock.set(began + hours(9));
            settle().await;
            world
                .clock
                .set(Timestamp::from_micros(began.as_micros() - 3_600_000_000));
            settle().await;
            if reopen {
                drop(runtime);
                runtime = world.open(open).await;
                runtime.resume("a").await.unwrap();
            }
            let expected = WaitingFor::Sleep {
                sleep: "rest".into(),
                until: began + hours(10),
            };
            assert_eq!(runtime.until_waiting_for("a", is_sleep).await.waiting_for, [expected]);
            world.clock.set(began + hours(10));
            assert_eq!(
                runtime.handle(rests, "a").await.unwrap().result().await.unwrap(),
                began + hours(10)
            );
        }
    }
}

#[tokio::test]
async fn a_clock_that_jumped_forward_ends_each_sleep_once_and_a_jump_back_afterwards_ends_none_again() {
    #[workflow]
    async fn thrice(ledger: &Ledger) -> Result<Vec<Timestamp>, BoxError> {
        let mut seen = vec![now!()];
        for _ in 0..3 {
            sleep!("rest", hours(1)).await;
            seen.push(now!());
            step!("note", async { Ok::<_, BoxError>(ledger.note("note")) }).await?;
        }
        Ok(seen)
    }
    for park_after in [millis(0), days(1_000)] {
        let (world, ledger) = (World::new(), Ledger::default());
        let runtime = world
            .open(|runtime| runtime.workflow(thrice).state(ledger.clone()).park_after(park_after))
            .await;
        let began = world.clock.now();
        let handle = runtime.start(thrice, ()).id("a").await.unwrap();
        runtime.until_status("a", Status::Waiting).await;
        // A day too far, and back.
        world.clock.set(began + days(1));
        until(async || ledger.total() == 1).await;
        runtime
            .until_waiting_for(
                "a",
                |wait| matches!(wait, WaitingFor::Sleep { sleep, .. } if sleep == "rest#1"),
            )
            .await;
        world.clock.set(began);
        settle().await;
        assert_eq!(ledger.total(), 1, "the second sleep counts from when it began");
        world.clock.set(began + days(1) + hours(1));
        until(async || ledger.total() == 2).await;
        runtime
            .until_waiting_for(
                "a",
                |wait| matches!(wait, WaitingFor::Sleep { sleep, .. } if sleep == "rest#2"),
            )
            .await;
        world.clock.set(began + days(1) + hours(2));
        let seen = handle.result().await.unwrap();
        assert!(seen.is_sorted(), "time in a workflow never runs backwards: {seen:?}");
        assert_eq!(ledger.total(), 3);
    }
}

#[tokio::test]
async fn time_in_a_workflow_does_not_run_backwards_and_is_the_same_on_replay() {
    #[workflow]
    async fn looks(ledger: &Ledger) -> Result<Vec<Timestamp>, BoxError> {
        let mut seen = Vec::new();
        for round in 0..5u32 {
            seen.push(now!());
            let _: u32 = signal!("tick").await;
            seen.push(now!());
            step!("work", ledger.work(round, ())).await?;
            assert!(now!() >= *seen.last().unwrap_or(&Timestamp::EPOCH));
        }
        Ok(seen)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let open = |runtime: Builder| runtime.workflow(looks).state(ledger.clone());
    let mut runtime = world.open(open).await;
    let began = world.clock.now();
    runtime.start(looks, ()).id("a").await.unwrap();
    for (round, at) in [5u64, 3, 9, 1, 7].into_iter().enumerate() {
        runtime
            .until_waiting_for("a", |wait| matches!(wait, WaitingFor::Signal { .. }))
            .await;
        world.clock.set(began + hours(at));
        runtime.signal("a", "tick", &0u32).await.unwrap();
        until(async || ledger.total() == round + 1).await;
        drop(runtime);
        runtime = world.open(open).await;
    }
    let seen = runtime.handle(looks, "a").await.unwrap().result().await.unwrap();
    assert!(seen.is_sorted(), "{seen:?}");
    let ticks: Vec<Duration> = seen.iter().skip(1).step_by(2).map(|at| at.since(began)).collect();
    assert_eq!(ticks, [5, 5, 9, 9, 9].map(hours));
}

#[tokio::test]
async fn a_sleep_until_a_system_time_or_an_instant_in_the_past_is_over_at_once() {
    #[workflow]
    async fn past() -> Result<u32, BoxError> {
        sleep!("system time", SystemTime::UNIX_EPOCH).await;
        sleep!("before there was time", SystemTime::UNIX_EPOCH - days(1)).await;
        sleep!("instant", Timestamp::from_micros(7)).await;
        let late: Result<u32, Elapsed> = signal!("late").timeout(Timestamp::EPOCH).await;
        sleep!("nothing", Duration::ZERO).await;
        Ok(late.unwrap_or(9))
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(past)).await;
    assert_eq!(runtime.start(past, ()).await.unwrap().result().await.unwrap(), 9);
}

#[tokio::test]
async fn a_deadline_that_passed_while_nobody_ran_does_not_beat_a_signal_that_is_there() {
    #[workflow]
    async fn waits() -> Result<u32, BoxError> {
        let word: Result<u32, Elapsed> = signal!("word").timeout(hours(1)).await;
        Ok(word.unwrap_or(0))
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(waits)).await;
    runtime.start(waits, ()).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    // The signal is durable, and the process dies before the instance sees it; then the deadline passes.
    world
        .store
        .die_at(world.store.counts().groups + 2, steadfast_tests::When::Before);
    let _ = runtime.signal("a", "word", &5u32).await;
    until(async || world.store.is_dead()).await;
    drop(runtime);
    world.store.revive();
    world.clock.advance(hours(2));
    let runtime = world.open(|runtime| runtime.workflow(waits)).await;
    assert_eq!(runtime.handle(waits, "a").await.unwrap().result().await.unwrap(), 5);
}

#[tokio::test]
async fn sleeps_that_are_due_together_end_in_the_order_of_their_instants() {
    #[derive(Default)]
    struct Order(std::sync::Mutex<Vec<u64>>);
    impl Order {
        fn note(&self, value: u64) {
            self.0.lock().unwrap().push(value);
        }
    }
    // What is seen in memory, of a workflow that is not replayed in between.
    #[workflow]
    async fn together() -> Result<Vec<u64>, BoxError> {
        let order = Order::default();
        join!(
            async {
                sleep!("third", secs(30)).await;
                order.note(3)
            },
            async {
                sleep!("first", secs(10)).await;
                order.note(1)
            },
            async {
                sleep!("second", secs(20)).await;
                order.note(2)
            }
        )
        .await;
        Ok(order.0.into_inner()?)
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(together)).await;
    let handle = runtime.start(together, ()).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    world.clock.advance(hours(1));
    assert_eq!(handle.result().await.unwrap(), [1, 2, 3]);
}
