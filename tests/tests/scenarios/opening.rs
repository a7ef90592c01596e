//! Before anything moves, a runtime tells which instances in flight would diverge from its code: those of workflows whose
//! shape changed are replayed, and no others. Old and new code are two workflows of one name.

use steadfast::prelude::*;
use steadfast::{Builder, OpenError};
use steadfast_tests::{Ask, Gate, Ledger, World, until};

type Done = Result<u32, BoxError>;

#[workflow(name = "order")]
async fn old(ledger: &Ledger) -> Done {
    let charged = step!("charge", ledger.work("charge", 1)).await?;
    sleep!("rest", days(1)).await;
    Ok(step!("ship", ledger.work("ship", charged + 1)).await?)
}

#[workflow(name = "order")]
async fn inserted(ledger: &Ledger) -> Done {
    step!("check", ledger.work("check", 0)).await?;
    let charged = step!("charge", ledger.work("charge", 1)).await?;
    sleep!("rest", days(1)).await;
    Ok(step!("ship", ledger.work("ship", charged + 1)).await?)
}

#[workflow(name = "order")]
async fn appended(ledger: &Ledger) -> Done {
    let charged = step!("charge", ledger.work("charge", 1)).await?;
    sleep!("rest", days(1)).await;
    let shipped = step!("ship", ledger.work("ship", charged + 1)).await?;
    Ok(step!("thank", ledger.work("thank", shipped + 1)).await?)
}

/// Panics where `old` did not.
#[workflow(name = "order")]
async fn panicking(ledger: &Ledger) -> Done {
    let charged = step!("charge", ledger.work("charge", 1)).await?;
    assert_eq!(charged, 2, "of another shape, too");
    Ok(charged)
}

#[workflow(name = "other")]
async fn other(gate: &Gate) -> Done {
    step!("pass", {
        gate.pass("pass").await;
        Ok(1)
    })
    .await
    .map_err(BoxError::from)
}

const ASLEEP: usize = 20;

/// Instances of `old` that sleep, one that has ended, and one of another workflow whose body runs.
async fn in_flight(world: &World, ledger: &Ledger, gate: &Gate) {
    asleep(world, ledger).await;
    let runtime = world
        .open(|runtime| {
            runtime
                .workflow(old)
                .workflow(other)
                .state(ledger.clone())
                .state(gate.clone())
        })
        .await;
    runtime.start(other, ()).id("other").await.unwrap();
    until(async || gate.held() == 1).await;
    drop(runtime);
    until(async || gate.held() == 0).await;
}

/// Instances of `old` that sleep, and one that has ended.
async fn asleep(world: &World, ledger: &Ledger) {
    let runtime = world.open(|runtime| runtime.workflow(old).state(ledger.clone())).await;
    let ended = runtime.start(old, ()).id("ended").await.unwrap();
    world
        .advance_until(async || runtime.ask("ended").await.status.is_terminal())
        .await;
    assert_eq!(ended.result().await.unwrap(), 2);
    for number in 0..ASLEEP {
        runtime.start(old, ()).id(format!("asleep {number}")).await.unwrap();
    }
    for number in 0..ASLEEP {
        runtime.until_status(&format!("asleep {number}"), Status::Waiting).await;
    }
    drop(runtime);
}

#[tokio::test]
async fn what_would_diverge_is_told_before_anything_moves() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    in_flight(&world, &ledger, &gate).await;
    let bodies = ledger.count("charge");
    let runtime = world
        .open(|runtime| runtime.workflow(inserted).state(ledger.clone()))
        .await;
    let told = runtime.divergences();
    assert_eq!(told.len(), ASLEEP, "{told:?}");
    assert_eq!(
        (told[3].id.as_str(), told[3].workflow.as_str(), told[3].version),
        ("asleep 3", "order", 1)
    );
    assert!(told[3].reason.contains("`check`"), "{}", told[3].reason);
    // Nothing of them has moved: they sleep, and are quarantined only when they wake.
    assert_eq!(runtime.ask("asleep 3").await.status, Status::Waiting);
    assert_eq!((ledger.count("check"), ledger.count("charge")), (0, bodies));
    // Whatever is written meanwhile, as long as they are there they are told again.
    runtime.start(inserted, ()).id("new").await.unwrap();
    drop(runtime);
    let runtime = world
        .open(|runtime| runtime.workflow(inserted).state(ledger.clone()))
        .await;
    assert_eq!(runtime.divergences().len(), ASLEEP);
}

