//! When a step is tried again, and when not. All instants in virtual time.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use steadfast::prelude::*;
use steadfast::testing::Clock;
use steadfast::{Builder, StepFailureKind, WaitingFor, WorkflowError};
use steadfast_tests::{Ask, Gate, Ledger, World, until};

/// Retry policies by name, so that an input can ask for one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Policy {
    Default,
    Fixed,
    Linear,
    Exponential,
    None,
    Forever,
}

impl Policy {
    fn retry(self) -> Retry {
        match self {
            Policy::Default => Retry::default(),
            Policy::Fixed => Retry::fixed(secs(3)),
            Policy::Linear => Retry::linear(secs(3)).jitter(0.0),
            Policy::Exponential => Retry::exponential(secs(2))
                .factor(3.0)
                .cap(secs(20))
                .jitter(0.0)
                .max_attempts(6),
            Policy::None => Retry::none(),
            Policy::Forever => Retry::exponential(secs(1)).max_attempts(u32::MAX),
        }
    }
}

#[workflow]
async fn always_fails(policy: Policy, ledger: &Ledger) -> Result<u32, BoxError> {
    let failed = step!("fails", ledger.fail_first("fails", u32::MAX, 0u32))
        .retry(policy.retry())
        .await;
    let error = failed.unwrap_err();
    assert_eq!(error.kind(), StepFailureKind::Failed);
    Ok(error.attempts())
}

/// How long after each failure the next attempt began, as the status foretold it.
async fn back_offs(policy: Policy, reopen: bool, most: usize) -> (Vec<Duration>, Option<u32>) {
    let (world, ledger) = (World::new(), Ledger::default());
    let open = |runtime: Builder| runtime.workflow(always_fails).state(ledger.clone());
    let mut runtime = world.open(open).await;
    runtime.start(always_fails, policy).id("a").await.unwrap();
    let mut delays = Vec::new();
    while delays.len() < most {
        let attempts = delays.len() as u32 + 1;
        until(async || ledger.count("fails") == attempts).await;
        let is_retry =
            |wait: &WaitingFor| matches!(wait, WaitingFor::Retry { attempt, .. } if *attempt == attempts + 1);
        until(async || {
            let seen = runtime.ask("a").await;
            seen.status.is_terminal() || seen.waiting_for.iter().any(is_retry)
        })
        .await;
        let seen = runtime.ask("a").await;
        let Some(WaitingFor::Retry { at, .. }) = seen.waiting_for.first().cloned() else {
            break;
        };
        delays.push(at.since(world.clock.now()));
        if reopen {
            // Half of the back-off passes, then the process is gone for a while.
            world.clock.advance(at.since(world.clock.now()) / 2);
            drop(runtime);
            runtime = world.open(open).await;
            runtime.resume("a").await.unwrap();
            let seen = runtime.until_waiting_for("a", is_retry).await;
            assert!(matches!(&seen.waiting_for[..], [WaitingFor::Retry { at: again, .. }] if *again == at));
        }
        world.clock.set(Timestamp::from_micros(at.as_micros() - 1));
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        assert_eq!(ledger.count("fails"), attempts, "not early");
        world.clock.set(at);
    }
    let attempts = match runtime.ask("a").await.status {
        Status::Completed => Some(runtime.handle(always_fails, "a").await.unwrap().result().await.unwrap()),
        _ => None,
    };
    (delays, attempts)
}

#[tokio::test]
async fn back_off_instants_are_those_of_the_policy_also_over_restarts() {
    for reopen in [false, true] {
        let (delays, attempts) = back_offs(Policy::Fixed, reopen, 99).await;
        assert_eq!((delays, attempts), (vec![secs(3); 4], Some(5)));
        let (delays, attempts) = back_offs(Policy::Linear, reopen, 99).await;
        assert_eq!((delays, attempts), (vec![secs(3), secs(6), secs(9), secs(12)], Some(5)));
        let (delays, attempts) = back_offs(Policy::Exponential, reopen, 99).await;
        assert_eq!(
            (delays, attempts),
            (vec![secs(2), secs(6), secs(18), secs(20), secs(20)], Some(6))
        );
        let (delays, attempts) = back_offs(Policy::None, reopen, 99).await;
        assert_eq!((delays, attempts), (vec![], Some(1)));
    }
}

