//! Starting many at once: each is answered as a start alone would be, in the order of the inputs, durable when it says so,
//! with as few commits as groups have room, and without keeping others waiting.

use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeSet;
use steadfast::prelude::*;
use steadfast::{Builder, Difference, RuntimeError, StartError};
use steadfast_tests::{Gate, Ledger, When, World, until};

/// How many writes one group takes.
const GROUP: usize = 1_024;

#[workflow]
async fn doubles(number: u32, ledger: &Ledger) -> Result<u32, BoxError> {
    Ok(step!("double", ledger.work(number, number * 2)).await?)
}

#[workflow]
async fn triples(number: u32, ledger: &Ledger) -> Result<u32, BoxError> {
    Ok(step!("triple", ledger.work(number, number * 3)).await?)
}

/// Writes nothing of its own before the gate is open.
#[workflow]
async fn holds(text: String, gate: &Gate) -> Result<u64, BoxError> {
    step!("hold", {
        gate.pass("hold").await;
        Ok(())
    })
    .await?;
    Ok(text.len() as u64)
}

fn register(runtime: Builder, ledger: &Ledger) -> Builder {
    runtime.workflow(doubles).workflow(triples).state(ledger.clone())
}

async fn open(world: &World) -> (Runtime, Ledger) {
    let ledger = Ledger::default();
    (world.open(|runtime| register(runtime, &ledger)).await, ledger)
}

/// A runtime over `holds`. The first group of all has a row of the engine's own in it; here it is written already.
async fn open_holding(world: &World) -> (Runtime, Gate) {
    let gate = Gate::default();
    let runtime = world.open(|runtime| runtime.workflow(holds).state(gate.clone())).await;
    runtime.start(holds, String::new()).id("first").await.unwrap();
    (runtime, gate)
}

type Started = Vec<Result<Handle<holds>, StartError>>;

/// A batch of three groups that the store keeps waiting.
async fn held_batch(world: &World, runtime: &Runtime) -> tokio::task::JoinHandle<Started> {
    world.store.hold(true);
    let batch = tokio::spawn({
        let runtime = runtime.clone();
        async move { runtime.start_batch(holds, vec![String::new(); 3 * GROUP]).await }
    });
    settle().await;
    batch
}

async fn ids(runtime: &Runtime) -> Vec<String> {
    let (mut ids, mut page) = (Vec::new(), runtime.list().await.unwrap());
    loop {
        ids.extend(page.instances.into_iter().map(|instance| instance.id));
        match page.next {
            Some(next) => page = runtime.list().after(next).await.unwrap(),
            None => return ids,
        }
    }
}

/// Lets every other task of this thread go as far as it can.
async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_batch_is_answered_in_the_order_of_its_inputs() {
    let world = World::new();
    let (runtime, ledger) = open(&world).await;
    let inputs: Vec<u32> = (0..1_500).rev().collect();
    let answers = runtime
        .start_batch(doubles, inputs.clone())
        .ids(|number| format!("{number}"))
        .await;
    assert_eq!(answers.len(), inputs.len());
    for (number, answer) in inputs.iter().zip(answers) {
        let handle = answer.unwrap();
        assert_eq!((handle.id(), handle.created()), (number.to_string().as_str(), true));
        assert_eq!(handle.result().await.unwrap(), number * 2);
        assert_eq!(ledger.count(&number.to_string()), 1);
    }
    let expected: Vec<String> = inputs.iter().map(u32::to_string).collect();
    assert_eq!(ids(&runtime).await, expected, "they are created in this order, too");
}

#[tokio::test]
async fn without_ids_each_gets_one_of_its_own() {
    let world = World::new();
    let (runtime, _) = open(&world).await;
    let answers = runtime.start_batch(doubles, [7; 300]).await;
    let handles = answers.into_iter().collect::<Result<Vec<_>, _>>().unwrap();
    let ids: BTreeSet<&str> = handles.iter().map(|handle| handle.id()).collect();
    assert_eq!(ids.len(), 300);
    assert_eq!(handles[299].result().await.unwrap(), 14);
}

#[tokio::test]
async fn an_empty_batch_has_no_answers_and_writes_nothing() {
    let world = World::new();
    let (runtime, _) = open(&world).await;
    let answers = runtime.start_batch(doubles, []).ids(|number| number.to_string()).await;
    assert!(answers.is_empty());
    assert_eq!(world.store.counts().groups, 0);
}

