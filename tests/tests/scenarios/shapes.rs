//! What shapes say of a change is what the engine does: where one is called compatible, an instance in flight finishes under
//! the new code; where it is called breaking, there is an instance that the new code would quarantine. Each case has one.

use steadfast::prelude::*;
use steadfast::{Change, InstanceStatus, Runtime, WaitingFor, Workflow};
use steadfast_tests::{Ask, Ledger, World, until};

type Done = Result<u32, BoxError>;

/// What shapes say, and what becomes of an instance that is brought by `old` to where it waits for `rests`.
async fn told_and_seen<O, N>(old: O, new: N, rests: &str) -> (Change, Option<String>)
where
    O: Workflow<Input = ()>,
    N: Workflow<Input = ()>,
{
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| runtime.workflow(old).state(ledger.clone())).await;
    runtime.start(old, ()).id("a").await.unwrap();
    if rests != "go" {
        runtime.signal("a", "go", &1u32).await.unwrap();
    }
    let reached = |wait: &WaitingFor| match wait {
        WaitingFor::Sleep { sleep, .. } => sleep == rests,
        WaitingFor::Signal { name, .. } => name == rests,
        WaitingFor::Retry { step, .. } => step == rests,
        other => panic!("{other:?}"),
    };
    world
        .advance_until(async || {
            let seen = at_rest(&runtime).await;
            assert!(!seen.status.is_terminal(), "it does not rest at `{rests}`: {seen:#?}");
            seen.waiting_for.iter().any(reached)
        })
        .await;
    drop(runtime);

    let runtime = world.open(|runtime| runtime.workflow(new).state(ledger.clone())).await;
    for _ in 0..3 {
        let _ = runtime.signal("a", "go", &1u32).await;
    }
    let _ = runtime.resume("a").await;
    let ended = async || {
        let status = at_rest(&runtime).await.status;
        status.is_terminal() || status == Status::Quarantined
    };
    world.advance_until(ended).await;
    let told = N::shape().compare(O::shape().text()).expect("both are shapes");
    (told, runtime.ask("a").await.trouble)
}

/// The instance when nothing of it moves any more. Moved before, the clock would end a sleep beside a body that is about to run.
async fn at_rest(runtime: &Runtime) -> InstanceStatus {
    until(async || !matches!(runtime.ask("a").await.status, Status::Queued | Status::Running)).await;
    runtime.ask("a").await
}

macro_rules! cases {
    ($($verdict:ident $name:ident at $rests:literal: |$ledger:ident| { $($old:tt)* } => { $($new:tt)* })*) => {$(
        #[tokio::test]
        async fn $name() {
            #[workflow(name = "w")]
            async fn old($ledger: &Ledger) -> Done {
                $($old)*
            }
            #[workflow(name = "w")]
            async fn new($ledger: &Ledger) -> Done {
                $($new)*
            }
            let (told, trouble) = told_and_seen(old, new, $rests).await;
            $verdict(&told, trouble.as_deref());
        }
    )*};
}

#[track_caller]
fn compatible(told: &Change, trouble: Option<&str>) {
    assert!(matches!(told, Change::Compatible(_)), "{told:?}");
    assert_eq!(trouble, None, "an instance in flight goes on");
}

#[track_caller]
fn breaking(told: &Change, trouble: Option<&str>) {
    assert!(matches!(told, Change::Breaking(_)), "{told:?}");
    assert!(trouble.is_some(), "an instance in flight is quarantined");
}

/// Fails, and is tried again in an hour.
fn patient() -> Retry {
    Retry::fixed(hours(1)).max_attempts(3)
}

async fn fails() -> Done {
    Err("not now".into())
}

async fn one_fails(ledger: &Ledger, item: u32) -> Done {
    if item == 1 {
        fails().await
    } else {
        ledger.work("a", item).await
    }
}

async fn fails_for_good() -> Done {
    Err(permanent("never").into())
}

