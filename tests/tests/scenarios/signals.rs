//! Signals are never lost, duplicated or reordered: before the wait, before the first turn, while parked, across restarts
//! and to the loser of a race.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use steadfast::prelude::*;
use steadfast::{Builder, Difference, SignalAnswer, SignalError, StartError, WaitingFor, WorkflowError};
use steadfast_tests::{Ask, Gate, Ledger, World, until};

#[workflow]
async fn takes(count: u32, ledger: &Ledger) -> Result<Vec<u32>, BoxError> {
    step!("begin", ledger.work("begin", ())).await?;
    let mut taken = Vec::new();
    for _ in 0..count {
        let value: u32 = signal!("value").await;
        taken.push(value);
    }
    Ok(taken)
}

#[workflow]
async fn held(gate: &Gate) -> Result<Vec<u32>, BoxError> {
    step!("hold", {
        gate.pass("hold").await;
        Ok(())
    })
    .await?;
    let first: u32 = signal!("value").await;
    let second: u32 = signal!("value").await;
    Ok(vec![first, second])
}

fn parking(runtime: Builder, ledger: &Ledger) -> Builder {
    runtime.workflow(takes).state(ledger.clone()).park_after(millis(0))
}

fn staying(runtime: Builder, ledger: &Ledger) -> Builder {
    runtime.workflow(takes).state(ledger.clone()).park_after(days(1))
}

fn is_signal(wait: &WaitingFor) -> bool {
    matches!(wait, WaitingFor::Signal { .. })
}

#[tokio::test]
async fn thirty_buffered_signals_are_read_in_the_order_they_were_sent_over_restarts() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    #[workflow]
    async fn gated(gate: &Gate) -> Result<Vec<u32>, BoxError> {
        step!("hold", {
            gate.pass("hold").await;
            Ok(())
        })
        .await?;
        let mut taken = Vec::new();
        for _ in 0..30 {
            let value: u32 = signal!("value").await;
            taken.push(value);
            if taken.len() % 7 == 0 {
                sleep!("breath", secs(1)).await;
            }
        }
        Ok(taken)
    }
    let open = |runtime: Builder| runtime.workflow(gated).state(gate.clone()).state(ledger.clone());
    let runtime = world.open(open).await;
    runtime.start(gated, ()).id("a").await.unwrap();
    for value in 0..15u32 {
        let answer = runtime.signal("a", "value", &value).await.unwrap();
        assert_eq!(answer, SignalAnswer::Buffered);
    }
    drop(runtime);
    let runtime = world.open(open).await;
    for value in 15..30u32 {
        runtime.signal("a", "value", &value).await.unwrap();
    }
    gate.open(2);
    for _ in 0..4 {
        let is_sleep = |wait: &WaitingFor| matches!(wait, WaitingFor::Sleep { .. });
        runtime.until_waiting_for("a", is_sleep).await;
        world.clock.advance(secs(1));
        until(async || {
            let seen = runtime.status("a").await.unwrap();
            !seen
                .waiting_for
                .iter()
                .any(|wait| matches!(wait, WaitingFor::Sleep { until, .. } if *until <= now(&world)))
        })
        .await;
    }
    let result = runtime.handle(gated, "a").await.unwrap().result().await.unwrap();
    assert_eq!(result, (0..30).collect::<Vec<u32>>());
}

fn now(world: &World) -> Timestamp {
    steadfast::testing::Clock::now(&world.clock)
}

#[tokio::test]
async fn signals_of_different_names_have_queues_of_their_own() {
    #[workflow]
    async fn by_name() -> Result<Vec<String>, BoxError> {
        let mut taken = Vec::new();
        for _ in 0..2 {
            let b: String = signal!("b").await;
            taken.push(b);
            let a: String = signal!("a").await;
            taken.push(a);
        }
        Ok(taken)
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(by_name)).await;
    let handle = runtime.start(by_name, ()).id("x").await.unwrap();
    for (name, value) in [("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2")] {
        handle.signal(name, value).await.unwrap();
    }
    assert_eq!(handle.result().await.unwrap(), ["b1", "a1", "b2", "a2"]);
}

