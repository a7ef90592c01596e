//! The runtime around instances: opening, listing, history, results for many callers, shutdown and plain drop, trouble of
//! the store's reads.

use std::collections::BTreeSet;
use std::sync::Arc;
use steadfast::prelude::*;
use steadfast::{Builder, OpenError, RuntimeError, SignalAnswer, StartError, WaitingFor, WorkflowError};
use steadfast_tests::{Ask, Gate, Ledger, World, until};

#[workflow]
async fn passes(value: u32, ledger: &Ledger, gate: &Gate) -> Result<u32, BoxError> {
    let value = step!("pass", {
        ledger.note(value);
        gate.pass(value).await;
        Ok(value)
    })
    .await?;
    let value = step!("after", ledger.work(format!("after {value}"), value)).await?;
    Ok(value)
}

#[workflow]
async fn sleeps(value: u32) -> Result<u32, BoxError> {
    sleep!("sleep", days(1)).await;
    Ok(value)
}

fn register(runtime: Builder, ledger: &Ledger, gate: &Gate) -> Builder {
    runtime
        .workflow(passes)
        .workflow(sleeps)
        .state(ledger.clone())
        .state(gate.clone())
}

#[tokio::test]
async fn a_missing_state_is_an_error_that_names_workflow_and_type_before_anything_is_touched() {
    let (world, ledger) = (World::new(), Ledger::default());
    let error = world
        .try_open(|runtime| runtime.workflow(passes).state(ledger.clone()))
        .await
        .unwrap_err();
    assert!(matches!(error, OpenError::MissingState { workflow: "passes", .. }));
    let text = error.to_string();
    assert!(
        text.contains("`passes`") && text.contains("Gate") && text.contains(".state("),
        "{text}"
    );
    assert_eq!(world.store.counts(), steadfast_tests::Counts::default());
}

#[tokio::test]
async fn two_workflows_of_one_name_and_version_or_two_states_of_one_type_are_refused() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let error = world
        .try_open(|runtime| register(runtime, &ledger, &gate).workflow(sleeps))
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            OpenError::DuplicateWorkflow {
                workflow: "sleeps",
                version: 1
            }
        ),
        "{error}"
    );
    let error = world
        .try_open(|runtime| register(runtime, &ledger, &gate).state(gate.clone()))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("Gate"), "{error}");
    let error = Runtime::builder().workflow(sleeps).start().await.unwrap_err();
    assert!(matches!(error, OpenError::NoStore));
}

#[tokio::test]
async fn pages_neither_repeat_nor_skip_while_instances_are_created_and_finish() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    gate.open(10_000);
    let runtime = world.open(|runtime| register(runtime, &ledger, &gate)).await;
    for place in 0..250 {
        runtime
            .start(sleeps, place)
            .id(format!("throughout-{place:03}"))
            .await
            .unwrap();
    }
    for limit in [1, 7, 100, 249, 250, 1_000] {
        let (mut seen, mut after, mut created) = (Vec::new(), None, 0);
        loop {
            let page = runtime.list().limit(limit);
            let page = match after {
                Some(cursor) => page.after(cursor).await.unwrap(),
                None => page.await.unwrap(),
            };
            assert!(page.instances.len() <= limit);
            seen.extend(page.instances.into_iter().map(|instance| instance.id));
            after = page.next;
            if after.is_none() {
                break;
            }
            if created < 20 {
                created += 1;
                runtime
                    .start(passes, created)
                    .id(format!("{limit}-{created}"))
                    .await
                    .unwrap()
                    .result()
                    .await
                    .unwrap();
            }
        }
        let unique: BTreeSet<&String> = seen.iter().collect();
        assert_eq!(unique.len(), seen.len(), "nothing is repeated");
        let throughout: Vec<&String> = seen.iter().filter(|id| id.starts_with("throughout")).collect();
        assert_eq!(throughout.len(), 250);
        assert!(throughout.is_sorted(), "in order of creation");
    }
}