cases! {
    compatible a_step_after_the_last_checkpoint at "nap": |ledger| {
        step!("a", ledger.work("a", 1)).await?;
        sleep!("nap", secs(9)).await;
        Ok(1)
    } => {
        step!("a", ledger.work("a", 1)).await?;
        sleep!("nap", secs(9)).await;
        step!("b", ledger.work("b", 1)).await?;
        sleep!("another nap", secs(9)).await;
        Ok(random!(0..9u32))
    }

    breaking a_step_before_one_that_is_recorded at "nap": |ledger| {
        step!("a", ledger.work("a", 1)).await?;
        sleep!("nap", secs(9)).await;
        Ok(1)
    } => {
        step!("x", ledger.work("x", 1)).await?;
        step!("a", ledger.work("a", 1)).await?;
        sleep!("nap", secs(9)).await;
        Ok(1)
    }

    breaking a_step_before_the_last_one_which_has_failed_once at "b": |ledger| {
        step!("a", ledger.work("a", 1)).await?;
        Ok(step!("b", fails()).retry(patient()).await?)
    } => {
        step!("a", ledger.work("a", 1)).await?;
        step!("x", ledger.work("x", 1)).await?;
        Ok(step!("b", fails()).retry(patient()).await?)
    }

    breaking no_last_step_any_more_although_it_has_failed_once at "b": |ledger| {
        step!("a", ledger.work("a", 1)).await?;
        Ok(step!("b", fails()).retry(patient()).await?)
    } => {
        Ok(step!("a", ledger.work("a", 1)).await?)
    }

    compatible another_checkpoint_for_a_last_wait at "go": |ledger| {
        step!("a", ledger.work("a", 1)).await?;
        let () = signal!("go").await;
        Ok(1)
    } => {
        step!("a", ledger.work("a", 1)).await?;
        sleep!("b", secs(1)).await;
        Ok(1)
    }

    compatible a_step_before_a_last_wait at "go": |ledger| {
        step!("a", ledger.work("a", 1)).await?;
        let go: u32 = signal!("go").await;
        Ok(go)
    } => {
        step!("a", ledger.work("a", 1)).await?;
        step!("b", ledger.work("b", 1)).await?;
        let go: u32 = signal!("go").timeout(secs(1)).await?;
        Ok(go)
    }

    breaking no_last_wait_any_more_which_had_a_timeout at "go": |ledger| {
        step!("a", ledger.work("a", 1)).await?;
        let go: u32 = signal!("go").timeout(hours(1)).await?;
        Ok(go)
    } => {
        Ok(step!("a", ledger.work("a", 1)).await?)
    }

    breaking a_timeout_on_a_wait_that_is_over at "nap": |ledger| {
        let go: u32 = signal!("go").await;
        sleep!("nap", secs(9)).await;
        Ok(go + u32::from(ledger.total() > 9))
    } => {
        let go: u32 = signal!("go").timeout(hours(1)).await?;
        sleep!("nap", secs(9)).await;
        Ok(go + u32::from(ledger.total() > 9))
    }

    breaking another_type_for_what_is_recorded at "nap": |ledger| {
        let a: u32 = step!("a", ledger.work("a", 300)).await?;
        sleep!("nap", secs(9)).await;
        Ok(a)
    } => {
        let a: String = step!("a", ledger.work("a", "x".to_owned())).await?;
        sleep!("nap", secs(9)).await;
        Ok(u32::from(a.is_empty()))
    }

    breaking a_loop_around_a_step at "nap": |ledger| {
        step!("a", ledger.work("a", 1)).await?;
        sleep!("nap", secs(9)).await;
        Ok(1)
    } => {
        for _ in 0..2 {
            step!("a", ledger.work("a", 1)).await?;
        }
        sleep!("nap", secs(9)).await;
        Ok(1)
    }

    breaking a_step_at_the_end_of_a_round at "nap#1": |ledger| {
        for _ in 0..2 {
            step!("a", ledger.work("a", 1)).await?;
            sleep!("nap", secs(9)).await;
        }
        Ok(1)
    } => {
        for _ in 0..2 {
            step!("a", ledger.work("a", 1)).await?;
            sleep!("nap", secs(9)).await;
            step!("x", ledger.work("x", 1)).await?;
        }
        Ok(1)
    }

    compatible a_step_at_the_end_of_a_last_arm at "nap": |ledger| {
        if ledger.total() == 0 {
            sleep!("nap", secs(9)).await;
        }
        Ok(1)
    } => {
        if ledger.total() == 0 {
            sleep!("nap", secs(9)).await;
            step!("b", ledger.work("b", 1)).await?;
        }
        Ok(1)
    }

    breaking a_step_at_the_end_of_an_arm_that_is_followed at "nap": |ledger| {
        if ledger.total() < 99 {
            step!("a", ledger.work("a", 1)).await?;
        }
        sleep!("nap", secs(9)).await;
        Ok(1)
    } => {
        if ledger.total() < 99 {
            step!("a", ledger.work("a", 1)).await?;
            step!("x", ledger.work("x", 1)).await?;
        }
        sleep!("nap", secs(9)).await;
        Ok(1)
    }

    breaking an_arm_that_is_new_and_followed at "nap": |ledger| {
        if ledger.total() > 9 {
            step!("a", ledger.work("a", 1)).await?;
        }
        sleep!("nap", secs(9)).await;
        Ok(1)
    } => {
        if ledger.total() > 9 {
            step!("a", ledger.work("a", 1)).await?;
        } else if ledger.total() == 0 {
            step!("x", ledger.work("x", 1)).await?;
        }
        sleep!("nap", secs(9)).await;
        Ok(1)
    }

    compatible arms_in_another_order_and_a_step_where_it_ends at "nap": |ledger| {
        match ledger.total() {
            0 => sleep!("nap", secs(9)).await,
            1 => return Err("one".into()),
            _ => _ = step!("a", ledger.work("a", 1)).await?,
        }
        Ok(1)
    } => {
        match ledger.total() {
            1 => {
                step!("say so", ledger.work("say so", 1)).await?;
                return Err("one".into());
            }
            0 => sleep!("nap", secs(9)).await,
            _ => _ = step!("a", ledger.work("a", 1)).await?,
        }
        Ok(1)
    }

    breaking an_early_return_before_what_is_recorded at "nap": |ledger| {
        step!("a", ledger.work("a", 1)).await?;
        sleep!("nap", secs(9)).await;
        Ok(1)
    } => {
        if ledger.total() < 9 {
            return Ok(0);
        }
        step!("a", ledger.work("a", 1)).await?;
        sleep!("nap", secs(9)).await;
        Ok(1)
    }

    compatible no_early_return_any_more at "nap": |ledger| {
        if ledger.total() > 9 {
            return Ok(0);
        }
        sleep!("nap", secs(9)).await;
        Ok(1)
    } => {
        sleep!("nap", secs(9)).await;
        Ok(step!("a", ledger.work("a", 1)).await?)
    }
}