#[tokio::test]
async fn a_signal_sent_at_once_after_the_start_is_received() {
    for _ in 0..200 {
        let (world, ledger) = (World::new(), Ledger::default());
        let runtime = world.open(|runtime| staying(runtime, &ledger)).await;
        let handle = runtime.start(takes, 2).id("a").await.unwrap();
        let (first, second) = (1u32, 2u32);
        handle.signal("value", &first).await.unwrap();
        handle.signal("value", &second).await.unwrap();
        assert_eq!(handle.result().await.unwrap(), [1, 2]);
    }
}

#[tokio::test]
async fn a_signal_sent_before_the_first_turn_survives_the_restart_before_it() {
    let (world, ledger) = (World::new(), Ledger::default());
    // Nobody has the code: the instance cannot have had a turn.
    let runtime = world.open(|runtime| staying(runtime, &ledger)).await;
    runtime.start(takes, 1).id("a").await.unwrap();
    runtime.signal("a", "value", &5u32).await.unwrap();
    drop(runtime);
    let runtime = world.open(|runtime| staying(runtime, &ledger)).await;
    assert_eq!(runtime.handle(takes, "a").await.unwrap().result().await.unwrap(), [5]);
}

#[tokio::test]
async fn the_answer_tells_delivered_from_buffered() {
    let (world, gate) = (World::new(), Gate::default());
    let runtime = world
        .open(|runtime| runtime.workflow(held).state(gate.clone()).park_after(days(1)))
        .await;
    let handle = runtime.start(held, ()).id("a").await.unwrap();
    assert_eq!(handle.signal("value", &1u32).await.unwrap(), SignalAnswer::Buffered);
    gate.open(1);
    runtime.until_waiting_for("a", is_signal).await;
    assert_eq!(handle.signal("other", &1u32).await.unwrap(), SignalAnswer::Buffered);
    assert_eq!(handle.signal("value", &2u32).await.unwrap(), SignalAnswer::Delivered);
    assert_eq!(handle.result().await.unwrap(), [1, 2]);
}

#[tokio::test]
async fn of_two_signals_for_one_wait_the_second_is_told_it_is_buffered() {
    let (world, ledger) = (World::new(), Ledger::default());
    for register in [parking, staying] {
        let runtime = world.open(|runtime| register(runtime, &ledger)).await;
        let handle = runtime.start(takes, 1).await.unwrap();
        let id = handle.id().to_owned();
        runtime.until_waiting_for(&id, is_signal).await;
        let (first, second) = tokio::join!(async { runtime.signal(&id, "value", &1u32).await }, async {
            runtime.signal(&id, "value", &2u32).await
        });
        let mut answers = vec![first, second];
        assert!(
            matches!(answers.remove(0), Ok(SignalAnswer::Delivered)),
            "the wait was open"
        );
        match answers.remove(0) {
            Ok(SignalAnswer::Buffered) | Err(SignalError::AlreadyFinished { .. }) => {}
            other => panic!("{other:?}"),
        }
        assert_eq!(handle.result().await.unwrap(), [1]);
    }
}

#[tokio::test]
async fn a_signal_to_a_parked_instance_is_delivered_and_wakes_it() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| parking(runtime, &ledger)).await;
    let handle = runtime.start(takes, 2).id("a").await.unwrap();
    for value in [1u32, 2] {
        runtime.until_waiting_for("a", is_signal).await;
        assert_eq!(handle.signal("value", &value).await.unwrap(), SignalAnswer::Delivered);
    }
    assert_eq!(handle.result().await.unwrap(), [1, 2]);
    assert_eq!(ledger.count("begin"), 1);
}