#[tokio::test]
async fn a_list_can_be_narrowed_to_a_workflow_and_a_status() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    for park_after in [millis(0), days(1)] {
        let world = World::new();
        let runtime = world
            .open(|runtime| register(runtime, &ledger, &gate).park_after(park_after))
            .await;
        let ids = async |list: steadfast::List| -> Vec<String> {
            list.await
                .unwrap()
                .instances
                .into_iter()
                .map(|instance| instance.id)
                .collect()
        };
        runtime.start(sleeps, 1).id("s1").await.unwrap();
        runtime.start(passes, 1).id("p1").await.unwrap();
        runtime.start(sleeps, 2).id("s2").await.unwrap();
        runtime.start(sleeps, 3).id("s3").await.unwrap();
        runtime.cancel("s3", "x").await.unwrap();
        runtime.until_status("s3", Status::Cancelled).await;
        for id in ["s1", "s2"] {
            runtime.until_status(id, Status::Waiting).await;
        }
        until(async || gate.held() == 1).await;
        assert_eq!(ids(runtime.list().workflow("sleeps")).await, ["s1", "s2", "s3"]);
        assert_eq!(ids(runtime.list().status(Status::Waiting)).await, ["s1", "s2"]);
        assert_eq!(ids(runtime.list().status(Status::Running)).await, ["p1"]);
        assert_eq!(
            ids(runtime.list().workflow("passes").status(Status::Waiting)).await,
            [""; 0]
        );
        assert_eq!(ids(runtime.list().workflow("nobody")).await, [""; 0]);
        gate.open(1);
        runtime.until_status("p1", Status::Completed).await;
        assert_eq!(ids(runtime.list().status(Status::Completed)).await, ["p1"]);
        drop(runtime);
        until(async || gate.held() == 0).await;
    }
    let _ = world;
}

#[tokio::test]
async fn a_history_tells_every_event_in_order_with_its_time() {
    #[workflow]
    async fn tells() -> Result<u32, BoxError> {
        step!("flaky", |attempt| async move {
            if attempt.number() == 1 {
                Err("no".into())
            } else {
                Ok::<_, BoxError>(1u32)
            }
        })
        .retry(Retry::fixed(secs(1)))
        .await?;
        let _: Result<u32, Elapsed> = signal!("word").timeout(hours(1)).await;
        sleep!("rest", secs(5)).await;
        let _: u32 = random!();
        Ok(1)
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(tells)).await;
    runtime.start(tells, ()).id("a").await.unwrap();
    world
        .advance_until(async || runtime.ask("a").await.status.is_terminal())
        .await;
    let history = runtime.history("a").await.unwrap();
    let lines: Vec<&str> = history.iter().map(|entry| entry.what.as_str()).collect();
    let expected = [
        "started with an input of",
        "step `flaky` attempt 1 failed, next at 2026-01-01 00:00:01.000 UTC: no",
        "step `flaky` attempt 2 began",
        "step `flaky` succeeded on attempt 2",
        "signal wait `word` began, until 2026-01-01 01:00:01.000 UTC",
        "signal wait `word` reached its deadline",
        "sleep `rest` began, until 2026-01-01 01:00:06.000 UTC",
        "sleep `rest` ended",
        "chance `random!` was drawn",
        "completed with",
    ];
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(expected), "{line}, not {expected}");
    }
    assert!(history.is_sorted_by_key(|entry| (entry.number, entry.at)));
    assert!(
        history[3]
            .to_string()
            .contains("2026-01-01 00:00:01.000 UTC  step `flaky` succeeded"),
        "{}",
        history[3]
    );
}

#[tokio::test]
async fn any_number_of_callers_get_the_result_before_and_after_the_end_and_across_restarts() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let runtime = world.open(|runtime| register(runtime, &ledger, &gate)).await;
    let handle = runtime.start(passes, 5).id("a").await.unwrap();
    let mut callers = Vec::new();
    for place in 0..50 {
        let handle = if place % 2 == 0 {
            handle.clone()
        } else {
            runtime.handle(passes, "a").await.unwrap()
        };
        callers.push(tokio::spawn(async move { handle.result().await.unwrap() }));
    }
    until(async || gate.held() == 1).await;
    gate.open(1);
    for caller in callers {
        assert_eq!(caller.await.unwrap(), 5);
    }
    assert_eq!(handle.result().await.unwrap(), 5);
    drop(runtime);
    let runtime = world.open(|runtime| register(runtime, &ledger, &gate)).await;
    let handle = runtime.handle(passes, "a").await.unwrap();
    assert_eq!(handle.result().await.unwrap(), 5);
    assert_eq!(handle.result().await.unwrap(), 5);
}

