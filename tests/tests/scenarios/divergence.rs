//! Code that no longer matches the journal stops the instance before any body runs, says what was recorded, what the code
//! attempted and where, and the old code finishes it. Old and new code are two workflows of one name.

use steadfast::prelude::*;
use steadfast::{InstanceStatus, Workflow, WorkflowError};
use steadfast_tests::{Ask, Ledger, World};

type Done = Result<u32, BoxError>;

/// What every new version is tried against: two finished steps, a sleep that is over, a finished step, a wait.
#[workflow(name = "order")]
async fn old(ledger: &Ledger) -> Done {
    let charged = step!("charge", ledger.work("charge", 1)).await?;
    let packed = step!("pack", ledger.work("pack", charged + 1)).await?;
    sleep!("rest", secs(10)).await;
    let shipped = step!("ship", ledger.work("ship", packed + 1)).await?;
    let bonus: u32 = signal!("bonus").await;
    step!("thank", ledger.work("thank", shipped + bonus))
        .await
        .map_err(BoxError::from)
}

#[workflow(name = "order")]
async fn renamed(ledger: &Ledger) -> Done {
    let charged = step!("charge card", ledger.work("charge card", 1)).await?;
    let packed = step!("pack", ledger.work("pack", charged + 1)).await?;
    sleep!("rest", secs(10)).await;
    let shipped = step!("ship", ledger.work("ship", packed + 1)).await?;
    let bonus: u32 = signal!("bonus").await;
    Ok(shipped + bonus)
}

#[workflow(name = "order")]
async fn inserted(ledger: &Ledger) -> Done {
    let charged = step!("charge", ledger.work("charge", 1)).await?;
    step!("check", ledger.work("check", 0)).await?;
    let packed = step!("pack", ledger.work("pack", charged + 1)).await?;
    sleep!("rest", secs(10)).await;
    let shipped = step!("ship", ledger.work("ship", packed + 1)).await?;
    let bonus: u32 = signal!("bonus").await;
    Ok(shipped + bonus)
}

#[workflow(name = "order")]
async fn removed(ledger: &Ledger) -> Done {
    step!("charge", ledger.work("charge", 1)).await?;
    sleep!("rest", secs(10)).await;
    let shipped = step!("ship", ledger.work("ship", 3)).await?;
    let bonus: u32 = signal!("bonus").await;
    Ok(shipped + bonus)
}

#[workflow(name = "order")]
async fn reordered(ledger: &Ledger) -> Done {
    let packed = step!("pack", ledger.work("pack", 2)).await?;
    step!("charge", ledger.work("charge", 1)).await?;
    sleep!("rest", secs(10)).await;
    let shipped = step!("ship", ledger.work("ship", packed + 1)).await?;
    let bonus: u32 = signal!("bonus").await;
    Ok(shipped + bonus)
}

#[workflow(name = "order")]
async fn sleep_made_a_step(ledger: &Ledger) -> Done {
    let charged = step!("charge", ledger.work("charge", 1)).await?;
    let packed = step!("pack", ledger.work("pack", charged + 1)).await?;
    step!("rest", ledger.work("rest", ())).await?;
    let shipped = step!("ship", ledger.work("ship", packed + 1)).await?;
    let bonus: u32 = signal!("bonus").await;
    Ok(shipped + bonus)
}

#[workflow(name = "order")]
async fn step_made_a_sleep(ledger: &Ledger) -> Done {
    step!("charge", ledger.work("charge", 1)).await?;
    sleep!("pack", secs(1)).await;
    sleep!("rest", secs(10)).await;
    let shipped = step!("ship", ledger.work("ship", 3)).await?;
    let bonus: u32 = signal!("bonus").await;
    Ok(shipped + bonus)
}

#[workflow(name = "order")]
async fn step_made_a_signal(ledger: &Ledger) -> Done {
    step!("charge", ledger.work("charge", 1)).await?;
    let packed: u32 = signal!("pack").await;
    sleep!("rest", secs(10)).await;
    let shipped = step!("ship", ledger.work("ship", packed + 1)).await?;
    let bonus: u32 = signal!("bonus").await;
    Ok(shipped + bonus)
}

#[workflow(name = "order")]
async fn sleep_made_a_timed_signal(ledger: &Ledger) -> Done {
    let charged = step!("charge", ledger.work("charge", 1)).await?;
    let packed = step!("pack", ledger.work("pack", charged + 1)).await?;
    let rested: Result<u32, Elapsed> = signal!("rest").timeout(secs(10)).await;
    let shipped = step!("ship", ledger.work("ship", packed + rested.unwrap_or(1))).await?;
    let bonus: u32 = signal!("bonus").await;
    Ok(shipped + bonus)
}

#[workflow(name = "order")]
async fn returns_early(ledger: &Ledger) -> Done {
    let charged = step!("charge", ledger.work("charge", 1)).await?;
    if charged == 1 {
        return Ok(0);
    }
    Ok(charged)
}

#[workflow(name = "order")]
async fn fails_early(ledger: &Ledger) -> Done {
    step!("charge", ledger.work("charge", 1)).await?;
    Err("no more of this".into())
}