cases! {
    compatible a_step_at_the_end_of_a_branch_of_a_last_join at "{1}/nap": |ledger| {
        let (a, ()) = join!(
            async { step!("a", ledger.work("a", 1)).await },
            async { sleep!("nap", secs(9)).await },
        )
        .await;
        Ok(a?)
    } => {
        let (a, ()) = join!(
            async {
                step!("a", ledger.work("a", 1)).await?;
                step!("b", ledger.work("b", 1)).await
            },
            async { sleep!("nap", secs(9)).await },
        )
        .await;
        Ok(a?)
    }

    breaking a_sleep_at_the_end_of_a_branch_while_another_goes_on at "{1}/nap": |ledger| {
        let (a, ()) = join!(
            async { step!("a", ledger.work("a", 1)).await.map(drop) },
            async {
                let _told = step!("b", ledger.work("b", 1)).await;
                sleep!("nap", secs(9)).await;
            },
        )
        .await;
        Ok(a.map(|()| 1)?)
    } => {
        let (a, ()) = join!(
            async {
                step!("a", ledger.work("a", 1)).await?;
                sleep!("x", secs(1)).await;
                Ok::<_, StepError>(())
            },
            async {
                let _told = step!("b", ledger.work("b", 1)).await;
                sleep!("nap", secs(9)).await;
            },
        )
        .await;
        Ok(a.map(|()| 1)?)
    }

    breaking a_step_at_the_end_of_a_branch_of_a_join_that_is_followed at "nap": |ledger| {
        let (a, b) = join!(step!("a", ledger.work("a", 1)), step!("b", ledger.work("b", 1))).await;
        sleep!("nap", secs(9)).await;
        Ok(a? + b?)
    } => {
        let (a, b) = join!(
            async {
                step!("a", ledger.work("a", 1)).await?;
                step!("x", ledger.work("x", 1)).await
            },
            step!("b", ledger.work("b", 1)),
        )
        .await;
        sleep!("nap", secs(9)).await;
        Ok(a? + b?)
    }

    compatible a_branch_more_in_a_last_join at "b": |ledger| {
        let (a, b) = join!(step!("a", ledger.work("a", 1)), step!("b", fails()).retry(patient())).await;
        Ok(a? + b?)
    } => {
        let (a, b, c) = join!(
            step!("a", ledger.work("a", 1)),
            step!("b", fails()).retry(patient()),
            step!("c", ledger.work("c", 1)),
        )
        .await;
        Ok(a? + b? + c?)
    }

    breaking a_sleep_as_a_branch_more at "b": |ledger| {
        let (a, b) = join!(step!("a", ledger.work("a", 1)), step!("b", fails()).retry(patient())).await;
        Ok(a? + b?)
    } => {
        let (a, b, ()) = join!(
            step!("a", ledger.work("a", 1)),
            step!("b", fails()).retry(patient()),
            sleep!("x", secs(1)),
        )
        .await;
        Ok(a? + b?)
    }

    compatible a_branch_in_front_of_checkpoints at "b": |ledger| {
        let (a, b) = join!(step!("a", ledger.work("a", 1)), step!("b", fails()).retry(patient())).await;
        Ok(a? + b?)
    } => {
        let (x, b, a) = join!(
            step!("x", ledger.work("x", 1)),
            step!("b", fails()).retry(patient()),
            step!("a", ledger.work("a", 1)),
        )
        .await;
        Ok(x? + a? + b?)
    }

    breaking a_block_in_front_of_blocks at "{0}/b": |ledger| {
        let (b, a) = join!(async { step!("b", fails()).retry(patient()).await }, step!("a", ledger.work("a", 1))).await;
        Ok(a? + b?)
    } => {
        let (x, b, a) = join!(
            async { step!("x", ledger.work("x", 1)).await },
            async { step!("b", fails()).retry(patient()).await },
            step!("a", ledger.work("a", 1)),
        )
        .await;
        Ok(x? + a? + b?)
    }

    breaking blocks_in_another_order at "nap": |ledger| {
        let (a, b) = join!(
            async { step!("a", ledger.work("a", 1)).await },
            async { step!("b", ledger.work("b", 1)).await },
        )
        .await;
        sleep!("nap", secs(9)).await;
        Ok(a? + b?)
    } => {
        let (b, a) = join!(
            async { step!("b", ledger.work("b", 1)).await },
            async { step!("a", ledger.work("a", 1)).await },
        )
        .await;
        sleep!("nap", secs(9)).await;
        Ok(a? + b?)
    }

    breaking a_join_that_ends_with_the_first_error at "{0}/nap": |ledger| {
        let (a, b) = join!(step!("a", fails_for_good()), async {
            step!("b", ledger.work("b", 1)).await?;
            sleep!("nap", secs(9)).await;
            Ok::<_, StepError>(1)
        })
        .await;
        Ok(a.unwrap_or(1) + b?)
    } => {
        let (a, b) = try_join!(step!("a", fails_for_good()), async {
            step!("b", ledger.work("b", 1)).await?;
            sleep!("nap", secs(9)).await;
            Ok::<_, StepError>(1)
        })
        .await?;
        Ok(a + b)
    }

    breaking a_step_at_the_end_of_each_item at "map[1]/{0}/a": |ledger| {
        map_concurrent_all([0, 1, 2], 1, |item| async move {
            step!("a", one_fails(ledger, item)).retry(patient()).await
        })
        .await;
        Ok(1)
    } => {
        map_concurrent_all([0, 1, 2], 1, |item| async move {
            step!("a", one_fails(ledger, item)).retry(patient()).await?;
            step!("x", ledger.work("x", 1)).await
        })
        .await;
        Ok(1)
    }

    compatible a_branch_more_in_a_last_race at "b": |ledger| {
        let winner = race!(step!("b", fails()).retry(patient()), sleep!("nap", days(1))).await;
        Ok(u32::from(matches!(winner, Race2::First(Ok(_)))) + ledger.total() as u32)
    } => {
        let winner = race!(
            step!("b", fails()).retry(patient()),
            sleep!("nap", days(1)),
            step!("c", ledger.work("c", 1)),
        )
        .await;
        Ok(u32::from(matches!(winner, Race3::First(Ok(_)))))
    }

    breaking blocks_in_variables_that_are_made_in_another_order at "nap": |ledger| {
        let a = async { step!("a", ledger.work("a", 1)).await };
        let b = async { step!("b", ledger.work("b", 1)).await };
        let (a, b) = join!(a, b).await;
        sleep!("nap", secs(9)).await;
        Ok(a? + b?)
    } => {
        let b = async { step!("b", ledger.work("b", 1)).await };
        let a = async { step!("a", ledger.work("a", 1)).await };
        let (a, b) = join!(a, b).await;
        sleep!("nap", secs(9)).await;
        Ok(a? + b?)
    }

    breaking a_block_around_a_step at "nap": |ledger| {
        step!("a", ledger.work("a", 1)).await?;
        sleep!("nap", secs(9)).await;
        Ok(1)
    } => {
        async { step!("a", ledger.work("a", 1)).await }.await?;
        sleep!("nap", secs(9)).await;
        Ok(1)
    }
}

