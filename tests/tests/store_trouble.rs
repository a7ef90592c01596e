//! What an engine does while its store does not: unavailable, failed, fenced, or slow.

use std::future::IntoFuture as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use steadfast::prelude::*;
use steadfast::store::{MemoryStore, Store as _, Write};
use steadfast::{CancelAnswer, RuntimeError, SignalError, WorkflowError};
use steadfast_tests::drive::{World, process, until};
use steadfast_tests::fault::{Faulty, Latch, Moment, failed, unavailable};
use steadfast_tests::journal;
use steadfast_tests::ledger::{Ledger, Place};

/// The gates around a commit: it is under way; the workflow is about to return.
#[derive(Clone, Default)]
struct Slow {
    committing: Latch,
    returning: Latch,
}

#[workflow]
async fn pair(id: String, ledger: &Ledger, slow: &Slow) -> Result<u32, BoxError> {
    let id = id.as_str();
    let at = |step| Place { id, step, after: &[] };
    let (left, right) = join!(
        step!("left", |attempt| ledger.body(at("left"), attempt, Ok::<_, BoxError>(1))),
        step!("right", |attempt| {
            let committing = slow.committing.clone();
            tokio::task::spawn_blocking(move || committing.pass()).await?;
            ledger.body(at("right"), attempt, Ok::<_, BoxError>(2)).await
        })
    )
    .await;
    let sum = left? + right?;
    slow.returning.open();
    Ok(sum)
}

#[test]
fn an_end_that_is_reached_while_an_earlier_commit_is_under_way_is_durable_before_it_is_told() {
    let data = MemoryStore::new();
    let ledger = Ledger::over(data.clone());
    let slow = Slow::default();
    let seam = slow.clone();
    let store = Faulty::new(data.clone(), move |_, moment, group| {
        // The commit with the first result waits until the workflow has returned.
        let is_turn = group.iter().any(|write| matches!(write, Write::Turn { .. }));
        if is_turn && moment == Moment::Before {
            seam.committing.open();
            seam.returning.pass();
        }
        Ok(())
    });
    process(async {
        let builder = Runtime::builder().workflow(pair).state(ledger.clone()).state(slow);
        let runtime = builder.store(store).start().await.unwrap();
        let handle = runtime.start(pair, "a".to_owned()).id("a").await.unwrap();
        assert_eq!(handle.result().await.unwrap(), 3);
        // Told, therefore durable.
        assert_eq!(data.find("a").unwrap().unwrap().status, Status::Completed);
    });
    let lines = journal::lines(&data, "a");
    assert!(
        lines.iter().any(|line| line.starts_with("step `right` succeeded")),
        "{lines:?}"
    );
    assert_eq!(ledger.violations(), Vec::<String>::new());
}

/// The gates around a cancellation: its commit is under way; the workflow has the result of `one`; the instance knows.
#[derive(Clone, Default)]
struct Around {
    cancelling: Latch,
    advanced: Latch,
    told: Latch,
}

#[workflow]
async fn cancelled_between(id: String, ledger: &Ledger, around: &Around) -> Result<u32, BoxError> {
    let id = id.as_str();
    let one = step!("one", |attempt| {
        let cancelling = around.cancelling.clone();
        tokio::task::spawn_blocking(move || cancelling.pass()).await?;
        ledger
            .body(
                Place {
                    id,
                    step: "one",
                    after: &[],
                },
                attempt,
                Ok::<_, BoxError>(1),
            )
            .await
    })
    .await?;
    around.advanced.open();
    let place = Place {
        id,
        step: "two",
        after: &["one"],
    };
    Ok(one + step!("two", |attempt| ledger.stuck::<u32>(place, attempt)).await?)
}

#[test]
fn a_cancellation_that_comes_while_a_commit_is_under_way_is_durable_before_it_is_told() {
    let data = MemoryStore::new();
    let ledger = Ledger::over(data.clone());
    let around = Around::default();
    let seam = around.clone();
    let store = Faulty::new(data.clone(), move |_, moment, group| {
        let is_cancel = group.iter().any(|write| matches!(write, Write::Cancel { .. }));
        if is_cancel && moment == Moment::After {
            seam.cancelling.open();
            seam.advanced.pass();
        }
        let is_turn = group.iter().any(|write| matches!(write, Write::Turn { .. }));
        if is_turn && moment == Moment::Before {
            seam.told.pass();
        }
        Ok(())
    });
    process(async {
        let builder = Runtime::builder()
            .workflow(cancelled_between)
            .state(ledger.clone())
            .state(around.clone());
        let runtime = builder.store(store).start().await.unwrap();
        let handle = runtime.start(cancelled_between, "a".to_owned()).id("a").await.unwrap();
        assert_eq!(handle.cancel("enough").await.unwrap(), CancelAnswer::Requested);
        // Answered by the instance after it has read the cancellation.
        handle.status().await.unwrap();
        around.told.open();
        let result = handle.result().await;
        assert!(
            matches!(&result, Err(WorkflowError::Cancelled { reason }) if reason == "enough"),
            "{result:?}"
        );
        // Told, therefore durable.
        assert_eq!(data.find("a").unwrap().unwrap().status, Status::Cancelled);
    });
    let lines = journal::lines(&data, "a");
    assert_eq!(lines.last().map(String::as_str), Some("cancelled: enough"), "{lines:?}");
    assert_eq!(
        ledger.began("a", "two"),
        0,
        "its cause was not durable when the cancellation came"
    );
}