/// Whoever asks while an instance is on its way to stopping or ending is answered too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_asked_for_at_any_moment_around_the_end_is_answered() {
    #[workflow]
    async fn ends(how: u32) -> Result<u32, BoxError> {
        match how % 3 {
            0 => Ok(how),
            1 => Err("no".into()),
            _ => panic!("stops"),
        }
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(ends)).await;
    for how in 0..300 {
        let handle = runtime.start(ends, how).id(format!("{how}")).await.unwrap();
        let mut asked = Vec::new();
        for place in 0..4u32 {
            let handle = handle.clone();
            asked.push(tokio::spawn(async move {
                for _ in 0..place * (how % 7) {
                    tokio::task::yield_now().await;
                }
                handle.result().await
            }));
        }
        for answer in asked {
            let answer = tokio::time::timeout(std::time::Duration::from_secs(30), answer).await;
            let answer = answer.expect("nobody waits for ever").unwrap();
            match (how % 3, answer) {
                (0, Ok(value)) => assert_eq!(value, how),
                (1, Err(WorkflowError::Failed(_))) | (2, Err(WorkflowError::Quarantined { .. })) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn handles_do_not_keep_the_store_open_and_say_that_the_runtime_is_gone() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let runtime = world.open(|runtime| register(runtime, &ledger, &gate)).await;
    let handle = runtime.start(passes, 1).id("a").await.unwrap();
    let waiting = {
        let handle = handle.clone();
        tokio::spawn(async move { handle.result().await })
    };
    until(async || gate.held() == 1).await;
    drop(runtime);
    let gone = |error: WorkflowError| matches!(error, WorkflowError::Runtime(RuntimeError::ShutDown));
    assert!(gone(waiting.await.unwrap().unwrap_err()));
    let error = handle.result().await.unwrap_err();
    assert!(
        matches!(error, WorkflowError::Runtime(RuntimeError::ShutDown)),
        "{error:?}"
    );
    assert!(matches!(handle.status().await.unwrap_err(), RuntimeError::ShutDown));
    assert!(matches!(handle.history().await.unwrap_err(), RuntimeError::ShutDown));
    assert!(matches!(handle.cancel("x").await.unwrap_err(), RuntimeError::ShutDown));
    until(async || gate.held() == 0).await;
}

#[tokio::test]
async fn shutdown_begins_no_body_and_records_what_running_ones_end_with() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let runtime = world.open(|runtime| register(runtime, &ledger, &gate)).await;
    runtime.start(passes, 1).id("a").await.unwrap();
    runtime.start(sleeps, 1).id("s").await.unwrap();
    until(async || gate.held() == 1).await;
    let going = tokio::spawn({
        let runtime = runtime.clone();
        async move { runtime.shutdown(days(1)).await }
    });
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    assert!(!going.is_finished(), "the body has its grace");
    // The start is accepted or refused, but its body does not begin.
    let late = runtime.start(passes, 2).id("late").await;
    gate.open(1);
    going.await.unwrap();
    assert!(matches!(
        runtime.start(passes, 3).id("b").await,
        Err(StartError::Runtime(RuntimeError::ShutDown))
    ));
    assert_eq!(ledger.entries(), ["1"]);

    let runtime = world.open(|runtime| register(runtime, &ledger, &gate)).await;
    assert_eq!(runtime.handle(passes, "a").await.unwrap().result().await.unwrap(), 1);
    assert_eq!(ledger.count("1"), 1, "what it ended with was recorded");
    if late.is_ok() {
        gate.open(1);
        assert_eq!(runtime.handle(passes, "late").await.unwrap().result().await.unwrap(), 2);
    }
}

#[tokio::test]
async fn shutdown_cuts_off_bodies_after_the_grace_and_they_begin_again_at_the_next_opening() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let runtime = world.open(|runtime| register(runtime, &ledger, &gate)).await;
    runtime.start(passes, 1).id("a").await.unwrap();
    until(async || gate.held() == 1).await;
    let going = tokio::spawn(runtime.shutdown(secs(10)));
    until(async || world.clock.next_due().is_some()).await;
    world.clock.advance(secs(10));
    going.await.unwrap();
    assert_eq!(gate.held(), 0);
    let runtime = world.open(|runtime| register(runtime, &ledger, &gate)).await;
    until(async || ledger.count("1") == 2).await;
    gate.open(1);
    assert_eq!(runtime.handle(passes, "a").await.unwrap().result().await.unwrap(), 1);
}