#[tokio::test]
async fn each_start_of_a_batch_is_answered_as_it_would_be_alone() {
    let (batch_world, lone_world) = (World::new(), World::new());
    let (in_batch, _) = open(&batch_world).await;
    let (alone, _) = open(&lone_world).await;
    for runtime in [&in_batch, &alone] {
        runtime.start(doubles, 1).id("running or ended").await.unwrap();
        runtime.start(triples, 2).id("of another workflow").await.unwrap();
    }
    let long = "x".repeat(257);
    let items = [
        ("new", 1),
        ("running or ended", 1),
        ("running or ended", 2),
        ("", 3),
        ("of another workflow", 2),
        ("new", 1),
        ("new", 2),
        (&long, 4),
        ("also new", 5),
    ];
    let mut names = items.iter().map(|(id, _)| *id);
    let answers = in_batch
        .start_batch(doubles, items.iter().map(|(_, number)| *number))
        .ids(|_| names.next().unwrap())
        .await;
    let said = |answer: Result<Handle<doubles>, StartError>| match answer {
        Ok(handle) => format!("{} {}", handle.id(), handle.created()),
        Err(error) => error.to_string(),
    };
    let mut expected = Vec::new();
    for (id, number) in items {
        expected.push(said(alone.start(doubles, number).id(id).await));
    }
    assert!(matches!(&answers[3], Err(StartError::BadId { size: 0 })));
    assert!(matches!(
        &answers[4],
        Err(StartError::Conflict {
            difference: Difference::Workflow,
            ..
        })
    ));
    let answers: Vec<String> = answers.into_iter().map(said).collect();
    assert_eq!(answers, expected);
    assert_eq!(answers[0], "new true");
    assert_eq!(answers[1], "running or ended false");
    assert_eq!(answers[5], "new false");
    assert_eq!(
        answers[6],
        "instance `new` exists with another input; nothing was started"
    );
    assert_eq!(ids(&in_batch).await, ids(&alone).await);
    for (id, result) in [("new", 2), ("running or ended", 2), ("also new", 10)] {
        let handle = in_batch.handle(doubles, id).await.unwrap();
        assert_eq!(handle.result().await.unwrap(), result);
    }
}

#[tokio::test]
async fn a_workflow_that_is_not_registered_is_not_started_by_a_batch() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world
        .open(|runtime| runtime.workflow(triples).state(ledger.clone()))
        .await;
    let answers = runtime.start_batch(doubles, 0..1_000).await;
    assert_eq!(answers.len(), 1_000);
    for answer in answers {
        assert!(matches!(answer, Err(StartError::NotRegistered { workflow: "doubles" })));
    }
    assert_eq!(world.store.counts().groups, 0);
}

/// Can be stored if it is even.
#[derive(Deserialize)]
struct Even(u32);

impl Serialize for Even {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 % 2 {
            0 => serializer.serialize_newtype_struct("Even", &self.0),
            _ => Err(serde::ser::Error::custom("odd")),
        }
    }
}

#[workflow]
async fn halves(number: Even) -> Result<u32, BoxError> {
    Ok(number.0 / 2)
}

#[tokio::test]
async fn an_input_that_cannot_be_stored_is_an_error_of_its_own() {
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(halves)).await;
    let answers = runtime.start_batch(halves, (0..600).map(Even)).await;
    for (number, answer) in (0..600).zip(answers) {
        match answer {
            Ok(handle) => assert_eq!(handle.result().await.unwrap() * 2, number),
            Err(error) => {
                assert!(
                    matches!(&error, StartError::Input { workflow: "halves", .. }),
                    "{error:?}"
                );
                assert_eq!(number % 2, 1, "{error:?}");
            }
        }
    }
    assert_eq!(ids(&runtime).await.len(), 300);
}

#[tokio::test]
async fn a_batch_costs_as_many_commits_as_groups_have_room_for() {
    for (starts, commits) in [(1, 1), (50, 1), (GROUP, 1), (GROUP + 1, 2), (2 * GROUP + 1, 3)] {
        let world = World::new();
        let (runtime, _) = open_holding(&world).await;
        let before = world.store.counts();
        let answers = runtime.start_batch(holds, vec![String::new(); starts]).await;
        assert!(answers.iter().all(Result::is_ok));
        let after = world.store.counts();
        assert_eq!(after.starts - before.starts, starts as u64);
        assert_eq!(after.groups - before.groups, commits, "{starts} starts");
    }
}

#[tokio::test]
async fn others_wait_for_two_groups_of_a_batch_and_not_for_all_of_it() {
    // A group is full by its number of writes or, at 1 MiB, by their bytes.
    for (bytes, per_group) in [(0, GROUP), (300 * 1024, 4)] {
        let world = World::new();
        let (runtime, _) = open_holding(&world).await;
        world.store.hold(true);
        let batch = tokio::spawn({
            let runtime = runtime.clone();
            async move { runtime.start_batch(holds, vec!["x".repeat(bytes); 4 * per_group]).await }
        });
        settle().await;
        let other = tokio::spawn({
            let runtime = runtime.clone();
            async move { runtime.start(holds, String::new()).id("other").await }
        });
        settle().await;
        assert!(!batch.is_finished());
        world.store.hold(false);
        other.await.unwrap().unwrap();
        assert!(batch.await.unwrap().iter().all(Result::is_ok));
        let place = ids(&runtime).await.iter().position(|id| id == "other");
        assert_eq!(place, Some(1 + 2 * per_group), "{bytes} bytes each");
    }
}

