//! What an engine does while its store does not: unavailable, failed, fenced, or slow.

use steadfast::prelude::*;
use steadfast::store::{MemoryStore, Store, Write};
use steadfast::{CancelAnswer, WorkflowError};
use steadfast_tests::drive::process;
use steadfast_tests::fault::{Faulty, Gate, Moment};
use steadfast_tests::journal;
use steadfast_tests::ledger::{Ledger, Place};

/// The gates around a commit: it is under way; the workflow is about to return.
#[derive(Clone, Default)]
struct Slow {
    committing: Gate,
    returning: Gate,
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
    cancelling: Gate,
    advanced: Gate,
    told: Gate,
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
