//! Steps beside each other: exact limits, order of results, and that nothing disturbs a sibling (requirements A1, A3, A5,
//! A14, B11, B19, D6, D7).

use steadfast::prelude::*;
use steadfast::{Builder, WaitingFor};
use steadfast_tests::groups::Chance;
use steadfast_tests::{Ask, Gate, Ledger, World, until};

#[derive(Clone, Default)]
struct Stages {
    ledger: Ledger,
    prepare: Gate,
    render: Gate,
}

#[workflow]
async fn exports(pages: u32, stages: &Stages) -> Result<Vec<u32>, BoxError> {
    let prepared = map_concurrent(0..pages, 10, |page| async move {
        step!("prepare", {
            stages.ledger.note(format_args!("prepare {page}"));
            stages.prepare.pass(page).await;
            Ok(page)
        })
        .key(page)
        .await
    })
    .await?;
    let rendered = map_concurrent(prepared, 3, |page| async move {
        step!("render", {
            stages.ledger.note(format_args!("render {page}"));
            stages.render.pass(page).await;
            Ok(page * 10)
        })
        .key(page)
        .await
    })
    .await?;
    Ok(rendered)
}

fn succeeded(lines: &[String], step: &str) -> usize {
    let of_step = |line: &&String| line.starts_with("step `") && line.contains(step) && line.contains("succeeded");
    lines.iter().filter(of_step).count()
}

/// Requirement A1, each stage killed at 37 finished pages.
#[tokio::test]
async fn a_hundred_pages_are_rendered_exactly_as_concurrently_as_asked_also_after_a_crash() {
    let (world, stages) = (World::new(), Stages::default());
    let open = |runtime: Builder| runtime.workflow(exports).state(stages.clone());
    let mut runtime = world.open(open).await;
    runtime.start(exports, 100).id("a").await.unwrap();
    for (stage, limit) in [("prepare", 10), ("render", 3)] {
        let gate = if stage == "prepare" {
            &stages.prepare
        } else {
            &stages.render
        };
        until(async || gate.held() == limit).await;
        for finished in 1..=37 {
            gate.open(1);
            until(async || gate.passed().len() == finished && gate.held() == limit).await;
        }
        until(async || succeeded(&runtime.lines("a").await, stage) == 37).await;
        assert_eq!(gate.take_most(), limit);
        drop(runtime);
        until(async || gate.held() == 0).await;
        let before = stages.ledger.counts();
        let interrupted: Vec<String> = (0..100)
            .map(|page| format!("{stage} {page}"))
            .filter(|body| before.contains_key(body))
            .collect();
        assert_eq!(interrupted.len(), 37 + limit);

        runtime = world.open(open).await;
        until(async || gate.held() == limit).await;
        assert_eq!(gate.take_most(), limit);
        for finished in 38..=100 {
            gate.open(1);
            let left = 100 - finished;
            until(async || gate.passed().len() == finished && gate.held() == limit.min(left)).await;
        }
        assert_eq!(gate.take_most(), limit);
        for page in 0..100 {
            let finished = gate.passed().iter().take(37).any(|passed| *passed == page.to_string());
            let began = interrupted.contains(&format!("{stage} {page}"));
            let expected = if began && !finished { 2 } else { 1 };
            assert_eq!(
                stages.ledger.count(&format!("{stage} {page}")),
                expected,
                "{stage} {page}"
            );
        }
    }
    let result = runtime.handle(exports, "a").await.unwrap().result().await.unwrap();
    assert_eq!(result, (0..100).map(|page| page * 10).collect::<Vec<u32>>());
    assert_eq!(stages.ledger.total(), 200 + 10 + 3);
}

async fn work(ledger: &Ledger, gate: &Gate, name: &'static str) -> Result<u32, BoxError> {
    ledger.note(name);
    gate.pass(name).await;
    Ok(1)
}

