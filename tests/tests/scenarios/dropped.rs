//! Bodies that panic while they are dropped: contained, whoever drops them.

use steadfast::prelude::*;
use steadfast::{Builder, WorkflowError};
use steadfast_tests::{Ask, Gate, World, until};

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

#[workflow]
async fn holds_a_bomb(gate: &Gate) -> Result<u32, BoxError> {
    step!("bomb", {
        let bomb = Bomb;
        gate.pass("bomb").await;
        std::mem::forget(bomb);
        Ok(1u32)
    })
    .timeout(secs(1))
    .retry(Retry::none())
    .await
    .map_err(BoxError::from)
}

fn register(runtime: Builder, gate: &Gate) -> Builder {
    runtime
        .workflow(holds_a_bomb)
        .workflow(loses_a_bomb)
        .state(gate.clone())
}

#[tokio::test]
async fn a_cancelled_one_stops_nothing_and_nobody_else() {
    let (world, gate) = (World::new(), Gate::default());
    let runtime = world.open(|runtime| register(runtime, &gate)).await;
    let cancelled = runtime.start(holds_a_bomb, ()).id("a").await.unwrap();
    let other = runtime.start(holds_a_bomb, ()).id("b").await.unwrap();
    until(async || gate.held() == 2).await;
    cancelled.cancel("stop").await.unwrap();
    assert!(matches!(cancelled.result().await, Err(WorkflowError::Cancelled { .. })));
    gate.open(1);
    assert_eq!(other.result().await.unwrap(), 1);
}

#[tokio::test]
async fn one_that_took_too_long_has_timed_out_and_no_more() {
    let (world, gate) = (World::new(), Gate::default());
    let runtime = world.open(|runtime| register(runtime, &gate)).await;
    let handle = runtime.start(holds_a_bomb, ()).id("a").await.unwrap();
    until(async || gate.held() == 1).await;
    world.clock.advance(secs(1));
    let error = handle.result().await.unwrap_err();
    assert!(error.to_string().contains("step `bomb` timed out"), "{error}");
}

#[tokio::test]
async fn one_that_the_runtime_drops_when_it_closes_stops_nothing() {
    let (world, gate) = (World::new(), Gate::default());
    let runtime = world.open(|runtime| register(runtime, &gate)).await;
    runtime.start(holds_a_bomb, ()).id("a").await.unwrap();
    until(async || gate.held() == 1).await;
    runtime.shutdown(millis(0)).await;
    let runtime = world.open(|runtime| register(runtime, &gate)).await;
    until(async || gate.held() == 1).await;
    gate.open(1);
    assert_eq!(
        runtime.handle(holds_a_bomb, "a").await.unwrap().result().await.unwrap(),
        1
    );
}

#[workflow]
async fn loses_a_bomb(gate: &Gate) -> Result<u32, BoxError> {
    let lost = race!(
        step!("bomb", {
            let _bomb = Bomb;
            gate.pass("bomb").await;
            Ok(1u32)
        }),
        sleep!("short", secs(1))
    )
    .await;
    Ok(if matches!(lost, Race2::Second(())) { 7 } else { 1 })
}

/// The workflow's own code drops it, so it is the workflow that panics; on replay there is no body to drop.
#[tokio::test]
async fn one_that_lost_a_race_quarantines_its_instance_which_goes_on_when_it_is_resumed() {
    let (world, gate) = (World::new(), Gate::default());
    let runtime = world.open(|runtime| register(runtime, &gate)).await;
    let handle = runtime.start(loses_a_bomb, ()).id("a").await.unwrap();
    until(async || gate.held() == 1).await;
    world.clock.advance(secs(1));
    let error = handle.result().await.unwrap_err();
    assert!(
        matches!(&error, WorkflowError::Quarantined { trouble } if trouble.contains("dropped")),
        "{error}"
    );
    runtime.resume("a").await.unwrap();
    runtime.until_status("a", Status::Completed).await;
    assert_eq!(handle.result().await.unwrap(), 7);
}
