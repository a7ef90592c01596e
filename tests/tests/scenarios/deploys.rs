//! Several deploys one after the other, some of them bad: what an instance was told holds through all of them.

use steadfast::prelude::*;
use steadfast::{Builder, RuntimeError, WaitingFor};
use steadfast_tests::{Ask, Gate, Ledger, World, until};

type Done = Result<u32, BoxError>;

#[workflow(name = "other")]
async fn other() -> Done {
    Ok(1)
}

mod waits {
    use super::*;

    #[workflow(name = "waits")]
    pub(super) async fn old(ledger: &Ledger) -> Done {
        step!("a", ledger.work("a", 1)).await?;
        let go: u32 = signal!("old go").await;
        Ok(go)
    }

    #[workflow(name = "waits")]
    pub(super) async fn new(ledger: &Ledger) -> Done {
        step!("a", ledger.work("a", 1)).await?;
        let go: u32 = if patched!("go") {
            signal!("new go").await
        } else {
            signal!("old go").await
        };
        Ok(go)
    }
}

/// `WaitingForCode` leaves open whether bodies were running: the careful answer, once given, stays.
#[tokio::test]
async fn a_change_is_answered_the_same_after_a_deploy_without_the_code() {
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world
        .open(|runtime| runtime.workflow(waits::old).state(ledger.clone()))
        .await;
    runtime.start(waits::old, ()).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(other)).await;
    runtime.resume("a").await.unwrap();
    runtime.until_status("a", Status::WaitingForCode).await;
    drop(runtime);
    let is_old = |wait: &WaitingFor| matches!(wait, WaitingFor::Signal { name, .. } if name == "old go");
    for _ in 0..3 {
        let runtime = world
            .open(|runtime| runtime.workflow(waits::new).state(ledger.clone()))
            .await;
        runtime.resume("a").await.unwrap();
        runtime.until_waiting_for("a", is_old).await;
        drop(runtime);
    }
    // The old code, put back, does not know the change and fits all the same.
    let runtime = world
        .open(|runtime| runtime.workflow(waits::old).state(ledger.clone()))
        .await;
    assert_eq!(runtime.divergences(), []);
    runtime.signal("a", "old go", &7u32).await.unwrap();
    let handle = runtime.handle(waits::old, "a").await.unwrap();
    assert_eq!(handle.result().await.unwrap(), 7);
}

async fn held(gate: &Gate, ledger: &Ledger, body: &str) -> Done {
    ledger.note(body);
    gate.pass(body).await;
    Ok(1)
}

mod runs {
    use super::*;

    #[workflow(name = "runs")]
    pub(super) async fn old(ledger: &Ledger, gate: &Gate) -> Done {
        step!("a", ledger.work("a", 1)).await?;
        Ok(step!("old", held(gate, ledger, "old")).await?)
    }

    #[workflow(name = "runs")]
    pub(super) async fn bad(ledger: &Ledger) -> Done {
        Ok(step!("A", ledger.work("A", 1)).await?)
    }

    #[workflow(name = "runs")]
    pub(super) async fn new(ledger: &Ledger, gate: &Gate) -> Done {
        step!("a", ledger.work("a", 1)).await?;
        if patched!("replaced") {
            Ok(step!("new", ledger.work("new", 2)).await?)
        } else {
            Ok(step!("old", held(gate, ledger, "old")).await?)
        }
    }
}

#[tokio::test]
async fn a_bad_deploy_in_between_does_not_make_an_instance_run_the_old_effect_and_the_new_one() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let all = |builder: Builder| builder.state(ledger.clone()).state(gate.clone());
    let runtime = world.open(|runtime| all(runtime.workflow(runs::old))).await;
    runtime.start(runs::old, ()).id("a").await.unwrap();
    until(async || gate.held() == 1).await;
    drop(runtime);
    until(async || gate.held() == 0).await;
    let runtime = world.open(|runtime| all(runtime.workflow(runs::bad))).await;
    runtime.until_status("a", Status::Quarantined).await;
    drop(runtime);
    gate.open(1);
    let runtime = world.open(|runtime| all(runtime.workflow(runs::new))).await;
    let ended = async || runtime.ask("a").await.status.is_terminal();
    world.advance_until(ended).await;
    assert_eq!(ledger.entries(), ["a", "old", "old"]);
}

#[tokio::test]
async fn a_signal_that_was_set_aside_asks_nothing_of_later_code() {
    #[workflow(name = "aside")]
    async fn old(ledger: &Ledger, gate: &Gate) -> Done {
        step!("a", held(gate, ledger, "a")).await?;
        let go: u32 = signal!("go").await;
        Ok(go)
    }
    #[workflow(name = "aside")]
    async fn new(ledger: &Ledger) -> Done {
        step!("a", ledger.work("a", 1)).await?;
        Ok(step!("b", ledger.work("b", 2)).await?)
    }
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let all = |builder: Builder| builder.state(ledger.clone()).state(gate.clone());
    let runtime = world.open(|runtime| all(runtime.workflow(old))).await;
    runtime.start(old, ()).id("a").await.unwrap();
    // Before any wait is known, so that nobody can refuse it.
    runtime.signal("a", "go", &"not a number").await.unwrap();
    gate.open(1);
    runtime.until_status("a", Status::Waiting).await;
    let aside = async || runtime.lines("a").await.iter().any(|line| line.contains("aside"));
    until(aside).await;
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(new).state(ledger.clone())).await;
    assert_eq!(runtime.divergences(), []);
    runtime.resume("a").await.unwrap();
    assert_eq!(runtime.handle(new, "a").await.unwrap().result().await.unwrap(), 2);
}

#[tokio::test]
async fn a_handle_of_another_version_is_refused() {
    #[workflow(name = "v")]
    async fn one() -> Result<u32, BoxError> {
        Ok(step!("a", { Ok(1u32) }).await?)
    }
    #[workflow(name = "v", version = 2)]
    async fn two() -> Result<bool, BoxError> {
        Ok(step!("a", { Ok(true) }).await?)
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(one).workflow(two)).await;
    let first = runtime.start(one, ()).id("a").await.unwrap();
    assert_eq!(first.result().await.unwrap(), 1);
    let Err(error @ RuntimeError::OtherWorkflow { .. }) = runtime.handle(two, "a").await else {
        panic!("1 would be read as `true`");
    };
    assert_eq!(error.to_string(), "instance `a` runs `v version 1`, not `v version 2`");
}