#[tokio::test]
async fn the_default_is_five_attempts_with_jitter_and_without_limit_means_without_limit() {
    let (delays, attempts) = back_offs(Policy::Default, false, 99).await;
    assert_eq!(attempts, Some(5));
    for (delay, full) in delays.iter().zip([1, 2, 4, 8]) {
        assert!(
            *delay <= secs(full) && *delay >= secs(full) / 2,
            "{delay:?} of {full} s"
        );
    }
    let (delays, attempts) = back_offs(Policy::Forever, false, 60).await;
    assert_eq!((delays.len(), attempts), (60, None));
    assert!(
        delays.iter().all(|delay| *delay >= millis(500) && *delay <= secs(60)),
        "{delays:?}"
    );
}

#[derive(Debug, thiserror::Error)]
enum Fetch {
    #[error("busy")]
    Busy,
    #[error("gone")]
    Gone,
}

#[workflow]
async fn picky(ledger: &Ledger) -> Result<(u32, String), BoxError> {
    let error = step!("fetch", async {
        let run = ledger.note("fetch");
        Err::<u32, Fetch>(if run < 3 { Fetch::Busy } else { Fetch::Gone })
    })
    .retry(Retry::fixed(secs(1)).max_attempts(10))
    .retry_if(|error: &Fetch| matches!(error, Fetch::Busy))
    .await
    .unwrap_err();
    Ok((error.attempts(), error.message().to_owned()))
}

#[tokio::test]
async fn only_errors_that_the_predicate_wants_are_tried_again() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world
        .open(|runtime| runtime.workflow(picky).state(ledger.clone()))
        .await;
    let handle = runtime.start(picky, ()).id("a").await.unwrap();
    world
        .advance_until(async || runtime.ask("a").await.status.is_terminal())
        .await;
    assert_eq!(handle.result().await.unwrap(), (3, "gone".to_owned()));
    assert_eq!(ledger.count("fetch"), 3);
}