#[tokio::test]
async fn a_signal_to_an_instance_that_a_restart_left_parked_is_delivered() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| staying(runtime, &ledger)).await;
    runtime.start(takes, 1).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    drop(runtime);
    let runtime = world.open(|runtime| staying(runtime, &ledger)).await;
    let loads = world.store.counts().loads;
    assert_eq!(
        runtime.signal("a", "unrelated", &1u32).await.unwrap(),
        SignalAnswer::Buffered
    );
    assert_eq!(
        world.store.counts().loads,
        loads,
        "a signal nobody waits for loads nothing"
    );
    assert_eq!(
        runtime.signal("a", "value", &9u32).await.unwrap(),
        SignalAnswer::Delivered
    );
    assert_eq!(runtime.handle(takes, "a").await.unwrap().result().await.unwrap(), [9]);
}

#[tokio::test]
async fn a_consumed_signal_is_not_delivered_again_after_a_restart() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| staying(runtime, &ledger)).await;
    runtime.start(takes, 2).id("a").await.unwrap();
    runtime.signal("a", "value", &1u32).await.unwrap();
    until(async || {
        runtime
            .lines("a")
            .await
            .iter()
            .any(|line| line.contains("received signal 0"))
    })
    .await;
    for _ in 0..3 {
        let again = world.open(|runtime| parking(runtime, &ledger)).await;
        again.resume("a").await.unwrap();
        let seen = again.until_waiting_for("a", is_signal).await;
        assert_eq!(seen.waiting_for.len(), 1);
        assert_eq!(
            again
                .lines("a")
                .await
                .iter()
                .filter(|line| line.contains("received"))
                .count(),
            1
        );
    }
    let again = world.open(|runtime| parking(runtime, &ledger)).await;
    again.signal("a", "value", &2u32).await.unwrap();
    assert_eq!(again.handle(takes, "a").await.unwrap().result().await.unwrap(), [1, 2]);
}

#[tokio::test]
async fn a_deduplication_key_counts_before_and_after_the_signal_was_consumed_and_after_a_restart() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| staying(runtime, &ledger)).await;
    runtime.start(takes, 2).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    let send = async |runtime: &Runtime, key: &str| runtime.signal("a", "value", &7u32).dedup_key(key).await.unwrap();
    assert_eq!(send(&runtime, "k").await, SignalAnswer::Delivered);
    assert_eq!(send(&runtime, "k").await, SignalAnswer::Duplicate);
    until(async || runtime.lines("a").await.iter().any(|line| line.contains("received"))).await;
    assert_eq!(send(&runtime, "k").await, SignalAnswer::Duplicate);
    drop(runtime);
    let runtime = world.open(|runtime| staying(runtime, &ledger)).await;
    assert_eq!(send(&runtime, "k").await, SignalAnswer::Duplicate);
    assert_eq!(send(&runtime, "k2").await, SignalAnswer::Delivered);
    assert_eq!(
        runtime.handle(takes, "a").await.unwrap().result().await.unwrap(),
        [7, 7]
    );
    assert_eq!(
        send(&runtime, "k").await,
        SignalAnswer::Duplicate,
        "the sender gets the answer it missed"
    );
}

#[tokio::test]
async fn senders_are_told_about_unknown_and_finished_instances() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| staying(runtime, &ledger)).await;
    let error = runtime.signal("nobody", "value", &1u32).await.unwrap_err();
    assert!(
        matches!(&error, SignalError::UnknownInstance { id } if id == "nobody"),
        "{error:?}"
    );
    runtime
        .start(takes, 0)
        .id("done")
        .await
        .unwrap()
        .result()
        .await
        .unwrap();
    let error = runtime.signal("done", "value", &1u32).await.unwrap_err();
    assert!(
        matches!(
            &error,
            SignalError::AlreadyFinished {
                status: Status::Completed,
                ..
            }
        ),
        "{error:?}"
    );
    let handle = runtime.start(takes, 1).id("cancelled").await.unwrap();
    handle.cancel("enough").await.unwrap();
    assert!(matches!(handle.result().await, Err(WorkflowError::Cancelled { .. })));
    let error = handle.signal("value", &1u32).await.unwrap_err();
    assert!(
        matches!(
            &error,
            SignalError::AlreadyFinished {
                status: Status::Cancelled,
                ..
            }
        ),
        "{error:?}"
    );
    assert!(matches!(
        runtime.signal("cancelled", "", &1u32).await.unwrap_err(),
        SignalError::BadName { size: 0, .. }
    ));
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Approval {
    approved: bool,
    by: String,
}