#[tokio::test]
async fn a_runtime_that_refuses_divergence_does_not_open_and_the_old_code_goes_on() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    in_flight(&world, &ledger, &gate).await;
    for new in [
        |runtime: Builder| runtime.workflow(inserted),
        |runtime: Builder| runtime.workflow(panicking),
    ] {
        let refused = world
            .try_open(|runtime| new(runtime).state(ledger.clone()).refuse_divergence())
            .await;
        let Err(OpenError::WouldDiverge { divergences }) = refused else {
            panic!("it opened");
        };
        assert_eq!(divergences.len(), ASLEEP);
        let message = OpenError::WouldDiverge { divergences }.to_string();
        assert!(message.starts_with("20 instances in flight would diverge"), "{message}");
    }
    let runtime = world
        .open(|runtime| runtime.workflow(old).state(ledger.clone()).refuse_divergence())
        .await;
    assert_eq!(runtime.divergences(), []);
    world
        .advance_until(async || runtime.ask("asleep 0").await.status.is_terminal())
        .await;
    assert_eq!(runtime.ask("asleep 0").await.status, Status::Completed);
}

#[tokio::test]
async fn only_instances_in_flight_of_workflows_that_changed_are_looked_at_and_once() {
    let (world, ledger) = (World::new(), Ledger::default());
    asleep(&world, &ledger).await;
    let loads = || world.store.counts().loads;
    // Unchanged: nothing is loaded.
    let before = loads();
    let runtime = world.open(|runtime| runtime.workflow(old).state(ledger.clone())).await;
    assert_eq!(loads(), before);
    drop(runtime);
    // Changed, and compatible: each that sleeps is loaded once, and none is told.
    let runtime = world
        .open(|runtime| runtime.workflow(appended).state(ledger.clone()))
        .await;
    assert_eq!((loads(), runtime.divergences()), (before + ASLEEP as u64, &[][..]));
    // The new shape is noted with the first thing that is written.
    runtime.start(appended, ()).id("new").await.unwrap();
    drop(runtime);
    let before = loads();
    let runtime = world
        .open(|runtime| runtime.workflow(appended).state(ledger.clone()))
        .await;
    assert_eq!(loads(), before);
    drop(runtime);
}

#[tokio::test]
async fn a_store_that_cannot_be_read_is_not_called_sound() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    in_flight(&world, &ledger, &gate).await;
    world.store.fail_reads("load", 1);
    let refused = world
        .try_open(|runtime| runtime.workflow(appended).state(ledger.clone()))
        .await;
    assert!(matches!(refused, Err(OpenError::Read(_))));
    let runtime = world
        .open(|runtime| runtime.workflow(appended).state(ledger.clone()))
        .await;
    assert_eq!(runtime.divergences(), []);
}

#[durable]
async fn charging(ledger: &Ledger) -> Result<u32, BoxError> {
    Ok(step!("charge", ledger.work("charge", 1)).await?)
}

#[durable]
async fn charging_twice(ledger: &Ledger) -> Result<u32, BoxError> {
    step!("check", ledger.work("check", 0)).await?;
    Ok(step!("charge", ledger.work("charge", 1)).await?)
}

mod before {
    pub(super) use super::charging;
}
mod after {
    pub(super) use super::charging_twice as charging;
}

macro_rules! with_helper {
    ($name:ident, $module:ident) => {
        #[workflow(name = "helped")]
        async fn $name(ledger: &Ledger) -> Done {
            use $module::charging as charge;
            let charged = charge(ledger).await?;
            sleep!("rest", days(1)).await;
            Ok(charged)
        }
    };
}
with_helper!(helped_before, before);
with_helper!(helped_after, after);

#[tokio::test]
async fn what_a_shape_does_not_hold_is_found_when_all_are_replayed() {
    use steadfast::Workflow as _;
    assert_eq!(helped_before::shape().text(), helped_after::shape().text());
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world
        .open(|runtime| runtime.workflow(helped_before).state(ledger.clone()))
        .await;
    runtime.start(helped_before, ()).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    drop(runtime);
    let new = |runtime: Builder| runtime.workflow(helped_after).state(ledger.clone());
    let unaware = world.open(new).await;
    assert_eq!(unaware.divergences(), []);
    drop(unaware);
    let refused = world
        .try_open(|runtime| new(runtime).rehearse_all().refuse_divergence())
        .await;
    assert!(matches!(refused, Err(OpenError::WouldDiverge { divergences }) if divergences.len() == 1));
}