#[workflow]
async fn waits(_name: String) -> Result<u32, BoxError> {
    Ok(signal!("go").await)
}

#[test]
fn an_id_that_no_instance_can_have_is_unknown_and_holds_nobody_up() {
    process(async {
        let runtime = Runtime::builder()
            .workflow(waits)
            .store(MemoryStore::new())
            .start()
            .await
            .unwrap();
        for id in ["", "x".repeat(257).as_str()] {
            let signalled = runtime.signal(id, "go", &1u32).await;
            assert!(
                matches!(signalled, Err(SignalError::UnknownInstance { .. })),
                "{signalled:?}"
            );
            let cancelled = runtime.cancel(id, "enough").await;
            assert!(
                matches!(cancelled, Err(RuntimeError::UnknownInstance { .. })),
                "{cancelled:?}"
            );
        }
        let handle = runtime.start(waits, "a".to_owned()).id("a").await.unwrap();
        handle.signal("go", &7u32).await.unwrap();
        assert_eq!(handle.result().await.unwrap(), 7);
    });
}

/// Counts refusals, then lets everything through.
fn unavailable_for(data: &MemoryStore, refusals: u32, refused: Arc<AtomicU32>) -> Faulty<MemoryStore> {
    Faulty::new(data.clone(), move |number, moment, _| {
        let is_refused = number > 0 && moment == Moment::Before && number % u64::from(refusals + 1) != 0;
        if is_refused {
            refused.fetch_add(1, Ordering::SeqCst);
            return Err(unavailable());
        }
        Ok(())
    })
}

/// Every commit is refused at first; the ledger sees to it that no body begins before its cause is durable.
#[test]
fn a_store_that_is_unavailable_for_a_while_delays_everything_and_changes_nothing() {
    let undisturbed = {
        let data = MemoryStore::new();
        let world = World::new(Ledger::over(data.clone()));
        let result = world.process(data.clone(), &["a"]).unwrap();
        (result, journal::comparable(&journal::lines(&data, "a")))
    };
    let data = MemoryStore::new();
    let refused = Arc::new(AtomicU32::new(0));
    let world = World::new(Ledger::over(data.clone()));
    let result = world
        .process(unavailable_for(&data, 1, Arc::clone(&refused)), &["a"])
        .unwrap();
    let lines = journal::lines(&data, "a");
    assert_eq!(result, undisturbed.0);
    assert_eq!(journal::difference(&lines, &undisturbed.1), None);
    assert_eq!(world.ledger.violations(), Vec::<String>::new());
    assert!(!lines.iter().any(|line| line.contains("interrupted")), "{lines:?}");
    assert!(refused.load(Ordering::SeqCst) > 30);
}

#[test]
fn while_the_store_is_unavailable_nothing_is_acknowledged_and_nothing_released() {
    let data = MemoryStore::new();
    let ledger = Ledger::over(data.clone());
    let is_away = Arc::new(AtomicBool::new(true));
    let refused = Arc::new(AtomicU32::new(0));
    let (away, count) = (Arc::clone(&is_away), Arc::clone(&refused));
    let store = Faulty::new(data.clone(), move |number, moment, _| {
        let is_refused = number > 0 && moment == Moment::Before && away.load(Ordering::SeqCst);
        if is_refused {
            count.fetch_add(1, Ordering::SeqCst);
            return Err(unavailable());
        }
        Ok(())
    });
    process(async {
        let builder = Runtime::builder().workflow(two_steps).state(ledger.clone());
        let runtime = builder.store(store).start().await.unwrap();
        let starting = tokio::spawn(runtime.start(two_steps, "a".to_owned()).id("a").into_future());
        until("three refusals", async || refused.load(Ordering::SeqCst) >= 3).await;
        assert!(!starting.is_finished());
        assert_eq!(ledger.began("a", "one"), 0);
        is_away.store(false, Ordering::SeqCst);
        assert_eq!(starting.await.unwrap().unwrap().result().await.unwrap(), 3);
    });
    assert_eq!((ledger.began("a", "one"), ledger.began("a", "two")), (1, 1));
}

#[workflow]
async fn two_steps(id: String, ledger: &Ledger) -> Result<u32, BoxError> {
    let id = id.as_str();
    let one = Place {
        id,
        step: "one",
        after: &[],
    };
    let two = Place {
        id,
        step: "two",
        after: &["one"],
    };
    let one = step!("one", |attempt| ledger.body(one, attempt, Ok::<_, BoxError>(1))).await?;
    let two = step!("two", |attempt| ledger.body(two, attempt, Ok::<_, BoxError>(2))).await?;
    Ok(one + two)
}