cases! {
    compatible a_step_behind_a_patch at "nap": |ledger| {
        step!("a", ledger.work("a", 1)).await?;
        sleep!("nap", secs(9)).await;
        Ok(step!("b", ledger.work("b", 1)).await?)
    } => {
        if patched!("x first") {
            step!("x", ledger.work("x", 1)).await?;
        }
        step!("a", ledger.work("a", 1)).await?;
        sleep!("nap", secs(9)).await;
        if patched!("c for b") {
            return Ok(step!("c", ledger.work("c", 1)).await?);
        }
        Ok(step!("b", ledger.work("b", 1)).await?)
    }

    breaking a_patch_that_is_gone_although_it_is_recorded at "nap": |ledger| {
        if patched!("x first") {
            step!("x", ledger.work("x", 1)).await?;
        }
        sleep!("nap", secs(9)).await;
        Ok(1)
    } => {
        sleep!("nap", secs(9)).await;
        Ok(u32::from(ledger.total() > 9))
    }

    breaking another_new_side_of_a_patch_that_is_recorded at "nap": |ledger| {
        if patched!("x first") {
            step!("x", ledger.work("x", 1)).await?;
        }
        sleep!("nap", secs(9)).await;
        Ok(1)
    } => {
        if patched!("x first") {
            step!("y", ledger.work("y", 1)).await?;
        }
        sleep!("nap", secs(9)).await;
        Ok(1)
    }

    compatible checkpoints_that_are_removed at "nap": |ledger| {
        step!("a", ledger.work("a", 1)).key("k").await?;
        sleep!("short", secs(1)).await;
        let go: u32 = signal!("go").timeout(hours(1)).await?;
        step!("b", ledger.work("b", 1)).await?;
        sleep!("nap", secs(9)).await;
        Ok(go)
    } => {
        removed!("a").key("k").await;
        removed!(sleep "short").await;
        removed!(signal "go").await;
        step!("b", ledger.work("b", 1)).await?;
        removed!(sleep "nap").await;
        Ok(1)
    }
}