#[workflow]
async fn five(ledger: &Ledger, gate: &Gate) -> Result<Vec<u32>, BoxError> {
    let (a, b, c, d, e) = try_join!(
        step!("a", work(ledger, gate, "a")),
        step!("b", work(ledger, gate, "b")),
        step!("c", ledger.fail_first("c", 1, 1u32)).retry(Retry::fixed(secs(1))),
        step!("d", work(ledger, gate, "d")),
        step!("e", work(ledger, gate, "e"))
    )
    .await?;
    Ok(vec![a, b, c, d, e])
}

/// Requirement A3 and table E.
#[tokio::test]
async fn of_five_parallel_steps_only_the_one_that_failed_runs_twice() {
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let runtime = world
        .open(|runtime| runtime.workflow(five).state(ledger.clone()).state(gate.clone()))
        .await;
    let handle = runtime.start(five, ()).id("a").await.unwrap();
    runtime
        .until_waiting_for("a", |wait| matches!(wait, WaitingFor::Retry { attempt: 2, .. }))
        .await;
    assert_eq!(gate.held(), 4);
    world.clock.advance(secs(1));
    until(async || ledger.count("c") == 2).await;
    until(async || runtime.ask("a").await.running.len() == 4).await;
    assert_eq!(gate.held(), 4);
    gate.open(4);
    assert_eq!(handle.result().await.unwrap(), [1, 1, 1, 1, 1]);
    let counts: Vec<u32> = ["a", "b", "c", "d", "e"].map(|name| ledger.count(name)).to_vec();
    assert_eq!(counts, [1, 1, 2, 1, 1]);
}

#[derive(Clone, Default)]
struct Doors(std::sync::Arc<[Gate; 20]>);

/// Requirement A5.
#[tokio::test]
async fn results_come_in_the_order_of_the_items_whatever_the_order_they_finish_in() {
    #[workflow]
    async fn items(doors: &Doors) -> Result<(Vec<u32>, Vec<u32>, Vec<u32>), BoxError> {
        let mapped = map_concurrent(0..20u32, 20, |item| async move {
            step!("mapped", {
                doors.0[item as usize].pass(item).await;
                Ok(item)
            })
            .await
        });
        let all = map_concurrent_all(0..20u32, 20, |item| async move {
            step!("all", {
                doors.0[item as usize].pass(item).await;
                Ok(item)
            })
            .await
            .unwrap_or(99)
        });
        let joined = try_join_all((0..20u32).map(|item| async move {
            step!("joined", {
                doors.0[item as usize].pass(item).await;
                Ok(item)
            })
            .await
        }));
        let (mapped, all, joined) = join!(mapped, all, joined).await;
        Ok((mapped?, all, joined?))
    }
    let (world, doors) = (World::new(), Doors::default());
    let runtime = world.open(|runtime| runtime.workflow(items).state(doors.clone())).await;
    let seed = 11;
    println!("seed {seed}");
    let mut chance = Chance::new(seed);
    let handle = runtime.start(items, ()).await.unwrap();
    let mut order: Vec<usize> = (0..20).flat_map(|item| [item; 3]).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, chance.below(place as u64 + 1) as usize);
    }
    for door in order {
        doors.0[door].open(1);
        for _ in 0..chance.below(20) {
            tokio::task::yield_now().await;
        }
    }
    let expected: Vec<u32> = (0..20).collect();
    assert_eq!(
        handle.result().await.unwrap(),
        (expected.clone(), expected.clone(), expected)
    );
}