#[tokio::test]
async fn an_idle_runtime_shuts_down_at_once() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    for park_after in [millis(0), days(1)] {
        let runtime = world
            .open(|runtime| register(runtime, &ledger, &gate).park_after(park_after))
            .await;
        let handle = runtime.start(sleeps, 1).await.unwrap();
        runtime.until_status(handle.id(), Status::Waiting).await;
        runtime.shutdown(days(1)).await;
    }
}

#[tokio::test]
async fn a_dropped_runtime_loses_nothing_that_was_acknowledged() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    for round in 0..50 {
        let runtime = world.open(|runtime| register(runtime, &ledger, &gate)).await;
        let id = format!("{round}");
        runtime.start(sleeps, round).id(&id).await.unwrap();
        assert_eq!(runtime.signal(&id, "x", &1).await.unwrap(), SignalAnswer::Buffered);
    }
    let runtime = world.open(|runtime| register(runtime, &ledger, &gate)).await;
    assert_eq!(runtime.list().await.unwrap().instances.len(), 50);
    for round in 0..50 {
        runtime.until_status(&format!("{round}"), Status::Waiting).await;
    }
    world.clock.advance(days(1));
    for round in 0..50 {
        let handle = runtime.handle(sleeps, &format!("{round}")).await.unwrap();
        assert_eq!(handle.result().await.unwrap(), round);
    }
}

#[tokio::test]
async fn a_status_tells_what_runs_and_what_is_waited_for_parked_or_not() {
    #[workflow]
    async fn waits(gate: &Gate) -> Result<u32, BoxError> {
        let (held, (), word, flaky) = join!(
            step!("held", {
                gate.pass("held").await;
                Ok(1u32)
            }),
            sleep!("rest", days(2)),
            signal!("word"),
            step!("flaky", async { Err::<u32, BoxError>("no".into()) }).retry(Retry::fixed(days(3)))
        )
        .await;
        let word: u32 = word;
        Ok(held? + word + flaky?)
    }
    let (world, gate) = (World::new(), Gate::default());
    let began = steadfast::testing::Clock::now(&world.clock);
    let open = |runtime: Builder| runtime.workflow(waits).state(gate.clone()).park_after(millis(0));
    let runtime = world.open(open).await;
    runtime.start(waits, ()).id("a").await.unwrap();
    let seen = runtime
        .until_waiting_for("a", |wait| matches!(wait, WaitingFor::Retry { .. }))
        .await;
    assert_eq!(seen.status, Status::Running);
    assert_eq!((seen.running[0].step.as_str(), seen.running[0].attempt), ("held", 1));
    gate.open(1);
    let seen = runtime.until_status("a", Status::Waiting).await;
    let mut waiting = vec![
        WaitingFor::Sleep {
            sleep: "rest".into(),
            until: began + days(2),
        },
        WaitingFor::Signal {
            name: "word".into(),
            deadline: None,
        },
        WaitingFor::Retry {
            step: "flaky".into(),
            attempt: 2,
            at: began + days(3),
        },
    ];
    let sorted = |mut waiting: Vec<WaitingFor>| {
        waiting.sort_by_key(|wait| format!("{wait:?}"));
        waiting
    };
    waiting = sorted(waiting);
    assert_eq!(sorted(seen.waiting_for), waiting);
    drop(runtime);
    let runtime = world.open(open).await;
    let loads = world.store.counts().loads;
    let seen = runtime.ask("a").await;
    assert_eq!((seen.status, sorted(seen.waiting_for)), (Status::Waiting, waiting));
    assert!(world.store.counts().loads <= loads + 1);
}

#[tokio::test]
async fn an_instance_that_could_not_be_read_goes_on_when_it_is_resumed() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let runtime = world
        .open(|runtime| register(runtime, &ledger, &gate).park_after(millis(0)))
        .await;
    let handle = runtime.start(sleeps, 4).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    drop(handle);
    drop(runtime);
    let runtime = world
        .open(|runtime| register(runtime, &ledger, &gate).park_after(millis(0)))
        .await;
    let handle = runtime.handle(sleeps, "a").await.unwrap();
    world.store.fail_reads("load", 1);
    world.clock.advance(days(1));
    let error = handle.result().await.unwrap_err();
    assert!(
        matches!(&error, WorkflowError::Quarantined { trouble } if trouble.contains("cannot be read")),
        "{error:?}"
    );
    assert_eq!(runtime.ask("a").await.status, Status::Quarantined);
    runtime.resume("a").await.unwrap();
    assert_eq!(runtime.until_status("a", Status::Completed).await.trouble, None);
    assert_eq!(handle.result().await.unwrap(), 4);
}

