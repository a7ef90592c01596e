//! Starting is an atomic get-or-create, durable when it answers, whatever commit the process dies at (requirements A8, C2,
//! C3, D9).

use std::collections::BTreeSet;
use steadfast::prelude::*;
use steadfast::{Builder, Difference, RuntimeError, SignalError, StartError, WorkflowError};
use steadfast_tests::{Ask, Ledger, When, World, until};

#[workflow]
async fn doubles(number: u32, ledger: &Ledger) -> Result<u32, BoxError> {
    let number = step!("double", ledger.work(number, number * 2)).await?;
    Ok(number)
}

#[workflow]
async fn triples(number: u32, ledger: &Ledger) -> Result<u32, BoxError> {
    Ok(step!("triple", ledger.work(number, number * 3)).await?)
}

fn register(runtime: Builder, ledger: &Ledger) -> Builder {
    runtime.workflow(doubles).workflow(triples).state(ledger.clone())
}

/// Requirement A8.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_hundred_starts_with_one_id_one_creates_and_the_others_find_it() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| register(runtime, &ledger)).await;
    let mut starts = Vec::new();
    for _ in 0..100 {
        let runtime = runtime.clone();
        starts.push(tokio::spawn(async move {
            let handle = runtime.start(doubles, 21).id("one").await.unwrap();
            (handle.created(), handle.result().await.unwrap())
        }));
    }
    let mut created = 0;
    for start in starts {
        let (was_created, result) = start.await.unwrap();
        created += u32::from(was_created);
        assert_eq!(result, 42);
    }
    assert_eq!(created, 1);
    assert_eq!(ledger.count("21"), 1);
    assert_eq!(runtime.list().await.unwrap().instances.len(), 1);
}

/// Requirement A8, B12 and table E.
#[tokio::test]
async fn the_same_id_with_another_input_or_workflow_is_a_conflict_and_changes_nothing() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| register(runtime, &ledger)).await;
    let handle = runtime.start(doubles, 1).id("a").await.unwrap();
    for finished in [false, true] {
        if finished {
            handle.result().await.unwrap();
        }
        let error = runtime.start(doubles, 2).id("a").await.unwrap_err();
        assert!(
            matches!(&error, StartError::Conflict { id, difference: Difference::Input } if id == "a"),
            "{error:?}"
        );
        assert_eq!(
            error.to_string(),
            "instance `a` exists with another input; nothing was started"
        );
        let error = runtime.start(triples, 1).id("a").await.unwrap_err();
        assert!(
            matches!(
                &error,
                StartError::Conflict {
                    difference: Difference::Workflow,
                    ..
                }
            ),
            "{error:?}"
        );
    }
    assert_eq!(handle.result().await.unwrap(), 2);
    assert_eq!(ledger.entries(), ["1"]);
    assert!(matches!(
        runtime.handle(triples, "a").await.unwrap_err(),
        RuntimeError::OtherWorkflow { .. }
    ));
}

/// Requirement A8.
#[tokio::test]
async fn after_a_restart_the_same_start_finds_the_instance() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| register(runtime, &ledger)).await;
    assert!(runtime.start(doubles, 1).id("a").await.unwrap().created());
    drop(runtime);
    let runtime = world.open(|runtime| register(runtime, &ledger)).await;
    let handle = runtime.start(doubles, 1).id("a").await.unwrap();
    assert!(!handle.created());
    assert_eq!(handle.result().await.unwrap(), 2);
    assert!(runtime.start(doubles, 2).id("a").await.is_err());
}

