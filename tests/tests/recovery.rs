//! What an instance finds after a restart: its attempts, its due times, its signals, itself.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use steadfast::prelude::*;
use steadfast::store::{MemoryStore, Store as _, Write};
use steadfast::testing::{Clock, VirtualClock};
use steadfast::{StepFailureKind, WaitingFor};
use steadfast_tests::drive::{process, until, until_status};
use steadfast_tests::fault::{Faulty, Latch, Moment, failed};
use steadfast_tests::journal;
use steadfast_tests::ledger::{Ledger, Line, Place};

/// The body of `work` never returns in the first process.
#[workflow]
async fn works(id: String, ledger: &Ledger) -> Result<u32, BoxError> {
    let place = Place {
        id: id.as_str(),
        step: "work",
        after: &[],
    };
    step!("work", |attempt| {
        match attempt.number() {
            1 => ledger.stuck(place, attempt).await,
            number => ledger.body(place, attempt, Ok::<_, BoxError>(number)).await,
        }
    })
    .await
    .map_err(Into::into)
}

#[test]
fn an_interrupted_attempt_is_closed_and_the_next_one_has_its_number_and_the_same_key() {
    let data = MemoryStore::new();
    let ledger = Ledger::over(data.clone());
    let open = || {
        Runtime::builder()
            .workflow(works)
            .state(ledger.clone())
            .store(data.clone())
            .start()
    };
    process(async {
        let runtime = open().await.unwrap();
        runtime.start(works, "a".to_owned()).id("a").await.unwrap();
        until("the body runs", async || ledger.is_running("a", "work")).await;
    });
    process(async {
        let runtime = open().await.unwrap();
        assert_eq!(runtime.handle(works, "a").await.unwrap().result().await.unwrap(), 2);
    });
    let lines = journal::lines(&data, "a");
    assert_eq!(
        lines[1..],
        [
            "step `work` attempt 1 was interrupted; attempt 2 begins",
            "step `work` succeeded on attempt 2 with 1 bytes",
            "completed with 1 bytes",
        ]
    );
    let began: Vec<(u32, String)> = ledger.lines().into_iter().filter_map(began).collect();
    assert_eq!(began.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(began[0].1, began[1].1, "the idempotency key is the same");
    assert_eq!(ledger.violations(), Vec::<String>::new());
}

fn began(line: Line) -> Option<(u32, String)> {
    match line {
        Line::Began { attempt, key, .. } => Some((attempt, key)),
        Line::Ended { .. } | Line::Acknowledged(_) => None,
    }
}

#[workflow]
async fn works_once(id: String, ledger: &Ledger) -> Result<String, BoxError> {
    let place = Place {
        id: id.as_str(),
        step: "work",
        after: &[],
    };
    let worked = step!("work", |attempt| ledger.stuck::<u32>(place, attempt))
        .at_most_once()
        .await;
    match worked {
        Err(error) if error.kind() == StepFailureKind::Interrupted => {
            Ok(format!("interrupted on attempt {}", error.attempts()))
        }
        other => Err(format!("{other:?}").into()),
    }
}

#[test]
fn an_interrupted_step_that_runs_at_most_once_is_an_error_and_its_body_is_left_alone() {
    let data = MemoryStore::new();
    let ledger = Ledger::over(data.clone());
    let open = || {
        Runtime::builder()
            .workflow(works_once)
            .state(ledger.clone())
            .store(data.clone())
            .start()
    };
    process(async {
        let runtime = open().await.unwrap();
        runtime.start(works_once, "a".to_owned()).id("a").await.unwrap();
        until("the body runs", async || ledger.is_running("a", "work")).await;
    });
    for _ in 0..2 {
        process(async {
            let runtime = open().await.unwrap();
            let result = runtime.handle(works_once, "a").await.unwrap().result().await.unwrap();
            assert_eq!(result, "interrupted on attempt 1");
        });
    }
    assert_eq!(ledger.began("a", "work"), 1);
}

#[workflow]
async fn sleeps() -> Result<Timestamp, BoxError> {
    sleep!("long", days(30)).await;
    Ok(now!())
}

/// However often the process ends, and however late one begins: at once if it is late, and never early.
#[test]
fn a_sleeper_wakes_at_its_first_due_time_after_restarts() {
    let data = MemoryStore::new();
    let clock = VirtualClock::default();
    let open = || {
        Runtime::builder()
            .workflow(sleeps)
            .clock(clock.clone())
            .store(data.clone())
            .start()
    };
    let due = clock.now() + days(30);
    process(async {
        let runtime = open().await.unwrap();
        runtime.start(sleeps, ()).id("in time").await.unwrap();
        runtime.start(sleeps, ()).id("late").await.unwrap();
        until_status(&runtime, "in time", Status::Waiting).await;
        until_status(&runtime, "late", Status::Waiting).await;
    });
    clock.advance(days(10));
    process(async {
        let runtime = open().await.unwrap();
        for id in ["in time", "late"] {
            let status = until_status(&runtime, id, Status::Waiting).await;
            let expected = WaitingFor::Sleep {
                sleep: "long".to_owned(),
                until: due,
            };
            assert_eq!(status.waiting_for, [expected]);
        }
        until("the alarm is set", async || clock.next_due() == Some(due)).await;
        clock.set(due);
        assert_eq!(
            runtime.handle(sleeps, "in time").await.unwrap().result().await.unwrap(),
            due
        );
    });
    // `late` was ended by the crash before or after it woke; either way it wakes once, and not before it is due.
    clock.advance(days(100));
    process(async {
        let runtime = open().await.unwrap();
        let woke = runtime.handle(sleeps, "late").await.unwrap().result().await.unwrap();
        assert!(woke == due || woke == clock.now(), "{woke}");
    });
    let ends = |id| {
        journal::lines(&data, id)
            .iter()
            .filter(|line| line.contains("` ended"))
            .count()
    };
    assert_eq!((ends("in time"), ends("late")), (1, 1));
}

/// Set back by ten seconds as soon as somebody has read that it is `due`.
#[derive(Clone)]
struct Jumping {
    clock: VirtualClock,
    due: Timestamp,
    jumped: Arc<AtomicBool>,
}

impl Clock for Jumping {
    fn now(&self) -> Timestamp {
        let now = self.clock.now();
        if now >= self.due && !self.jumped.swap(true, Ordering::SeqCst) {
            self.clock
                .set(Timestamp::from_micros(self.due.as_micros() - 10_000_000));
        }
        now
    }

    fn wait_until(&self, due: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.clock.wait_until(due)
    }
}

#[test]
fn a_clock_that_is_set_back_while_a_sleeper_is_woken_does_not_lose_it() {
    let clock = VirtualClock::default();
    let due = clock.now() + days(30);
    let jumping = Jumping {
        clock: clock.clone(),
        due,
        jumped: Arc::default(),
    };
    process(async {
        let builder = Runtime::builder()
            .workflow(sleeps)
            .clock(jumping.clone())
            .park_after(days(60));
        let runtime = builder.store(MemoryStore::new()).start().await.unwrap();
        let handle = runtime.start(sleeps, ()).await.unwrap();
        until("the alarm is set", async || clock.next_due() == Some(due)).await;
        clock.set(due);
        until("the clock jumps", async || jumping.jumped.load(Ordering::SeqCst)).await;
        until("the alarm is set again", async || clock.next_due() == Some(due)).await;
        clock.set(due);
        assert_eq!(handle.result().await.unwrap(), due);
    });
}

#[workflow]
async fn parks() -> Result<(u32, Result<u32, Elapsed>), BoxError> {
    let first = signal!("first").await;
    let second = signal!("second").timeout(days(2)).await;
    Ok((first, second))
}

/// `park_after(0)`: nothing of the instance is in memory when the signal or the timer comes.
#[test]
fn a_parked_instance_is_woken_by_a_signal_and_by_time_also_after_restarts() {
    let data = MemoryStore::new();
    let clock = VirtualClock::default();
    let open = || {
        let builder = Runtime::builder().workflow(parks).clock(clock.clone());
        builder.park_after(secs(0)).store(data.clone()).start()
    };
    let is_parked = |id: &str| data.find(id).unwrap().unwrap().status == Status::Waiting;
    process(async {
        let runtime = open().await.unwrap();
        for id in ["signalled", "elapsed"] {
            runtime.start(parks, ()).id(id).await.unwrap();
            until("it waits", async || is_parked(id)).await;
        }
    });
    process(async {
        let runtime = open().await.unwrap();
        for id in ["signalled", "elapsed"] {
            let answer = runtime.signal(id, "first", &1u32).await.unwrap();
            assert_eq!(answer, steadfast::SignalAnswer::Delivered);
            until("it waits for the second", async || {
                data.find(id).unwrap().unwrap().wake_at.is_some()
            })
            .await;
        }
    });
    process(async {
        let runtime = open().await.unwrap();
        runtime.signal("signalled", "second", &2u32).await.unwrap();
        assert_eq!(
            runtime
                .handle(parks, "signalled")
                .await
                .unwrap()
                .result()
                .await
                .unwrap(),
            (1, Ok(2))
        );
        clock.advance(days(2));
        assert_eq!(
            runtime.handle(parks, "elapsed").await.unwrap().result().await.unwrap(),
            (1, Err(Elapsed))
        );
    });
}

/// A start whose commit fails before it is written leaves nothing; one that fails after leaves an instance that runs.
#[test]
fn a_start_that_crashes_leaves_no_ghost_and_no_forgotten_instance() {
    for moment in [Moment::Before, Moment::After] {
        let data = MemoryStore::new();
        let ledger = Ledger::over(data.clone());
        let store = Faulty::new(data.clone(), move |_, at, group| {
            let is_second = group
                .iter()
                .any(|write| matches!(write, Write::Start { id, .. } if id == "b"));
            if is_second && at == moment {
                Err(failed())
            } else {
                Ok(())
            }
        });
        let open = || Runtime::builder().workflow(works).state(ledger.clone());
        process(async {
            let runtime = open().store(store).start().await.unwrap();
            runtime.start(works, "a".to_owned()).id("a").await.unwrap();
            assert!(runtime.start(works, "b".to_owned()).id("b").await.is_err());
        });
        let is_there = moment == Moment::After;
        process(async {
            let runtime = open().store(data.clone()).start().await.unwrap();
            let listed = runtime.list().await.unwrap();
            let ids: Vec<&str> = listed.instances.iter().map(|instance| instance.id.as_str()).collect();
            let expected: &[&str] = if is_there { &["a", "b"] } else { &["a"] };
            assert_eq!(ids, expected, "{moment:?}");
            for id in expected {
                // By itself: nobody asked for it.
                until_status(&runtime, id, Status::Completed).await;
            }
            let again = runtime.start(works, "b".to_owned()).id("b").await.unwrap();
            assert_eq!(again.created(), !is_there);
        });
        assert_eq!(ledger.violations(), Vec::<String>::new());
    }
}

/// Signals arrive in order, each once, whatever happens between; some before, some after the restart.
#[test]
fn signals_sent_before_and_after_a_restart_keep_their_order() {
    let data = MemoryStore::new();
    let open = || Runtime::builder().workflow(collects).store(data.clone()).start();
    process(async {
        let runtime = open().await.unwrap();
        runtime.start(collects, ()).id("a").await.unwrap();
        for value in 0..3u32 {
            runtime.signal("a", "item", &value).await.unwrap();
        }
    });
    process(async {
        let runtime = open().await.unwrap();
        for value in 3..6u32 {
            runtime.signal("a", "item", &value).await.unwrap();
        }
        let handle = runtime.handle(collects, "a").await.unwrap();
        assert_eq!(handle.result().await.unwrap(), [0, 1, 2, 3, 4, 5]);
    });
}

#[workflow]
async fn collects() -> Result<Vec<u32>, BoxError> {
    let mut items = Vec::new();
    while items.len() < 6 {
        items.push(signal!("item").await);
    }
    Ok(items)
}

/// A shutdown waits for `one` and keeps `two` from beginning.
#[workflow]
async fn drains(ledger: &Ledger, latch: &Latch) -> Result<String, BoxError> {
    let one = step!("one", |attempt| {
        let latch = latch.clone();
        tokio::task::spawn_blocking(move || latch.pass()).await?;
        ledger
            .body(
                Place {
                    id: "a",
                    step: "one",
                    after: &[],
                },
                attempt,
                Ok::<_, BoxError>(1u32),
            )
            .await
    })
    .await?;
    let place = Place {
        id: "a",
        step: "two",
        after: &["one"],
    };
    let two = step!("two", |attempt| ledger.body(place, attempt, Ok::<_, BoxError>(one)))
        .at_most_once()
        .await;
    Ok(format!("{two:?}"))
}

#[test]
fn a_step_that_a_graceful_shutdown_kept_from_beginning_is_not_interrupted() {
    let data = MemoryStore::new();
    let ledger = Ledger::over(data.clone());
    let latch = Latch::default();
    let open = || {
        Runtime::builder()
            .workflow(drains)
            .state(ledger.clone())
            .state(latch.clone())
            .store(data.clone())
            .start()
    };
    process(async {
        let runtime = open().await.unwrap();
        runtime.start(drains, ()).id("a").await.unwrap();
        until("it runs", async || {
            !runtime.status("a").await.unwrap().running.is_empty()
        })
        .await;
        let closing = tokio::spawn(runtime.shutdown(secs(60)));
        tokio::task::yield_now().await;
        latch.open();
        closing.await.unwrap();
    });
    assert_eq!((ledger.began("a", "one"), ledger.began("a", "two")), (1, 0));
    process(async {
        let runtime = open().await.unwrap();
        assert_eq!(
            runtime.handle(drains, "a").await.unwrap().result().await.unwrap(),
            "Ok(1)"
        );
    });
}
