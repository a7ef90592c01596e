//! Corners that a reviewer found: trouble while closing, endless recursion, late signals, what a parked instance tells.

use std::pin::Pin;
use steadfast::prelude::*;
use steadfast::{Builder, DurableFuture, SignalAnswer, Timestamp, WaitingFor};
use steadfast_tests::{Ask as _, Gate, Ledger, ProbeStore, World, until};

#[workflow]
async fn waits_once() -> Result<u32, BoxError> {
    let first: Result<u32, Elapsed> = signal!("value").timeout(secs(1)).await;
    sleep!("pause", secs(1)).await;
    Ok(first.unwrap_or(0))
}

#[tokio::test]
async fn a_signal_that_came_too_late_is_seen_in_memory_parked_and_after_the_end() {
    for park_after in [millis(0), days(1)] {
        let world = World::new();
        let runtime = world
            .open(|runtime| runtime.workflow(waits_once).park_after(park_after))
            .await;
        let handle = runtime.start(waits_once, ()).id("a").await.unwrap();
        runtime
            .until_waiting_for("a", |wait| matches!(wait, WaitingFor::Signal { .. }))
            .await;
        world.clock.advance(secs(1));
        runtime
            .until_waiting_for("a", |wait| matches!(wait, WaitingFor::Sleep { .. }))
            .await;
        assert_eq!(handle.signal("value", &5u32).await.unwrap(), SignalAnswer::Buffered);
        let names = async || {
            let status = runtime.ask("a").await;
            let buffered = status.buffered_signals.into_iter();
            buffered.map(|signal| signal.name).collect::<Vec<String>>()
        };
        until(async || names().await == ["value"]).await;
        world.clock.advance(secs(1));
        assert_eq!(handle.result().await.unwrap(), 0);
        assert_eq!(names().await, ["value"]);
    }
}

#[workflow]
async fn waits_for_three() -> Result<u32, BoxError> {
    let (a, b, c): (u32, u32, Result<u32, Elapsed>) =
        join!(signal!("value"), signal!("value"), signal!("value").timeout(days(1))).await;
    Ok(a + b + c?)
}

#[tokio::test]
async fn a_parked_instance_tells_every_wait_of_one_name() {
    let world = World::new();
    let runtime = world
        .open(|runtime| runtime.workflow(waits_for_three).park_after(millis(0)))
        .await;
    runtime.start(waits_for_three, ()).id("a").await.unwrap();
    until(async || runtime.ask("a").await.waiting_for.len() == 3).await;
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    let waiting = runtime.ask("a").await.waiting_for;
    let timed = |wait: &&WaitingFor| matches!(wait, WaitingFor::Signal { deadline: Some(_), .. });
    assert_eq!((waiting.len(), waiting.iter().filter(timed).count()), (3, 1));
}

/// The type of a recursion must end somewhere.
fn deeper(depth: u32) -> Pin<Box<dyn DurableFuture<Output = Result<u32, BoxError>> + Send>> {
    Box::pin(dig(depth))
}

/// Calls itself `depth` times.
#[durable]
async fn dig(depth: u32) -> Result<u32, BoxError> {
    if depth == 0 {
        return Ok(step!("bottom", async { Ok::<_, BoxError>(1u32) }).await?);
    }
    Ok(deeper(depth - 1).await? + 1)
}

#[workflow]
async fn digs(depth: u32) -> Result<u32, BoxError> {
    dig(depth).await
}

#[tokio::test]
async fn recursion_without_end_stops_the_instance_and_not_the_process() {
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(digs)).await;
    assert_eq!(runtime.start(digs, 50).await.unwrap().result().await.unwrap(), 51);
    let endless = runtime.start(digs, u32::MAX).id("endless").await.unwrap();
    match endless.result().await {
        Err(steadfast::WorkflowError::Quarantined { trouble }) => {
            assert!(trouble.contains("more than 128 deep"), "{trouble}")
        }
        other => panic!("{other:?}"),
    }
}

#[workflow]
async fn one_step() -> Result<u32, BoxError> {
    Ok(step!("one", async { Ok::<_, BoxError>(1u32) }).await?)
}

#[tokio::test]
async fn a_shutdown_ends_although_the_store_is_unavailable_and_nothing_is_lost() {
    let store = ProbeStore::new();
    let open = || Runtime::builder().workflow(one_step).store(store.clone()).start();
    let runtime = open().await.unwrap();
    runtime.start(one_step, ()).id("a").await.unwrap();
    store.be_unavailable(u64::MAX);
    runtime.shutdown(millis(0)).await;
    store.be_unavailable(0);
    let runtime = open().await.unwrap();
    let handle = runtime.handle(one_step, "a").await.unwrap();
    assert_eq!(handle.result().await.unwrap(), 1);
}

#[workflow]
async fn two_steps(gate: &Gate) -> Result<u32, BoxError> {
    step!("before", {
        gate.pass("before").await;
        Ok(())
    })
    .await?;
    Ok(step!("after", async { Ok::<_, BoxError>(1u32) }).await?)
}