cases! {
    breaking a_change_at_a_second_place_which_is_answered_already at "b": |ledger| {
        step!("a", ledger.work("a", 1)).await?;
        if patched!("p") {
            step!("p1", ledger.work("p1", 1)).await?;
        }
        sleep!("nap", secs(9)).await;
        Ok(step!("b", fails()).retry(patient()).await?)
    } => {
        step!("a", ledger.work("a", 1)).await?;
        if patched!("p") {
            step!("p1", ledger.work("p1", 1)).await?;
        }
        sleep!("nap", secs(9)).await;
        if patched!("p") {
            step!("p2", ledger.work("p2", 1)).await?;
        }
        Ok(step!("b", fails()).retry(patient()).await?)
    }

    breaking a_way_out_of_a_loop_that_is_gone at "nap": |ledger| {
        for round in 0..3 {
            step!("a", ledger.work("a", 1)).await?;
            if round == 1 {
                break;
            }
            step!("b", ledger.work("b", 1)).await?;
        }
        sleep!("nap", secs(9)).await;
        Ok(1)
    } => {
        for _ in 0..3 {
            step!("a", ledger.work("a", 1)).await?;
            step!("b", ledger.work("b", 1)).await?;
        }
        sleep!("nap", secs(9)).await;
        Ok(1)
    }

    breaking an_early_end_of_a_branch_that_is_gone at "nap": |ledger| {
        let (a, b) = join!(
            async {
                step!("a", ledger.work("a", 1)).await?;
                if ledger.total() < 99 {
                    return Ok(1);
                }
                step!("x", ledger.work("x", 1)).await
            },
            step!("b", ledger.work("b", 1)),
        )
        .await;
        sleep!("nap", secs(9)).await;
        Ok(a? + b?)
    } => {
        let (a, b) = join!(
            async {
                step!("a", ledger.work("a", 1)).await?;
                step!("x", ledger.work("x", 1)).await
            },
            step!("b", ledger.work("b", 1)),
        )
        .await;
        sleep!("nap", secs(9)).await;
        Ok(a? + b?)
    }

    breaking a_step_before_a_closure_that_returns at "b": |ledger| {
        step!("a", ledger.work("a", 1)).await?;
        let sum: u32 = [1u32, 2].iter().map(|x| { if *x > 5 { return 0; } x + 1 }).sum();
        Ok(sum + step!("b", fails()).retry(patient()).await?)
    } => {
        step!("a", ledger.work("a", 1)).await?;
        step!("x", ledger.work("x", 1)).await?;
        let sum: u32 = [1u32, 2].iter().map(|x| { if *x > 5 { return 0; } x + 1 }).sum();
        Ok(sum + step!("b", fails()).retry(patient()).await?)
    }

    breaking a_step_after_a_branch_of_a_race_in_a_last_join at "b": |ledger| {
        let (_w, b) = join!(
            race!(async { step!("a", ledger.work("a", 1)).await }, sleep!("nap", days(1))),
            step!("b", fails()).retry(patient()),
        )
        .await;
        Ok(b?)
    } => {
        let (_w, b) = join!(
            race!(
                async {
                    step!("a", ledger.work("a", 1)).await?;
                    step!("x", ledger.work("x", 1)).await
                },
                sleep!("nap", days(1)),
            ),
            step!("b", fails()).retry(patient()),
        )
        .await;
        Ok(b?)
    }
}