#[workflow(name = "order")]
async fn draws_chance(ledger: &Ledger) -> Done {
    let charged = step!("charge", ledger.work("charge", 1)).await?;
    let drawn: u32 = random!(0..100u32);
    let packed = step!("pack", ledger.work("pack", charged + 1 + drawn)).await?;
    sleep!("rest", secs(10)).await;
    let shipped = step!("ship", ledger.work("ship", packed + 1)).await?;
    let bonus: u32 = signal!("bonus").await;
    Ok(shipped + bonus)
}

#[workflow(name = "order")]
async fn keyed(ledger: &Ledger) -> Done {
    step!("charge", ledger.work("charge", 1)).key("a").await?;
    let packed = step!("pack", ledger.work("pack", 2)).await?;
    sleep!("rest", secs(10)).await;
    let shipped = step!("ship", ledger.work("ship", packed + 1)).await?;
    let bonus: u32 = signal!("bonus").await;
    Ok(shipped + bonus)
}

#[durable]
async fn pack(ledger: &Ledger) -> Result<u32, StepError> {
    step!("pack", ledger.work("pack", 2)).await
}

#[workflow(name = "order")]
async fn moved_into_another_scope(ledger: &Ledger) -> Done {
    step!("charge", ledger.work("charge", 1)).await?;
    let packed = pack(ledger).await?;
    sleep!("rest", secs(10)).await;
    let shipped = step!("ship", ledger.work("ship", packed + 1)).await?;
    let bonus: u32 = signal!("bonus").await;
    Ok(shipped + bonus)
}

#[workflow(name = "order")]
async fn made_parallel(ledger: &Ledger) -> Done {
    let (charged, packed) = try_join!(
        step!("pack", ledger.work("pack", 2)),
        step!("other", ledger.work("other", 1))
    )
    .await?;
    Ok(charged + packed)
}

/// The instance under old code, up to the wait for the bonus.
async fn begin(world: &World, ledger: &Ledger) {
    let runtime = world.open(|runtime| runtime.workflow(old).state(ledger.clone())).await;
    runtime.start(old, ()).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    world.clock.advance(secs(10));
    runtime
        .until_waiting_for("a", |wait| matches!(wait, steadfast::WaitingFor::Signal { .. }))
        .await;
    drop(runtime);
    assert_eq!(ledger.entries(), ["charge", "pack", "ship"]);
}

/// What new code is told, after it was woken by the bonus; no body has run, and the old code finishes the instance.
async fn diverge<W: Workflow<Output = u32, Input = ()>>(new: W) -> String {
    let (world, ledger) = (World::new(), Ledger::default());
    begin(&world, &ledger).await;
    let before = ledger.entries();

    let runtime = world.open(|runtime| runtime.workflow(new).state(ledger.clone())).await;
    runtime.signal("a", "bonus", &10u32).await.unwrap();
    let InstanceStatus { trouble, .. } = runtime.until_status("a", Status::Quarantined).await;
    let trouble = trouble.expect("a quarantined instance says why");
    let handle = runtime.handle(new, "a").await.unwrap();
    match handle.result().await {
        Err(WorkflowError::Quarantined { trouble: told }) => assert_eq!(told, trouble),
        other => panic!("{other:?}"),
    }
    let history = runtime.lines("a").await;
    runtime.resume("a").await.unwrap();
    match handle.result().await {
        Err(WorkflowError::Quarantined { trouble: told }) => assert_eq!(told, trouble),
        other => panic!("{other:?}"),
    }
    assert_eq!(runtime.lines("a").await, history, "looking again records nothing");
    assert_eq!(ledger.entries(), before, "no body ran");
    drop(runtime);

    let runtime = world.open(|runtime| runtime.workflow(old).state(ledger.clone())).await;
    let handle = runtime.handle(old, "a").await.unwrap();
    assert_eq!(handle.result().await.unwrap(), 13);
    assert_eq!(ledger.entries(), ["charge", "pack", "ship", "thank"]);
    trouble
}

/// The parts of a message, and the place in this file.
fn assert_says(trouble: &str, recorded: &str, attempted: &str) {
    let line = |label: &str| {
        let line = trouble.lines().find(|line| line.trim_start().starts_with(label));
        line.unwrap_or_else(|| panic!("no `{label}` in {trouble}")).to_owned()
    };
    let (was, is) = (line("recorded:"), line("attempted:"));
    assert!(was.contains(recorded), "{was}\n  should say {recorded}");
    assert!(is.contains(attempted), "{is}\n  should say {attempted}");
    let place = is.split("divergence.rs:").nth(1);
    let place = place.and_then(|place| place.split(':').next()?.parse::<u32>().ok());
    assert!(place.is_some_and(|line| line > 1), "no source line in: {is}");
}

#[tokio::test]
async fn a_renamed_step_diverges() {
    assert_says(&diverge(renamed).await, "step `charge` succeeded", "step `charge card`");
}

#[tokio::test]
async fn an_inserted_step_diverges() {
    assert_says(&diverge(inserted).await, "step `pack` succeeded", "step `check`");
}

