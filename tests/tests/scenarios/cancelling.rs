//! Cancelling ends an instance wherever it is, once, and is no failure of a step (requirements B9, B10).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use steadfast::prelude::*;
use steadfast::{Builder, CancelAnswer, WorkflowError};
use steadfast_tests::{Ask, Gate, Ledger, World, until};

/// Requirement B10.
#[tokio::test]
async fn cancel_tells_the_state_it_met_and_changes_nothing_the_second_time() {
    #[workflow]
    async fn holds(gate: &Gate) -> Result<u32, BoxError> {
        step!("hold", {
            gate.pass("hold").await;
            Ok(1u32)
        })
        .await
        .map_err(BoxError::from)
    }
    #[workflow]
    async fn fails() -> Result<u32, BoxError> {
        Err("no".into())
    }
    let (world, gate) = (World::new(), Gate::default());
    let runtime = world
        .open(|runtime| runtime.workflow(holds).workflow(fails).state(gate.clone()))
        .await;
    let running = runtime.start(holds, ()).id("running").await.unwrap();
    until(async || gate.held() == 1).await;
    assert_eq!(running.cancel("first").await.unwrap(), CancelAnswer::Requested);
    let result = running.result().await;
    assert!(
        matches!(&result, Err(WorkflowError::Cancelled { reason }) if reason == "first"),
        "{result:?}"
    );
    until(async || gate.held() == 0).await;
    assert_eq!(
        running.cancel("second").await.unwrap(),
        CancelAnswer::AlreadyFinished(Status::Cancelled)
    );
    assert!(matches!(running.result().await, Err(WorkflowError::Cancelled { reason }) if reason == "first"));
    let lines = runtime.lines("running").await;
    assert!(
        !lines.iter().any(|line| line.contains("step `hold` failed")),
        "not a step's failure: {lines:#?}"
    );

    let failed = runtime.start(fails, ()).id("failed").await.unwrap();
    failed.result().await.unwrap_err();
    assert_eq!(
        failed.cancel("late").await.unwrap(),
        CancelAnswer::AlreadyFinished(Status::Failed)
    );
    gate.open(1);
    let done = runtime.start(holds, ()).id("done").await.unwrap();
    done.result().await.unwrap();
    assert_eq!(
        done.cancel("late").await.unwrap(),
        CancelAnswer::AlreadyFinished(Status::Completed)
    );
    assert_eq!(done.result().await.unwrap(), 1);
}

/// Requirement B9.
#[tokio::test]
async fn cancel_reaches_bodies_sleeps_waits_and_back_offs_parked_or_not() {
    #[workflow]
    async fn waits(what: u32, gate: &Gate) -> Result<u32, BoxError> {
        match what {
            0 => {
                step!("body", {
                    gate.pass("body").await;
                    Ok(())
                })
                .await?
            }
            1 => sleep!("sleep", days(400)).await,
            2 => signal!("signal").await,
            _ => {
                step!("flaky", async { Err::<(), BoxError>("no".into()) })
                    .retry(Retry::fixed(days(1)))
                    .await?
            }
        }
        Ok(what)
    }
    for park_after in [millis(0), days(1)] {
        for reopen in [false, true] {
            let (world, gate) = (World::new(), Gate::default());
            let open = |runtime: Builder| runtime.workflow(waits).state(gate.clone()).park_after(park_after);
            let mut runtime = world.open(open).await;
            for what in 0..4 {
                let id = what.to_string();
                runtime.start(waits, what).id(&id).await.unwrap();
                let expected = if what == 0 { Status::Running } else { Status::Waiting };
                runtime.until_status(&id, expected).await;
            }
            until(async || gate.held() == 1).await;
            if reopen {
                drop(runtime);
                runtime = world.open(open).await;
            }
            for what in 0..4 {
                let id = what.to_string();
                runtime.cancel(&id, "stop").await.unwrap();
                let result = runtime.handle(waits, &id).await.unwrap().result().await;
                assert!(
                    matches!(result, Err(WorkflowError::Cancelled { .. })),
                    "{what}: {result:?}"
                );
                let seen = runtime.ask(&id).await;
                assert_eq!((seen.status, seen.waiting_for.len()), (Status::Cancelled, 0));
            }
            until(async || gate.held() == 0).await;
        }
    }
}

#[tokio::test]
async fn a_cancel_request_that_a_crash_cut_off_is_carried_out_at_the_next_opening() {
    #[workflow]
    async fn sleeps(ledger: &Ledger) -> Result<u32, BoxError> {
        sleep!("sleep", days(1)).await;
        step!("after", ledger.work("after", 1u32)).await.map_err(BoxError::from)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let open = |runtime: Builder| runtime.workflow(sleeps).state(ledger.clone());
    let runtime = world.open(open).await;
    runtime.start(sleeps, ()).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    world
        .store
        .die_at(world.store.counts().groups + 1, steadfast_tests::When::After);
    runtime.cancel("a", "stop").await.unwrap_err();
    drop(runtime);
    world.store.revive();
    world.clock.advance(days(1));
    let runtime = world.open(open).await;
    let result = runtime.handle(sleeps, "a").await.unwrap().result().await;
    assert!(matches!(result, Err(WorkflowError::Cancelled { .. })), "{result:?}");
    assert_eq!(
        runtime.cancel("a", "x").await.unwrap(),
        CancelAnswer::AlreadyFinished(Status::Cancelled)
    );
    assert_eq!(ledger.total(), 0);
}

#[tokio::test]
async fn the_body_of_a_cancelled_or_timed_out_attempt_sees_its_cancellation() {
    #[derive(Clone, Default)]
    struct Seen(Arc<AtomicBool>);
    #[workflow]
    async fn works(timeout: bool, seen: &Seen, gate: &Gate) -> Result<u32, BoxError> {
        let limit = if timeout { secs(1) } else { days(1) };
        step!("work", |attempt| async move {
            let (cancellation, seen) = (attempt.cancellation(), seen.clone());
            tokio::spawn(async move {
                cancellation.cancelled().await;
                seen.0.store(true, Ordering::SeqCst);
            });
            gate.pass("work").await;
            Ok::<u32, BoxError>(1)
        })
        .timeout(limit)
        .retry(Retry::none())
        .await
        .map_err(BoxError::from)
    }
    for timeout in [false, true] {
        let (world, seen, gate) = (World::new(), Seen::default(), Gate::default());
        let runtime = world
            .open(|runtime| runtime.workflow(works).state(seen.clone()).state(gate.clone()))
            .await;
        let handle = runtime.start(works, timeout).await.unwrap();
        until(async || gate.held() == 1).await;
        if timeout {
            world.clock.advance(secs(1));
            let error = handle.result().await.unwrap_err().to_string();
            assert!(
                error.contains("step `work` timed out: attempt 1 took longer than 1s"),
                "{error}"
            );
        } else {
            handle.cancel("stop").await.unwrap();
            handle.result().await.unwrap_err();
        }
        until(async || seen.0.load(Ordering::SeqCst)).await;
        assert_eq!(gate.held(), 0);
    }
}