#[workflow]
async fn approves() -> Result<Approval, BoxError> {
    let approval: Approval = signal!("approval").await;
    Ok(approval)
}

#[tokio::test]
async fn a_signal_of_another_type_is_refused_at_the_sender_when_the_type_is_known() {
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(approves)).await;
    let handle = runtime.start(approves, ()).id("a").await.unwrap();
    runtime.until_waiting_for("a", is_signal).await;
    let error = runtime.signal("a", "approval", &u64::MAX).await.unwrap_err();
    assert!(
        matches!(&error, SignalError::OtherType { workflow, name, .. } if workflow == "approves" && name == "approval"),
        "{error:?}"
    );
    let approval = Approval {
        approved: true,
        by: "Ada".into(),
    };
    assert_eq!(
        handle.signal("approval", &approval).await.unwrap(),
        SignalAnswer::Delivered
    );
    assert_eq!(handle.result().await.unwrap(), approval);
}

#[tokio::test]
async fn an_undecodable_signal_is_set_aside_visibly_and_the_wait_goes_on() {
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(approves)).await;
    runtime.start(approves, ()).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    drop(runtime);
    // A new process does not know the type before the instance has had a turn in it.
    let runtime = world.open(|runtime| runtime.workflow(approves)).await;
    runtime.signal("a", "approval", &u64::MAX).await.unwrap();
    until(async || {
        runtime
            .lines("a")
            .await
            .iter()
            .any(|line| line.contains("set signal 0 aside"))
    })
    .await;
    runtime.until_waiting_for("a", is_signal).await;
    // What is in the store is seen a moment before the instance has its receipt.
    runtime.until_status("a", Status::Waiting).await;
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(approves)).await;
    let approval = Approval {
        approved: true,
        by: "Ada".into(),
    };
    assert_eq!(
        runtime.signal("a", "approval", &approval).await.unwrap(),
        SignalAnswer::Delivered
    );
    assert_eq!(
        runtime.handle(approves, "a").await.unwrap().result().await.unwrap(),
        approval
    );
}

#[tokio::test]
async fn one_name_may_carry_two_types_one_after_the_other() {
    #[workflow]
    async fn both() -> Result<(u32, String), BoxError> {
        let number: u32 = signal!("x").await;
        let text: String = signal!("x").await;
        Ok((number, text))
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(both)).await;
    let first = runtime.start(both, ()).id("first").await.unwrap();
    runtime.until_waiting_for("first", is_signal).await;
    first.signal("x", &1u32).await.unwrap();
    until(async || {
        runtime
            .lines("first")
            .await
            .iter()
            .any(|line| line.contains("received"))
    })
    .await;
    runtime.until_waiting_for("first", is_signal).await;
    // The runtime has seen both waits by now; the second instance still waits for the number.
    let second = runtime.start(both, ()).id("second").await.unwrap();
    runtime.until_waiting_for("second", is_signal).await;
    second.signal("x", &2u32).await.unwrap();
    second.signal("x", "two").await.unwrap();
    first.signal("x", "one").await.unwrap();
    assert_eq!(first.result().await.unwrap(), (1, "one".to_owned()));
    assert_eq!(second.result().await.unwrap(), (2, "two".to_owned()));
}