#[tokio::test]
async fn due_times_that_could_not_be_read_for_a_moment_are_not_forgotten() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let runtime = world
        .open(|runtime| register(runtime, &ledger, &gate).park_after(millis(0)))
        .await;
    runtime.start(sleeps, 4).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    drop(runtime);
    let runtime = world
        .open(|runtime| register(runtime, &ledger, &gate).park_after(millis(0)))
        .await;
    until(async || world.clock.next_due().is_some()).await;
    world.store.fail_reads("due", 1);
    world.clock.advance(days(1));
    let handle = runtime.handle(sleeps, "a").await.unwrap();
    let result = async {
        world
            .advance_until(async || runtime.ask("a").await.status.is_terminal())
            .await;
        handle.result().await.unwrap()
    };
    let result = tokio::time::timeout(std::time::Duration::from_secs(20), result).await;
    assert_eq!(result.expect("it is woken when the store can be read again"), 4);
}

#[tokio::test]
async fn large_inputs_and_signals_work_up_to_the_limit_and_are_refused_above_it() {
    #[workflow]
    async fn measures(input: Vec<u8>) -> Result<(u64, u64), BoxError> {
        let more: Vec<u8> = signal!("more").await;
        Ok((input.len() as u64, more.len() as u64))
    }
    let most = (16 << 20) - 4;
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(measures)).await;
    let error = runtime.start(measures, vec![1; 17 << 20]).id("a").await.unwrap_err();
    assert!(
        matches!(
            &error,
            StartError::Input {
                workflow: "measures",
                ..
            }
        ),
        "{error:?}"
    );
    assert!(error.to_string().contains(&((17 << 20) + 4).to_string()), "{error}");
    let handle = runtime.start(measures, vec![1; most]).id("a").await.unwrap();
    assert!(!runtime.start(measures, vec![1; most]).id("a").await.unwrap().created());
    let error = runtime.signal("a", "more", &vec![1u8; 17 << 20]).await.unwrap_err();
    assert!(error.to_string().contains("`more`"), "{error}");
    drop(handle);
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(measures)).await;
    runtime.signal("a", "more", &vec![1u8; most]).await.unwrap();
    assert_eq!(
        runtime.handle(measures, "a").await.unwrap().result().await.unwrap(),
        (most as u64, most as u64)
    );
}

#[tokio::test]
async fn an_output_that_is_too_large_is_a_failure_that_says_so() {
    #[workflow]
    async fn large() -> Result<Vec<u8>, BoxError> {
        Ok(vec![0; 17 << 20])
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(large)).await;
    let error = runtime.start(large, ()).await.unwrap().result().await.unwrap_err();
    let WorkflowError::Failed(failure) = error else {
        panic!("{error:?}")
    };
    assert!(failure.message().contains(&((17 << 20) + 4).to_string()), "{failure}");
}

#[tokio::test]
async fn opening_looks_only_at_what_is_runnable() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let runtime = world.open(|runtime| register(runtime, &ledger, &gate)).await;
    for place in 0..300 {
        runtime.start(sleeps, place).id(format!("{place}")).await.unwrap();
    }
    runtime.start(passes, 1).id("p").await.unwrap();
    for place in 0..300 {
        runtime.until_status(&format!("{place}"), Status::Waiting).await;
    }
    until(async || gate.held() == 1).await;
    drop(runtime);
    let loads = world.store.counts().loads;
    let runtime = world.open(|runtime| register(runtime, &ledger, &gate)).await;
    until(async || ledger.count("1") == 2).await;
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.store.counts().loads, loads + 1);
    drop(runtime);
}

#[tokio::test]
async fn states_are_shared_and_dropped_with_the_runtime() {
    #[workflow]
    async fn holds(shared: &Arc<u32>, gate: &Gate) -> Result<u32, BoxError> {
        let value = step!("hold", {
            gate.pass("hold").await;
            Ok(**shared)
        })
        .await?;
        Ok(value)
    }
    let (world, shared, gate) = (World::new(), Arc::new(7u32), Gate::default());
    let runtime = world
        .open(|runtime| runtime.workflow(holds).state(shared.clone()).state(gate.clone()))
        .await;
    let handle = runtime.start(holds, ()).await.unwrap();
    until(async || gate.held() == 1).await;
    runtime.shutdown(millis(0)).await;
    drop(handle);
    until(async || Arc::strong_count(&shared) == 1).await;
}