#[tokio::test]
async fn instances_of_a_batch_run_while_the_rest_of_it_is_written() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| register(runtime, &ledger)).await;
    let batch = tokio::spawn({
        let runtime = runtime.clone();
        async move { runtime.start_batch(doubles, 0..10_000).await }
    });
    until(async || ledger.total() > 0).await;
    assert!(!batch.is_finished());
    assert!(batch.await.unwrap().iter().all(Result::is_ok));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_batches_with_the_same_ids_one_creates_each_instance() {
    let world = World::new();
    let (runtime, ledger) = open(&world).await;
    let mut batches = Vec::new();
    for _ in 0..4 {
        let runtime = runtime.clone();
        batches.push(tokio::spawn(async move {
            runtime.start_batch(doubles, 0..1_200).ids(u32::to_string).await
        }));
    }
    let mut created = 0;
    for batch in batches {
        for (number, answer) in (0..1_200).zip(batch.await.unwrap()) {
            let handle = answer.unwrap();
            created += usize::from(handle.created());
            assert_eq!(handle.result().await.unwrap(), number * 2);
        }
    }
    assert_eq!((created, ledger.total()), (1_200, 1_200));
}

/// What was promised is kept, whichever commit the process dies at; the same batch again makes what is missing.
#[tokio::test]
async fn a_death_in_the_middle_of_a_batch_forgets_nothing_that_was_answered() {
    const STARTS: u32 = 2_500;
    for when in [When::Before, When::After] {
        for at in 1..=3u64 {
            let world = World::new();
            let (runtime, gate) = open_holding(&world).await;
            let inputs = || (0..STARTS).map(|number| number.to_string());
            world.store.die_at(1 + at, when);
            let answers = runtime.start_batch(holds, inputs()).ids(String::clone).await;
            assert_eq!(answers.len(), STARTS as usize);
            drop(runtime);
            world.store.revive();

            let runtime = world.open(|runtime| runtime.workflow(holds).state(gate.clone())).await;
            let there: BTreeSet<String> = ids(&runtime).await.into_iter().collect();
            let groups = (at - 1) as usize + usize::from(when == When::After);
            assert_eq!(there.len(), 1 + (groups * GROUP).min(STARTS as usize));
            for answer in answers {
                match answer {
                    Ok(handle) => assert!(there.contains(handle.id()), "{when:?} {at}: {}", handle.id()),
                    Err(StartError::Runtime(RuntimeError::Commit(error))) => {
                        assert!(error.to_string().contains("injected death"), "{error}");
                    }
                    Err(error) => panic!("{when:?} {at}: {error}"),
                }
            }
            let again = runtime.start_batch(holds, inputs()).ids(String::clone).await;
            for (input, answer) in inputs().zip(again) {
                let handle = answer.unwrap();
                assert_eq!(handle.id(), input);
                assert_eq!(handle.created(), !there.contains(&input), "{when:?} {at}: {input}");
            }
            assert_eq!(ids(&runtime).await.len(), 1 + STARTS as usize);
        }
    }
}

#[tokio::test]
async fn a_shutdown_in_the_middle_of_a_batch_writes_what_was_handed_over_and_refuses_the_rest() {
    let world = World::new();
    let (runtime, gate) = open_holding(&world).await;
    let batch = held_batch(&world, &runtime).await;
    let shutdown = tokio::spawn(runtime.clone().shutdown(secs(0)));
    until(async || matches!(runtime.status("none").await, Err(RuntimeError::ShutDown))).await;
    world.store.hold(false);
    shutdown.await.unwrap();
    let answers = batch.await.unwrap();
    let mut started = BTreeSet::from(["first".to_owned()]);
    for (place, answer) in answers.into_iter().enumerate() {
        match answer {
            Ok(handle) => assert!(started.insert(handle.id().to_owned())),
            Err(error) => {
                assert!(
                    matches!(error, StartError::Runtime(RuntimeError::ShutDown)),
                    "{error:?}"
                );
                assert!(place >= 2 * GROUP, "{place}");
            }
        }
    }
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(holds).state(gate.clone())).await;
    let there: BTreeSet<String> = ids(&runtime).await.into_iter().collect();
    assert_eq!((there.len(), &there), (1 + 2 * GROUP, &started));
}

#[tokio::test]
async fn a_batch_waits_for_a_store_that_cannot_write_for_a_while() {
    let world = World::new();
    let (runtime, ledger) = open(&world).await;
    world.store.be_unavailable(3);
    let answers = runtime.start_batch(doubles, 0..300).await;
    for (number, answer) in (0..300).zip(answers) {
        assert_eq!(answer.unwrap().result().await.unwrap(), number * 2);
    }
    assert_eq!(ledger.total(), 300);
}

#[tokio::test]
async fn a_batch_that_nobody_waits_for_any_more_starts_what_was_handed_over() {
    let world = World::new();
    let (runtime, gate) = open_holding(&world).await;
    let batch = held_batch(&world, &runtime).await;
    batch.abort();
    assert!(batch.await.unwrap_err().is_cancelled());
    world.store.hold(false);
    until(async || gate.held() == 1 + 2 * GROUP).await;
    settle().await;
    let ids = ids(&runtime).await;
    assert_eq!(ids.len(), 1 + 2 * GROUP);
    gate.open(ids.len());
    for id in ids {
        assert_eq!(runtime.handle(holds, &id).await.unwrap().result().await.unwrap(), 0);
    }
}