#[tokio::test]
async fn a_signal_to_the_loser_of_a_race_stays_for_the_next_wait() {
    #[workflow]
    async fn races() -> Result<(u32, u32), BoxError> {
        let first = match race!(signal!("value"), sleep!("short", secs(1))).await {
            Race2::First(value) => value,
            Race2::Second(()) => 0,
        };
        sleep!("pause", secs(1)).await;
        let second: u32 = signal!("value").await;
        Ok((first, second))
    }
    for park_after in [millis(0), days(1)] {
        let world = World::new();
        let runtime = world
            .open(|runtime| runtime.workflow(races).park_after(park_after))
            .await;
        let handle = runtime.start(races, ()).id("a").await.unwrap();
        runtime.until_waiting_for("a", is_signal).await;
        world.clock.advance(secs(1));
        runtime
            .until_waiting_for(
                "a",
                |wait| matches!(wait, WaitingFor::Sleep { sleep, .. } if sleep == "pause"),
            )
            .await;
        assert_eq!(handle.signal("value", &5u32).await.unwrap(), SignalAnswer::Buffered);
        world.clock.advance(secs(1));
        assert_eq!(handle.result().await.unwrap(), (0, 5));
    }
}

#[tokio::test]
async fn a_late_signal_after_a_timeout_stays_for_the_next_wait() {
    #[workflow]
    async fn waits() -> Result<(Option<u32>, u32), BoxError> {
        let first: Result<u32, Elapsed> = signal!("value").timeout(secs(1)).await;
        sleep!("pause", secs(1)).await;
        let second: u32 = signal!("value").await;
        Ok((first.ok(), second))
    }
    let world = World::new();
    let runtime = world
        .open(|runtime| runtime.workflow(waits).park_after(millis(0)))
        .await;
    let handle = runtime.start(waits, ()).id("a").await.unwrap();
    runtime.until_waiting_for("a", is_signal).await;
    world.clock.advance(secs(1));
    runtime
        .until_waiting_for("a", |wait| matches!(wait, WaitingFor::Sleep { .. }))
        .await;
    assert_eq!(handle.signal("value", &5u32).await.unwrap(), SignalAnswer::Buffered);
    world.clock.advance(secs(1));
    assert_eq!(handle.result().await.unwrap(), (None, 5));
}

#[tokio::test]
async fn two_waits_of_one_name_at_once_get_the_signals_in_the_order_of_the_waits() {
    #[workflow]
    async fn joined() -> Result<(u32, u32), BoxError> {
        let (left, right): (u32, u32) = join!(signal!("value"), signal!("value")).await;
        Ok((left, right))
    }
    for park_after in [millis(0), days(1)] {
        let world = World::new();
        let runtime = world
            .open(|runtime| runtime.workflow(joined).park_after(park_after))
            .await;
        let handle = runtime.start(joined, ()).id("a").await.unwrap();
        runtime.until_waiting_for("a", is_signal).await;
        assert_eq!(handle.signal("value", &1u32).await.unwrap(), SignalAnswer::Delivered);
        assert_eq!(handle.signal("value", &2u32).await.unwrap(), SignalAnswer::Delivered);
        assert_eq!(handle.result().await.unwrap(), (1, 2));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_signal_of_many_senders_is_lost_while_the_instance_parks_and_wakes_all_the_time() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| parking(runtime, &ledger)).await;
    let handle = runtime.start(takes, 400).id("a").await.unwrap();
    let mut senders = Vec::new();
    for sender in 0..4u32 {
        let runtime = runtime.clone();
        senders.push(tokio::spawn(async move {
            for place in 0..100u32 {
                runtime.signal("a", "value", &(sender * 1_000 + place)).await.unwrap();
            }
        }));
    }
    for sender in senders {
        sender.await.unwrap();
    }
    let taken = handle.result().await.unwrap();
    let mut by_sender: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for value in taken {
        by_sender.entry(value / 1_000).or_default().push(value % 1_000);
    }
    for places in by_sender.into_values() {
        assert_eq!(places, (0..100).collect::<Vec<u32>>());
    }
}

#[tokio::test]
async fn a_start_and_a_signal_by_the_same_id_do_not_mix() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| staying(runtime, &ledger)).await;
    runtime.start(takes, 1).id("a").await.unwrap();
    runtime.signal("a", "value", &1u32).await.unwrap();
    let error = runtime.start(takes, 2).id("a").await.unwrap_err();
    assert!(
        matches!(
            error,
            StartError::Conflict {
                difference: Difference::Input,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(runtime.handle(takes, "a").await.unwrap().result().await.unwrap(), [1]);
}