#[test]
fn after_a_failure_every_call_is_an_error_until_the_store_is_opened_again() {
    let data = MemoryStore::new();
    let ledger = Ledger::over(data.clone());
    let open = |store| {
        Runtime::builder()
            .workflow(two_steps)
            .state(ledger.clone())
            .store(store)
            .start()
    };
    // 1 is the start, 2 the result of `one`.
    let store = Faulty::new(data.clone(), |number, moment, _| match (number, moment) {
        (2, Moment::After) => Err(failed()),
        _ => Ok(()),
    });
    process(async {
        let runtime = open(store).await.unwrap();
        let handle = runtime.start(two_steps, "a".to_owned()).id("a").await.unwrap();
        let waiters: Vec<_> = (0..5)
            .map(|_| {
                tokio::spawn({
                    let handle = handle.clone();
                    async move { handle.result().await }
                })
            })
            .collect();
        for waiter in waiters {
            let result = waiter.await.unwrap();
            assert!(matches!(result, Err(WorkflowError::Runtime(_))), "{result:?}");
        }
        assert!(matches!(handle.result().await, Err(WorkflowError::Runtime(_))));
        assert!(handle.signal("go", &1u32).await.is_err());
        assert!(handle.cancel("enough").await.is_err());
        assert!(handle.status().await.is_err());
        assert!(runtime.start(two_steps, "b".to_owned()).id("b").await.is_err());
        assert!(runtime.list().await.is_err());
        assert_eq!(ledger.began("a", "two"), 0, "the receipt of its cause never came");
        runtime.shutdown(secs(0)).await;
    });
    process(async {
        let runtime = open(Faulty::new(data.clone(), |_, _, _| Ok(()))).await.unwrap();
        assert_eq!(runtime.handle(two_steps, "a").await.unwrap().result().await.unwrap(), 3);
        assert!(data.find("b").unwrap().is_none());
    });
    assert_eq!((ledger.began("a", "one"), ledger.began("a", "two")), (1, 1));
    assert_eq!(ledger.violations(), Vec::<String>::new());
}

/// The body of `one` returns when the second owner has claimed the store: its result must not be written by the first.
#[workflow]
async fn taken_over(id: String, ledger: &Ledger, claimed: &Latch) -> Result<u32, BoxError> {
    let id = id.as_str();
    let one = Place {
        id,
        step: "one",
        after: &[],
    };
    let two = Place {
        id,
        step: "two",
        after: &["one"],
    };
    let one = step!("one", |attempt| {
        let number = attempt.number();
        let claimed = claimed.clone();
        tokio::task::spawn_blocking(move || claimed.pass()).await?;
        ledger.body(one, attempt, Ok::<_, BoxError>(number)).await
    })
    .await?;
    let two = step!("two", |attempt| ledger.body(two, attempt, Ok::<_, BoxError>(2))).await?;
    Ok(one + two)
}

#[test]
fn an_owner_that_was_replaced_writes_nothing_and_releases_nothing() {
    let data = MemoryStore::new();
    let gate = Latch::default();
    let (old_ledger, new_ledger) = (Ledger::over(data.clone()), Ledger::over(data.clone()));
    process(async {
        let open = |ledger: &Ledger| {
            let builder = Runtime::builder()
                .workflow(taken_over)
                .state(ledger.clone())
                .state(gate.clone());
            builder.store(data.clone()).start()
        };
        let old = open(&old_ledger).await.unwrap();
        let handle = old.start(taken_over, "a".to_owned()).id("a").await.unwrap();
        let new = open(&new_ledger).await.unwrap();
        gate.open();
        let result = handle.result().await;
        assert!(matches!(result, Err(WorkflowError::Runtime(_))), "{result:?}");
        let refused = old.start(taken_over, "b".to_owned()).id("b").await;
        assert!(refused.is_err());
        // The second owner counts the first one's attempt as interrupted: its own is the second.
        assert_eq!(new.handle(taken_over, "a").await.unwrap().result().await.unwrap(), 4);
    });
    assert!(data.find("b").unwrap().is_none());
    assert_eq!(old_ledger.began("a", "two"), 0, "the first owner's write was refused");
    assert_eq!((new_ledger.began("a", "one"), new_ledger.began("a", "two")), (1, 1));
}

#[workflow]
async fn nothing(number: u32) -> Result<u32, BoxError> {
    Ok(number)
}

/// Askers come before the end, after it, and just when the instance leaves memory: all of them get it.
#[test]
fn whoever_asks_for_a_result_while_it_comes_gets_it() {
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .build()
        .unwrap();
    tokio.block_on(async {
        let runtime = Runtime::builder()
            .workflow(nothing)
            .store(MemoryStore::new())
            .start()
            .await
            .unwrap();
        for number in 0..2_000u32 {
            let handle = runtime.start(nothing, number).await.unwrap();
            let askers: Vec<_> = (0..8)
                .map(|_| {
                    let handle = handle.clone();
                    tokio::spawn(async move { handle.result().await })
                })
                .collect();
            for asker in askers {
                assert_eq!(asker.await.unwrap().unwrap(), number);
            }
        }
    });
}