/// Requirement A8: a crash between the insert and the reply.
#[tokio::test]
async fn a_start_whose_reply_was_lost_in_a_crash_is_found_by_the_next_one() {
    for (when, created) in [(When::Before, true), (When::After, false)] {
        let (world, ledger) = (World::new(), Ledger::default());
        let runtime = world.open(|runtime| register(runtime, &ledger)).await;
        world.store.die_at(1, when);
        let error = runtime.start(doubles, 1).id("a").await.unwrap_err();
        assert!(
            matches!(error, StartError::Runtime(RuntimeError::Commit(_))),
            "{error:?}"
        );
        drop(runtime);
        world.store.revive();
        let runtime = world.open(|runtime| register(runtime, &ledger)).await;
        let handle = runtime.start(doubles, 1).id("a").await.unwrap();
        assert_eq!(handle.created(), created);
        assert_eq!(handle.result().await.unwrap(), 2);
    }
}

#[tokio::test]
async fn ids_are_one_to_256_bytes_of_any_text() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| register(runtime, &ledger)).await;
    for id in ["ä/#\0\n", "a", &"x".repeat(256), "🦀 (1)"] {
        let handle = runtime.start(doubles, 1).id(id).await.unwrap();
        assert!(handle.created());
        assert_eq!(handle.id(), id);
        assert_eq!(handle.result().await.unwrap(), 2);
        assert!(!runtime.start(doubles, 1).id(id).await.unwrap().created());
    }
    for id in [String::new(), "x".repeat(257)] {
        let error = runtime.start(doubles, 1).id(id.clone()).await.unwrap_err();
        assert!(matches!(error, StartError::BadId { size } if size == id.len()));
        assert!(matches!(
            runtime.status(&id).await.unwrap_err(),
            RuntimeError::UnknownInstance { .. }
        ));
        assert!(matches!(
            runtime.signal(&id, "x", &1).await.unwrap_err(),
            SignalError::UnknownInstance { .. }
        ));
        assert!(matches!(
            runtime.cancel(&id, "x").await.unwrap_err(),
            RuntimeError::UnknownInstance { .. }
        ));
    }
}

#[tokio::test]
async fn generated_ids_are_different() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| register(runtime, &ledger)).await;
    let mut ids = BTreeSet::new();
    for _ in 0..100 {
        assert!(ids.insert(runtime.start(doubles, 1).await.unwrap().id().to_owned()));
    }
}

#[tokio::test]
async fn a_workflow_that_is_not_registered_is_not_started() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world
        .open(|runtime| runtime.workflow(triples).state(ledger.clone()))
        .await;
    let error = runtime.start(doubles, 1).id("a").await.unwrap_err();
    assert!(matches!(error, StartError::NotRegistered { workflow: "doubles" }));
    assert!(runtime.list().await.unwrap().instances.is_empty());
}

/// Uses every primitive, each body noted.
#[workflow]
async fn everything(ledger: &Ledger) -> Result<Vec<u32>, BoxError> {
    let one = step!("one", ledger.work("one", 1u32)).await?;
    let (two, three) = try_join!(
        step!("two", ledger.work("two", one + 1)),
        step!("three", ledger.fail_first("three", 1, one + 2)).retry(Retry::fixed(secs(1)))
    )
    .await?;
    sleep!("rest", days(1)).await;
    let four: u32 = signal!("four").await;
    let none: Result<u32, Elapsed> = signal!("none").timeout(hours(1)).await;
    let dice: u32 = random!(6..7u32);
    let many = map_concurrent(0..3u32, 2, |item| async move {
        step!("many", ledger.work(item, item)).key(item).await
    })
    .await?;
    let won = match race!(sleep!("quick", secs(1)), signal!("never")).await {
        Race2::First(()) => 1,
        Race2::Second(value) => value,
    };
    let once = step!("once", ledger.work("once", 9u32))
        .at_most_once()
        .await
        .unwrap_or(9);
    let mut all = vec![two, three, four, none.unwrap_or(0), dice, won, once];
    all.extend(many);
    Ok(all)
}