/// Requirement B11.
#[tokio::test]
async fn while_one_branch_backs_off_the_other_goes_on_and_the_status_says_when_the_next_attempt_is() {
    #[workflow]
    async fn branches(ledger: &Ledger) -> Result<u32, BoxError> {
        let failing = async {
            step!("flaky", ledger.fail_first("flaky", 1, 1u32))
                .retry(Retry::fixed(hours(1)))
                .await
        };
        let steady = async {
            step!("one", ledger.work("one", ())).await?;
            sleep!("nap", secs(1)).await;
            step!("two", ledger.work("two", ())).await?;
            step!("three", ledger.work("three", 2u32)).await
        };
        let (a, b) = try_join!(failing, steady).await?;
        Ok(a + b)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world
        .open(|runtime| runtime.workflow(branches).state(ledger.clone()).park_after(millis(0)))
        .await;
    let began = steadfast::testing::Clock::now(&world.clock);
    let handle = runtime.start(branches, ()).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    world.clock.advance(secs(1));
    until(async || ledger.count("three") == 1).await;
    let seen = runtime.until_status("a", Status::Waiting).await;
    let retry = WaitingFor::Retry {
        step: "{0}/flaky".into(),
        attempt: 2,
        at: began + hours(1),
    };
    assert_eq!(seen.waiting_for, [retry]);
    assert_eq!(ledger.count("flaky"), 1);
    world.clock.set(began + hours(1));
    assert_eq!(handle.result().await.unwrap(), 3);
    assert_eq!(ledger.counts().into_values().collect::<Vec<u32>>(), [2, 1, 1, 1]);
}

/// Requirement B19 and table E.
#[tokio::test]
async fn a_sleep_that_ends_beside_a_running_step_does_not_run_the_body_twice() {
    #[workflow]
    async fn beside(ledger: &Ledger, gate: &Gate) -> Result<u32, BoxError> {
        let (done, ()) = join!(
            step!("long", {
                ledger.note("long");
                gate.pass("long").await;
                Ok(5u32)
            }),
            sleep!("short", millis(300))
        )
        .await;
        Ok(done?)
    }
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let open = |runtime: Builder| {
        runtime
            .workflow(beside)
            .state(ledger.clone())
            .state(gate.clone())
            .park_after(millis(0))
    };
    let runtime = world.open(open).await;
    let handle = runtime.start(beside, ()).id("a").await.unwrap();
    until(async || gate.held() == 1).await;
    world.clock.advance(millis(300));
    until(async || {
        runtime
            .lines("a")
            .await
            .iter()
            .any(|line| line == "sleep `short` ended")
    })
    .await;
    world.clock.advance(hours(1));
    assert_eq!((gate.held(), ledger.count("long")), (1, 1));
    gate.open(1);
    assert_eq!(handle.result().await.unwrap(), 5);
    assert_eq!(ledger.count("long"), 1);
}

/// Requirement D6.
#[tokio::test]
async fn a_dropped_step_is_recorded_as_dropped_and_its_result_never_comes_back() {
    #[workflow]
    async fn loses(ledger: &Ledger, gate: &Gate) -> Result<u32, BoxError> {
        let lost = race!(
            step!("slow", {
                ledger.note("slow");
                gate.pass("slow").await;
                Ok(1u32)
            }),
            sleep!("short", secs(1))
        )
        .await;
        let lost = matches!(lost, Race2::Second(()));
        assert!(lost);
        step!("after", ledger.work("after", ())).await?;
        sleep!("pause", secs(1)).await;
        Ok(7)
    }
    let (world, ledger, gate) = (World::new(), Ledger::default(), Gate::default());
    let open = |runtime: Builder| runtime.workflow(loses).state(ledger.clone()).state(gate.clone());
    let runtime = world.open(open).await;
    runtime.start(loses, ()).id("a").await.unwrap();
    until(async || gate.held() == 1).await;
    world.clock.advance(secs(1));
    until(async || ledger.count("after") == 1).await;
    assert_eq!(gate.held(), 0, "the body was dropped");
    gate.open(5);
    runtime.until_status("a", Status::Waiting).await;
    drop(runtime);
    let runtime = world.open(open).await;
    world.clock.advance(secs(1));
    assert_eq!(runtime.handle(loses, "a").await.unwrap().result().await.unwrap(), 7);
    let lines = runtime.lines("a").await;
    assert!(lines.iter().any(|line| line == "step `slow` was dropped"), "{lines:#?}");
    assert_eq!(succeeded(&lines, "slow"), 0);
    assert_eq!(ledger.count("slow"), 1);
    assert!(gate.passed().is_empty());
}

/// Requirement D6: what was never awaited never began.
#[tokio::test]
async fn a_step_that_was_made_and_never_awaited_never_runs() {
    #[workflow]
    async fn forgets(ledger: &Ledger) -> Result<u32, BoxError> {
        let forgotten = step!("forgotten", ledger.work("forgotten", 1u32));
        let kept = step!("kept", ledger.work("kept", 2u32)).await?;
        drop(forgotten);
        sleep!("pause", secs(1)).await;
        Ok(kept)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let open = |runtime: Builder| runtime.workflow(forgets).state(ledger.clone());
    let runtime = world.open(open).await;
    runtime.start(forgets, ()).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    drop(runtime);
    let runtime = world.open(open).await;
    world.clock.advance(secs(1));
    assert_eq!(runtime.handle(forgets, "a").await.unwrap().result().await.unwrap(), 2);
    assert_eq!(ledger.entries(), ["kept"]);
}

#[derive(Clone, Default)]
struct Lanes(std::sync::Arc<[Gate; 3]>);

#[workflow]
async fn raced(lanes: &Lanes, ledger: &Ledger) -> Result<Vec<u32>, BoxError> {
    let mut winners = Vec::new();
    for round in 0..2u32 {
        let winner = match race!(
            step!("left", {
                lanes.0[0].pass(round).await;
                Ok(0u32)
            }),
            step!("middle", {
                lanes.0[1].pass(round).await;
                Ok(1u32)
            }),
            step!("right", {
                lanes.0[2].pass(round).await;
                Ok(2u32)
            })
        )
        .await
        {
            Race3::First(won) | Race3::Second(won) | Race3::Third(won) => won?,
        };
        winners.push(winner);
        step!("note", async {
            Ok::<_, BoxError>(ledger.note(format_args!("{round}: {winner}")))
        })
        .await?;
        sleep!("pause", secs(1)).await;
    }
    Ok(winners)
}

/// Requirement D7 and table E: a thousand random schedules.
#[tokio::test]
async fn a_race_has_the_same_winner_on_replay_whatever_the_schedule_was() {
    let seed = 4;
    println!("seed {seed}");
    let mut chance = Chance::new(seed);
    let mut wins = [0; 3];
    for schedule in 0..1_000 {
        let (world, ledger, lanes) = (World::new(), Ledger::default(), Lanes::default());
        let open = |runtime: Builder| runtime.workflow(raced).state(ledger.clone()).state(lanes.clone());
        let mut runtime = world.open(open).await;
        runtime.start(raced, ()).id("a").await.unwrap();
        for _ in 0..2 {
            for _ in 0..3 {
                lanes.0[chance.below(3) as usize].open(1);
                for _ in 0..chance.below(6) {
                    tokio::task::yield_now().await;
                }
            }
            if chance.below(2) == 0 {
                drop(runtime);
                runtime = world.open(open).await;
            }
            for lane in lanes.0.iter() {
                lane.open(1);
            }
            runtime
                .until_waiting_for("a", |wait| matches!(wait, WaitingFor::Sleep { .. }))
                .await;
            if chance.below(2) == 0 {
                drop(runtime);
                runtime = world.open(open).await;
            }
            world.clock.advance(secs(1));
            let count = ledger.total();
            until(async || runtime.ask("a").await.status.is_terminal() || ledger.total() >= count && {
                let seen = runtime.ask("a").await;
                !seen.running.is_empty() || seen.waiting_for.iter().any(|wait| matches!(wait, WaitingFor::Sleep { until, .. } if *until > steadfast::testing::Clock::now(&world.clock)))
            }).await;
        }
        for lane in lanes.0.iter() {
            lane.open(3);
        }
        world
            .advance_until(async || runtime.ask("a").await.status.is_terminal())
            .await;
        let winners = runtime.handle(raced, "a").await.unwrap().result().await.unwrap();
        let noted = ledger.entries();
        let mut once = noted.clone();
        once.dedup();
        let expected: Vec<String> = winners
            .iter()
            .enumerate()
            .map(|(round, winner)| format!("{round}: {winner}"))
            .collect();
        assert_eq!(once, expected, "schedule {schedule} of seed {seed}");
        for winner in winners {
            wins[winner as usize] += 1;
        }
    }
    assert!(
        wins.iter().all(|wins| *wins > 50),
        "every lane wins sometimes: {wins:?}"
    );
}