#[tokio::test]
async fn what_a_shutdown_held_back_goes_on_although_the_clock_was_set_back() {
    let (world, gate) = (World::new(), Gate::default());
    world.clock.advance(days(2));
    let open = |runtime: Builder| runtime.workflow(two_steps).state(gate.clone());
    let runtime = world.open(open).await;
    runtime.start(two_steps, ()).id("a").await.unwrap();
    until(async || gate.held() == 1).await;
    let going = tokio::spawn(runtime.shutdown(days(1)));
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    gate.open(1);
    going.await.unwrap();
    world.clock.set(Timestamp::EPOCH + days(1));
    let runtime = world.open(open).await;
    let handle = runtime.handle(two_steps, "a").await.unwrap();
    let result = tokio::time::timeout(std::time::Duration::from_secs(5), handle.result()).await;
    assert_eq!(result.expect("it is due at once").unwrap(), 1);
}

#[workflow]
async fn measures(gate: &Gate) -> Result<(Timestamp, Timestamp), BoxError> {
    let before = now!();
    step!("between", {
        gate.pass("between").await;
        Ok(())
    })
    .await?;
    Ok((before, now!()))
}

#[tokio::test]
async fn now_does_not_run_backwards_when_the_clock_was_set_back_and_a_step_was_interrupted() {
    let (world, gate) = (World::new(), Gate::default());
    world.clock.advance(days(2));
    let open = |runtime: Builder| runtime.workflow(measures).state(gate.clone());
    let runtime = world.open(open).await;
    runtime.start(measures, ()).id("a").await.unwrap();
    until(async || gate.held() == 1).await;
    drop(runtime);
    until(async || gate.held() == 0).await;
    world.clock.set(Timestamp::EPOCH + days(1));
    let runtime = world.open(open).await;
    until(async || gate.held() == 1).await;
    drop(runtime);
    until(async || gate.held() == 0).await;
    let runtime = world.open(open).await;
    gate.open(1);
    let (before, after) = runtime.handle(measures, "a").await.unwrap().result().await.unwrap();
    assert!(before <= after, "{before} {after}");
}

#[workflow]
async fn naps_beside_a_step(gate: &Gate) -> Result<u32, BoxError> {
    let (_, attempt) = join!(
        step!("held", {
            gate.pass("held").await;
            Ok::<u32, BoxError>(0)
        }),
        async {
            sleep!("nap", secs(10)).await;
            step!("after the nap", |attempt| { Ok::<u32, BoxError>(attempt.number()) }).await
        }
    )
    .await;
    Ok(attempt?)
}

#[tokio::test]
async fn a_step_that_was_reached_only_after_a_crash_was_not_interrupted_by_it() {
    let (world, gate) = (World::new(), Gate::default());
    let open = |runtime: Builder| runtime.workflow(naps_beside_a_step).state(gate.clone());
    let runtime = world.open(open).await;
    runtime.start(naps_beside_a_step, ()).id("a").await.unwrap();
    until(async || gate.held() == 1).await;
    until(async || runtime.lines("a").await.len() == 2).await;
    drop(runtime);
    world.clock.advance(days(1));
    gate.open(2);
    let runtime = world.open(open).await;
    let handle = runtime.handle(naps_beside_a_step, "a").await.unwrap();
    assert_eq!(handle.result().await.unwrap(), 1);
}

#[workflow]
async fn steps_with_a_timeout(gate: &Gate) -> Result<u32, BoxError> {
    step!("before", {
        gate.pass("before").await;
        Ok::<u32, BoxError>(0)
    })
    .await?;
    Ok(step!("limited", async { Ok::<u32, BoxError>(1) })
        .timeout(secs(60))
        .at_most_once()
        .await?)
}

#[tokio::test]
async fn a_timeout_counts_from_where_the_clock_is_after_it_was_set_back() {
    let (world, gate) = (World::new(), Gate::default());
    let began = Timestamp::EPOCH + days(10);
    world.clock.set(began);
    let open = |runtime: Builder| runtime.workflow(steps_with_a_timeout).state(gate.clone());
    let runtime = world.open(open).await;
    let handle = runtime.start(steps_with_a_timeout, ()).await.unwrap();
    until(async || gate.held() == 1).await;
    world.clock.set(Timestamp::EPOCH + days(9));
    gate.open(1);
    assert_eq!(handle.result().await.unwrap(), 1);
}

#[tokio::test]
async fn an_open_that_fails_has_run_no_body_and_lets_go_of_the_store() {
    #[workflow]
    async fn held(ledger: &Ledger, gate: &Gate) -> Result<u32, BoxError> {
        Ok(step!("work", {
            ledger.note("work");
            gate.pass("work").await;
            Ok(1u32)
        })
        .await?)
    }
    let (store, ledger, gate) = (ProbeStore::new(), Ledger::default(), Gate::default());
    let open = || {
        let runtime = Runtime::builder()
            .workflow(held)
            .state(ledger.clone())
            .state(gate.clone());
        runtime.store(store.clone()).start()
    };
    let runtime = open().await.unwrap();
    runtime.start(held, ()).id("a").await.unwrap();
    until(async || gate.held() == 1).await;
    drop(runtime);
    until(async || gate.held() == 0).await;
    store.fail_reads("ready", 1);
    assert!(matches!(open().await, Err(steadfast::OpenError::Read(_))));
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    assert_eq!(ledger.total(), 1);
    gate.open(1);
    let runtime = open().await.unwrap();
    assert_eq!(runtime.handle(held, "a").await.unwrap().result().await.unwrap(), 1);
    assert_eq!(ledger.total(), 2);
}