#[tokio::test]
async fn a_permanent_error_is_not_tried_again_also_when_it_is_wrapped() {
    #[derive(Debug, thiserror::Error)]
    #[error("wrapped")]
    struct Wrapped(#[source] BoxError);
    #[workflow]
    async fn gives_up(ledger: &Ledger) -> Result<Vec<Option<String>>, BoxError> {
        let plain = step!("plain", async {
            ledger.note("plain");
            Err::<(), _>(permanent("no").code("declined"))
        })
        .await
        .unwrap_err();
        let wrapped = step!("wrapped", async {
            ledger.note("wrapped");
            Err::<(), _>(Wrapped(permanent("no").code("deep").into()))
        })
        .await
        .unwrap_err();
        let anyhow = step!("anyhow", async {
            ledger.note("anyhow");
            Err::<(), _>(anyhow::Error::new(permanent("no").code("any")).context("around it"))
        })
        .await
        .unwrap_err();
        assert_eq!((plain.attempts(), wrapped.attempts(), anyhow.attempts()), (1, 1, 1));
        Ok([plain, wrapped, anyhow]
            .iter()
            .map(|error| error.code().map(str::to_owned))
            .collect())
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world
        .open(|runtime| runtime.workflow(gives_up).state(ledger.clone()))
        .await;
    let codes = runtime.start(gives_up, ()).await.unwrap().result().await.unwrap();
    assert_eq!(codes, ["declined", "deep", "any"].map(|code| Some(code.to_owned())));
    assert_eq!(ledger.total(), 3);
}

#[workflow]
async fn takes_long(ledger: &Ledger, gate: &Gate) -> Result<(u32, StepKind), BoxError> {
    let slow = step!("slow", |attempt| async move {
        ledger.note(format!("slow {}", attempt.number()));
        gate.pass("slow").await;
        Ok::<u32, BoxError>(attempt.number())
    })
    .timeout(secs(10))
    .retry(Retry::fixed(secs(5)).max_attempts(3))
    .await;
    Ok(match slow {
        Ok(attempt) => (attempt, StepKind::Done),
        Err(error) => (
            error.attempts(),
            if error.kind() == StepFailureKind::TimedOut {
                StepKind::TimedOut
            } else {
                StepKind::Other
            },
        ),
    })
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum StepKind {
    Done,
    TimedOut,
    Other,
}

#[tokio::test]
async fn a_timeout_counts_for_each_attempt_drops_its_body_and_is_tried_again() {
    for succeeds in [false, true] {
        let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
        let runtime = world
            .open(|runtime| runtime.workflow(takes_long).state(ledger.clone()).state(gate.clone()))
            .await;
        let began = world.clock.now();
        let handle = runtime.start(takes_long, ()).id("a").await.unwrap();
        for attempt in 1..=2u32 {
            until(async || gate.held() == 1).await;
            world.clock.advance(secs(10));
            let seen = runtime
                .until_waiting_for("a", |wait| matches!(wait, WaitingFor::Retry { .. }))
                .await;
            let expected = WaitingFor::Retry {
                step: "slow".into(),
                attempt: attempt + 1,
                at: began + secs(15) * attempt,
            };
            assert_eq!(seen.waiting_for, [expected]);
            assert_eq!(gate.held(), 0, "the body is dropped");
            world.clock.advance(secs(5));
        }
        until(async || gate.held() == 1).await;
        if succeeds {
            gate.open(1);
            assert_eq!(handle.result().await.unwrap(), (3, StepKind::Done));
        } else {
            world.clock.advance(secs(10));
            assert_eq!(handle.result().await.unwrap(), (3, StepKind::TimedOut));
        }
        assert_eq!(ledger.entries(), ["slow 1", "slow 2", "slow 3"]);
    }
}

#[tokio::test]
async fn an_attempt_that_ends_just_before_its_timeout_counts() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let runtime = world
        .open(|runtime| runtime.workflow(takes_long).state(ledger.clone()).state(gate.clone()))
        .await;
    let handle = runtime.start(takes_long, ()).id("a").await.unwrap();
    until(async || gate.held() == 1).await;
    world.clock.advance(Duration::from_micros(9_999_999));
    gate.open(1);
    assert_eq!(handle.result().await.unwrap(), (1, StepKind::Done));
}

#[workflow]
async fn once(ledger: &Ledger, gate: &Gate) -> Result<String, BoxError> {
    step!("before", ledger.work("before", ())).await?;
    let paid = step!("pay", |attempt| async move {
        ledger.note(format!("pay {}", attempt.number()));
        gate.pass("pay").await;
        Ok::<u32, BoxError>(1)
    })
    .at_most_once()
    .await;
    match paid {
        Ok(_) => Ok("paid".into()),
        Err(error) if error.kind() == StepFailureKind::Interrupted => {
            step!("ask the bank", ledger.work("ask the bank", "asked".to_owned()))
                .await
                .map_err(BoxError::from)
        }
        Err(error) => Err(error.into()),
    }
}

#[tokio::test]
async fn an_at_most_once_step_that_was_interrupted_does_not_run_again_and_the_workflow_is_told() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let open = |runtime: Builder| runtime.workflow(once).state(ledger.clone()).state(gate.clone());
    let runtime = world.open(open).await;
    runtime.start(once, ()).id("a").await.unwrap();
    until(async || gate.held() == 1).await;
    drop(runtime);
    let runtime = world.open(open).await;
    assert_eq!(
        runtime.handle(once, "a").await.unwrap().result().await.unwrap(),
        "asked"
    );
    assert_eq!(ledger.entries(), ["before", "pay 1", "ask the bank"]);
    // And the same on another replay.
    assert!(
        runtime
            .lines("a")
            .await
            .iter()
            .any(|line| line.contains("step `pay` failed for good on attempt 1"))
    );
}

#[tokio::test]
async fn an_at_most_once_step_that_failed_is_not_tried_again() {
    #[workflow]
    async fn fails(ledger: &Ledger) -> Result<u32, BoxError> {
        let paid = step!("pay", ledger.fail_first("pay", 1, 1u32))
            .retry(Retry::fixed(secs(1)))
            .at_most_once()
            .await;
        Ok(paid.unwrap_err().attempts())
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world
        .open(|runtime| runtime.workflow(fails).state(ledger.clone()))
        .await;
    assert_eq!(runtime.start(fails, ()).await.unwrap().result().await.unwrap(), 1);
    assert_eq!(ledger.count("pay"), 1);
}

#[tokio::test]
async fn an_at_most_once_step_that_ended_before_the_crash_is_not_interrupted() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    gate.open(9);
    let open = |runtime: Builder| runtime.workflow(once).state(ledger.clone()).state(gate.clone());
    let runtime = world.open(open).await;
    assert_eq!(
        runtime.start(once, ()).id("a").await.unwrap().result().await.unwrap(),
        "paid"
    );
    drop(runtime);
    let runtime = world.open(open).await;
    assert_eq!(runtime.handle(once, "a").await.unwrap().result().await.unwrap(), "paid");
    assert_eq!(ledger.entries(), ["before", "pay 1"]);
}

/// Requirement B21.
#[tokio::test]
async fn the_idempotency_key_is_the_same_on_every_attempt_and_after_a_restart_and_differs_between_steps_and_instances()
{
    #[workflow]
    async fn gives_keys(ledger: &Ledger) -> Result<Vec<String>, BoxError> {
        let mut keys = Vec::new();
        for _ in 0..2 {
            let key = step!("pay", |attempt| async move {
                let key = attempt.idempotency_key();
                let run = ledger.note(&key);
                if run < 3 { Err(BoxError::from("again")) } else { Ok(key) }
            })
            .retry(Retry::fixed(secs(1)))
            .await?;
            keys.push(key);
        }
        Ok(keys)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let open = |runtime: Builder| runtime.workflow(gives_keys).state(ledger.clone());
    let mut runtime = world.open(open).await;
    let mut all = Vec::new();
    for id in ["a", "b"] {
        runtime.start(gives_keys, ()).id(id).await.unwrap();
        runtime
            .until_waiting_for(id, |wait| matches!(wait, WaitingFor::Retry { attempt: 2, .. }))
            .await;
        drop(runtime);
        runtime = world.open(open).await;
        world
            .advance_until(async || runtime.ask(id).await.status.is_terminal())
            .await;
        all.extend(runtime.handle(gives_keys, id).await.unwrap().result().await.unwrap());
    }
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
    assert!(
        all.iter().all(|key| key.len() == 32 && ledger.count(key) == 3),
        "{:?}",
        ledger.counts()
    );
}

#[tokio::test]
async fn attempts_that_died_with_their_process_do_not_use_up_the_retries() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    #[workflow]
    async fn dies(ledger: &Ledger, gate: &Gate) -> Result<u32, BoxError> {
        step!("work", |attempt| async move {
            ledger.note("work");
            gate.pass("work").await;
            if attempt.number() < 6 {
                Err("not yet".into())
            } else {
                Ok::<u32, BoxError>(attempt.number())
            }
        })
        .retry(Retry::fixed(secs(1)).max_attempts(2))
        .await
        .map_err(BoxError::from)
    }
    let open = |runtime: Builder| runtime.workflow(dies).state(ledger.clone()).state(gate.clone());
    for attempt in 1..=4 {
        let runtime = world.open(open).await;
        if attempt == 1 {
            runtime.start(dies, ()).id("a").await.unwrap();
        }
        until(async || ledger.count("work") == attempt && gate.held() == 1).await;
        drop(runtime);
        until(async || gate.held() == 0).await;
    }
    gate.open(9);
    let runtime = world.open(open).await;
    world
        .advance_until(async || runtime.ask("a").await.status.is_terminal())
        .await;
    assert_eq!(runtime.handle(dies, "a").await.unwrap().result().await.unwrap(), 6);
}

#[tokio::test]
async fn a_step_whose_result_is_too_large_fails_at_once_and_names_step_and_size() {
    #[workflow]
    async fn large(size: u32) -> Result<u32, BoxError> {
        let bytes = step!("download", async { Ok::<_, BoxError>(vec![7u8; size as usize]) }).await?;
        sleep!("pause", secs(1)).await;
        Ok(bytes.len() as u32)
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(large)).await;
    let error = runtime
        .start(large, 17 << 20)
        .await
        .unwrap()
        .result()
        .await
        .unwrap_err();
    let WorkflowError::Failed(failure) = error else {
        panic!("{error:?}")
    };
    assert_eq!((failure.step(), failure.attempt()), (Some("download"), Some(1)));
    let size = ((17 << 20) + 4).to_string();
    assert!(
        failure.message().contains("step `download`") && failure.message().contains(&size),
        "{failure}"
    );
    let most = (16 << 20) - 4;
    runtime.start(large, most).id("most").await.unwrap();
    runtime.until_status("most", Status::Waiting).await;
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(large)).await;
    world.clock.advance(secs(1));
    assert_eq!(
        runtime.handle(large, "most").await.unwrap().result().await.unwrap(),
        most
    );
}