/// Requirements C2 and C3: what was promised is kept, whichever commit the process dies at, on either side of it.
#[tokio::test]
async fn a_death_at_any_commit_leaves_no_ghost_and_forgets_nothing() {
    let expected = vec![2, 3, 4, 0, 6, 1, 9, 0, 1, 2];
    let total = run_to_the_end(&World::new(), &Ledger::default(), &expected).await;
    assert!(total > 12, "{total} commits");
    for when in [When::Before, When::After] {
        for at in 1..=total {
            let (world, ledger) = (World::new(), Ledger::default());
            world.store.die_at(at, when);
            run_to_the_end(&world, &ledger, &expected).await;
            for (body, runs) in ledger.counts() {
                let failed = u32::from(body == "three");
                let interrupted = if body == "once" { 0 } else { 1 };
                assert!(
                    runs <= 1 + failed + interrupted,
                    "{when:?} {at}: {body} ran {runs} times"
                );
            }
        }
    }
}

/// Goes through `everything`, reopening whenever the store has died; gives how many commits there were.
async fn run_to_the_end(world: &World, ledger: &Ledger, expected: &[u32]) -> u64 {
    let open = |runtime: Builder| runtime.workflow(everything).state(ledger.clone());
    let mut runtime = world.open(open).await;
    let mut signalled = false;
    loop {
        if world.store.is_dead() {
            drop(runtime);
            world.store.revive();
            runtime = world.open(open).await;
        }
        let Ok(handle) = runtime.start(everything, ()).id("a").await else {
            continue;
        };
        if !signalled {
            signalled = runtime.signal("a", "four", &4u32).dedup_key("four").await.is_ok();
            continue;
        }
        let ended = handle.status().await.is_ok_and(|seen| seen.status.is_terminal());
        if ended {
            assert_eq!(handle.result().await.unwrap(), expected);
            assert_eq!(runtime.list().await.unwrap().instances.len(), 1);
            return world.store.counts().groups;
        }
        if let Some(due) = world.clock.next_due() {
            world.clock.set(due);
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_store_that_cannot_write_for_a_while_delays_and_fails_nothing() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| register(runtime, &ledger)).await;
    world.store.be_unavailable(3);
    let handle = runtime.start(doubles, 1).id("a").await.unwrap();
    world.store.be_unavailable(2);
    assert_eq!(handle.result().await.unwrap(), 2);
    assert_eq!(ledger.count("1"), 1);
}

#[tokio::test]
async fn a_store_that_failed_is_named_in_every_answer_and_shows_the_workflow_nothing() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| register(runtime, &ledger)).await;
    world.store.die_at(2, When::Before);
    let handle = runtime.start(doubles, 1).id("a").await.unwrap();
    let error = handle.result().await.unwrap_err();
    assert!(matches!(error, WorkflowError::Runtime(_)), "{error:?}");
    until(async || world.store.is_dead()).await;
    until(async || runtime.start(doubles, 5).id("b").await.is_err()).await;
    let error = runtime.start(doubles, 5).id("c").await.unwrap_err();
    assert!(error.to_string().contains("injected death"), "{error}");
    drop(runtime);
    world.store.revive();
    let runtime = world.open(|runtime| register(runtime, &ledger)).await;
    assert_eq!(runtime.handle(doubles, "a").await.unwrap().result().await.unwrap(), 2);
    assert_eq!(
        runtime
            .lines("a")
            .await
            .iter()
            .filter(|line| line.contains("failed"))
            .count(),
        0
    );
}

#[tokio::test]
async fn a_second_owner_fences_the_first_whose_work_is_not_recorded_twice() {
    let (world, ledger) = (World::new(), Ledger::default());
    let first = world.open(|runtime| register(runtime, &ledger)).await;
    first.start(doubles, 1).id("a").await.unwrap().result().await.unwrap();
    let second = world.open(|runtime| register(runtime, &ledger)).await;
    let error = first.start(doubles, 2).id("b").await.unwrap_err();
    assert!(error.to_string().contains("another owner"), "{error}");
    assert!(second.start(doubles, 2).id("b").await.unwrap().created());
    assert_eq!(second.handle(doubles, "b").await.unwrap().result().await.unwrap(), 4);
}