#[tokio::test]
async fn a_removed_step_diverges() {
    assert_says(&diverge(removed).await, "step `pack` succeeded", "sleep `rest`");
}

#[tokio::test]
async fn two_steps_in_the_other_order_diverge() {
    assert_says(&diverge(reordered).await, "step `charge` succeeded", "step `pack`");
}

#[tokio::test]
async fn a_sleep_that_became_a_step_diverges() {
    assert_says(&diverge(sleep_made_a_step).await, "sleep `rest` began", "step `rest`");
}

#[tokio::test]
async fn a_step_that_became_a_sleep_diverges() {
    assert_says(
        &diverge(step_made_a_sleep).await,
        "step `pack` succeeded",
        "sleep `pack`",
    );
}

#[tokio::test]
async fn a_step_that_became_a_signal_wait_diverges() {
    assert_says(
        &diverge(step_made_a_signal).await,
        "step `pack` succeeded",
        "signal wait `pack`",
    );
}

#[tokio::test]
async fn a_sleep_that_became_a_timed_signal_wait_diverges() {
    assert_says(&diverge(sleep_made_a_timed_signal).await, "sleep", "signal wait `rest`");
}

#[tokio::test]
async fn a_step_that_got_a_key_diverges() {
    assert_says(&diverge(keyed).await, "step `charge` succeeded", "step `charge(a)`");
}

#[tokio::test]
async fn a_step_that_moved_into_another_scope_diverges() {
    assert_says(
        &diverge(moved_into_another_scope).await,
        "step `pack` succeeded",
        "step `pack/pack`",
    );
}

#[tokio::test]
async fn steps_that_became_parallel_diverge() {
    assert_says(&diverge(made_parallel).await, "step `charge` succeeded", "step `other`");
}

#[tokio::test]
async fn an_extra_draw_of_chance_diverges() {
    assert_says(
        &diverge(draws_chance).await,
        "step `pack` succeeded",
        "chance `random!` was drawn",
    );
}

#[tokio::test]
async fn an_early_return_with_history_left_over_diverges() {
    let trouble = diverge(returns_early).await;
    assert!(trouble.contains("step `pack` succeeded"), "{trouble}");
    assert!(trouble.contains("attempted: the workflow returned"), "{trouble}");
}

#[tokio::test]
async fn an_early_error_with_history_left_over_diverges_and_is_not_a_failure() {
    let trouble = diverge(fails_early).await;
    assert!(trouble.contains("attempted: the workflow returned"), "{trouble}");
}

#[tokio::test]
async fn what_comes_after_everything_recorded_may_change() {
    #[workflow(name = "order")]
    async fn extended(ledger: &Ledger) -> Done {
        let charged = step!("charge", ledger.work("charge", 1)).await?;
        let packed = step!("pack", ledger.work("pack", charged + 1)).await?;
        sleep!("rest", secs(10)).await;
        let shipped = step!("ship", ledger.work("ship", packed + 1)).await?;
        step!("new", ledger.work("new", shipped + 100))
            .await
            .map_err(BoxError::from)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    begin(&world, &ledger).await;
    let runtime = world
        .open(|runtime| runtime.workflow(extended).state(ledger.clone()))
        .await;
    runtime.signal("a", "bonus", &10u32).await.unwrap();
    assert_eq!(
        runtime.handle(extended, "a").await.unwrap().result().await.unwrap(),
        103
    );
}

#[tokio::test]
async fn a_diverged_instance_can_be_cancelled() {
    let (world, ledger) = (World::new(), Ledger::default());
    begin(&world, &ledger).await;
    let runtime = world
        .open(|runtime| runtime.workflow(renamed).state(ledger.clone()))
        .await;
    runtime.signal("a", "bonus", &10u32).await.unwrap();
    runtime.until_status("a", Status::Quarantined).await;
    runtime.cancel("a", "not worth it").await.unwrap();
    let result = runtime.handle(renamed, "a").await.unwrap().result().await;
    assert!(
        matches!(&result, Err(WorkflowError::Cancelled { reason }) if reason == "not worth it"),
        "{result:?}"
    );
    assert_eq!(runtime.ask("a").await.status, Status::Cancelled);
    assert_eq!(ledger.total(), 3);
}

#[tokio::test]
async fn signals_sent_to_a_diverged_instance_are_there_when_it_goes_on() {
    let (world, ledger) = (World::new(), Ledger::default());
    begin(&world, &ledger).await;
    let runtime = world
        .open(|runtime| runtime.workflow(fails_early).state(ledger.clone()))
        .await;
    runtime.cancel("nobody", "x").await.unwrap_err();
    // It waits and has no reason to be looked at; resuming makes it look.
    runtime.resume("a").await.unwrap();
    runtime.until_status("a", Status::Quarantined).await;
    let answer = runtime.signal("a", "bonus", &20u32).await.unwrap();
    assert_eq!(answer, steadfast::SignalAnswer::Buffered);
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(old).state(ledger.clone())).await;
    assert_eq!(runtime.handle(old, "a").await.unwrap().result().await.unwrap(), 23);
}