/// A quarantine runs no body, so a step that it kept from beginning was not interrupted.
#[tokio::test]
async fn an_at_most_once_step_that_never_began_because_of_a_quarantine_runs_when_the_code_is_mended() {
    #[workflow(name = "pays")]
    async fn good(ledger: &Ledger) -> Result<u32, BoxError> {
        let amount: u32 = signal!("amount").await;
        step!("pay", ledger.work("pay", amount))
            .at_most_once()
            .await
            .map_err(BoxError::from)
    }
    #[workflow(name = "pays")]
    async fn bad(ledger: &Ledger) -> Result<u32, BoxError> {
        let amount: u32 = signal!("amount").await;
        assert_eq!(amount, 0, "a bug that was deployed");
        step!("pay", ledger.work("pay", amount))
            .at_most_once()
            .await
            .map_err(BoxError::from)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| runtime.workflow(good).state(ledger.clone())).await;
    runtime.start(good, ()).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(bad).state(ledger.clone())).await;
    runtime.signal("a", "amount", &5u32).await.unwrap();
    runtime.until_status("a", Status::Quarantined).await;
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(good).state(ledger.clone())).await;
    assert_eq!(runtime.handle(good, "a").await.unwrap().result().await.unwrap(), 5);
    assert_eq!(ledger.count("pay"), 1);
}

/// A graceful shutdown begins no body, so a step that it kept from beginning was not interrupted.
#[tokio::test]
async fn an_at_most_once_step_that_never_began_because_of_a_shutdown_runs_at_the_next_opening() {
    #[workflow]
    async fn pays(ledger: &Ledger, gate: &Gate) -> Result<u32, BoxError> {
        step!("before", {
            gate.pass("before").await;
            Ok(())
        })
        .await?;
        step!("pay", ledger.work("pay", 5u32))
            .at_most_once()
            .await
            .map_err(BoxError::from)
    }
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let open = |runtime: Builder| runtime.workflow(pays).state(ledger.clone()).state(gate.clone());
    let runtime = world.open(open).await;
    runtime.start(pays, ()).id("a").await.unwrap();
    until(async || gate.held() == 1).await;
    let going = tokio::spawn(runtime.shutdown(days(1)));
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    gate.open(1);
    going.await.unwrap();
    assert_eq!(ledger.count("pay"), 0);
    let runtime = world.open(open).await;
    assert_eq!(runtime.handle(pays, "a").await.unwrap().result().await.unwrap(), 5);
    assert_eq!(ledger.count("pay"), 1);
}
