//! A workflow that uses every primitive, with bodies that tell the ledger where they stand.

use crate::ledger::{Ledger, Place};
use serde::{Deserialize, Serialize};
use steadfast::prelude::*;
use steadfast::{StepFailureKind, Uuid};

/// What the workflow makes; the same with and without crashes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Results of steps that run one after the other, in order.
    pub sequence: Vec<u32>,
    /// Results of steps that run beside each other, in order of the code.
    pub parallel: Vec<u32>,
    /// Signals, in order of receipt.
    pub signals: Vec<u32>,
    /// Winners of races.
    pub winners: Vec<u32>,
    /// How steps failed.
    pub failures: Vec<String>,
    /// Chance.
    pub drawn: (u64, u32, Uuid),
}

impl Summary {
    /// Without chance, which is another one for every instance.
    pub fn comparable(&self) -> String {
        let Self {
            sequence,
            parallel,
            signals,
            winners,
            failures,
            ..
        } = self;
        format!("{sequence:?} {parallel:?} {signals:?} {winners:?} {failures:?}")
    }
}

/// Gathers as many signals as it is told to.
#[workflow]
pub async fn gathers(count: u64) -> Result<Vec<u32>, BoxError> {
    let mut gathered = Vec::new();
    for _ in 0..count {
        gathered.push(signal!("go").await);
    }
    Ok(gathered)
}

/// Steps whose bodies never return: only time or a race ends them.
pub const STUCK: [&str; 6] = ["late", "stuck", "held", "inner stuck", "losing", "outer stuck"];

/// Everything there is.
#[workflow]
pub async fn everything(id: String, ledger: &Ledger) -> Result<Summary, BoxError> {
    let id = id.as_str();
    let begun = now!();
    let drawn = (random!(), random!(0..1_000u32), uuid!());
    let mut sequence = vec![
        step!("first", |attempt| ledger.body(
            Place {
                id,
                step: "first",
                after: &[]
            },
            attempt,
            Ok::<_, BoxError>(1)
        ))
        .await?,
    ];
    let stamped: (u64, u32, Uuid, Timestamp) = step!("stamp", |attempt| {
        ledger
            .body(
                Place {
                    id,
                    step: "stamp",
                    after: &["first"],
                },
                attempt,
                Ok::<_, BoxError>((drawn.0, drawn.1, drawn.2, begun)),
            )
            .await
    })
    .await?;
    // Every replay comes through here: chance and time are what they were when the step ran.
    assert_eq!(
        stamped,
        (drawn.0, drawn.1, drawn.2, begun),
        "chance and time are recorded"
    );

    let mut failures = retries(id, ledger, &mut sequence).await?;
    let mut parallel = beside_each_other(id, ledger).await?;
    failures.push(refused(id, ledger).await);
    sleep!("month", days(30)).await;
    let signals = signals(id, ledger).await?;
    let winners = races(id, ledger).await?;
    let pages = [10, 11, 12, 13, 14];
    let mapped = map_concurrent(pages.iter().copied(), 2, |page| async move {
        let step = [
            "map[0]/{0}/page",
            "map[1]/{0}/page",
            "map[2]/{0}/page",
            "map[3]/{0}/page",
            "map[4]/{0}/page",
        ];
        let place = Place {
            id,
            step: step[page as usize - 10],
            after: &["races/quick"],
        };
        step!("page", |attempt| ledger.body(place, attempt, Ok::<_, BoxError>(page))).await
    })
    .await?;
    parallel.extend(mapped);
    sequence.push(
        step!("last", |attempt| {
            ledger
                .body(
                    Place {
                        id,
                        step: "last",
                        after: &["map[4]/{0}/page"],
                    },
                    attempt,
                    Ok::<_, BoxError>(99),
                )
                .await
        })
        .await?,
    );
    Ok(Summary {
        sequence,
        parallel,
        signals,
        winners,
        failures,
        drawn,
    })
}

/// Loops, keys, retries, timeouts, and a step that runs at most once.
#[durable]
async fn retries(id: &str, ledger: &Ledger, sequence: &mut Vec<u32>) -> Result<Vec<String>, BoxError> {
    let mut failures = Vec::new();
    for round in 0..3u32 {
        let step = ["retries/looped", "retries/looped#1", "retries/looped#2"][round as usize];
        let place = Place {
            id,
            step,
            after: &["stamp"],
        };
        sequence.push(
            step!("looped", |attempt| ledger.body(
                place,
                attempt,
                Ok::<_, BoxError>(round)
            ))
            .await?,
        );
    }
    for (round, key) in ["x", "y"].into_iter().enumerate() {
        let step = ["retries/keyed(x)", "retries/keyed(y)"][round];
        let place = Place {
            id,
            step,
            after: &["retries/looped#2"],
        };
        sequence.push(
            step!("keyed", |attempt| ledger.body(
                place,
                attempt,
                Ok::<_, BoxError>(round as u32 + 20)
            ))
            .key(key)
            .await?,
        );
    }
    let hopeless = step!("hopeless", |attempt| {
        let place = Place {
            id,
            step: "retries/hopeless",
            after: &["retries/keyed(y)"],
        };
        ledger.body(place, attempt, Err::<u32, _>("no luck")).await
    })
    .retry(Retry::exponential(secs(10)).max_attempts(3))
    .await;
    failures.push(hopeless.map_or_else(
        |error| format!("{:?}: {}", error.kind(), error.message()),
        |_| "none".to_owned(),
    ));
    let flaky = step!("flaky", |attempt| {
        let result = if ledger.ended(id, "retries/flaky") == 0 {
            Err("not yet")
        } else {
            Ok(30)
        };
        ledger
            .body(
                Place {
                    id,
                    step: "retries/flaky",
                    after: &["retries/hopeless"],
                },
                attempt,
                result,
            )
            .await
    })
    .retry(Retry::fixed(minutes(1)).max_attempts(u32::MAX));
    sequence.push(flaky.await?);
    let late = step!("late", |attempt| {
        ledger
            .stuck::<u32>(
                Place {
                    id,
                    step: "retries/late",
                    after: &["retries/flaky"],
                },
                attempt,
            )
            .await
    })
    .timeout(secs(5))
    .retry(Retry::fixed(secs(1)).max_attempts(2))
    .await;
    failures.push(late.map_or_else(|error| format!("{:?}", error.kind()), |_| "none".to_owned()));
    let once = step!("once", |attempt| {
        ledger
            .body(
                Place {
                    id,
                    step: "retries/once",
                    after: &["retries/late"],
                },
                attempt,
                Ok::<_, BoxError>(31),
            )
            .await
    })
    .at_most_once()
    .await;
    sequence.push(match once {
        Ok(value) => value,
        Err(error) if error.kind() == StepFailureKind::Interrupted => 31,
        Err(error) => return Err(error.into()),
    });
    Ok(failures)
}

/// Joins of steps, of blocks and of lists.
#[durable]
async fn beside_each_other(id: &str, ledger: &Ledger) -> Result<Vec<u32>, BoxError> {
    let at = |step| Place {
        id,
        step,
        after: &["retries/once"],
    };
    let (left, right) = join!(
        step!("left", |attempt| ledger.body(
            at("beside_each_other/left"),
            attempt,
            Ok::<_, BoxError>(1)
        )),
        async {
            let place = at("beside_each_other/{0}/right");
            let one = step!("right", |attempt| ledger.body(place, attempt, Ok::<_, BoxError>(2))).await?;
            let place = Place {
                after: &["beside_each_other/{0}/right"],
                ..at("beside_each_other/{0}/then")
            };
            let two = step!("then", |attempt| ledger.body(place, attempt, Ok::<_, BoxError>(3))).await?;
            Ok::<_, BoxError>(one + two)
        }
    )
    .await;
    let mut results = vec![left?, right?];
    let list = (0..3u32).map(|number| {
        let step = [
            "beside_each_other/join#1[0]/listed",
            "beside_each_other/join#1[1]/listed",
            "beside_each_other/join#1[2]/listed",
        ][number as usize];
        step!("listed", move |attempt| ledger.body(
            at(step),
            attempt,
            Ok::<_, BoxError>(number)
        ))
    });
    for result in join_all(list).await {
        results.push(result?);
    }
    Ok(results)
}

/// A permanent error ends its siblings.
#[durable]
async fn refused(id: &str, ledger: &Ledger) -> String {
    let held = Place {
        id,
        step: "refused/held",
        after: &["beside_each_other/join#1[2]/listed"],
    };
    let refuse = Place {
        step: "refused/refuse",
        ..held
    };
    let both = try_join!(
        step!("held", |attempt| ledger.stuck::<u32>(held, attempt)),
        step!("refuse", |attempt| {
            ledger
                .body(
                    refuse,
                    attempt,
                    Err::<u32, BoxError>(permanent("not this one").code("refused").into()),
                )
                .await
        })
    )
    .await;
    both.map_or_else(
        |error| format!("{:?} {}", error.code(), error.attempts() > 0),
        |_| "none".to_owned(),
    )
}

/// Waits that were signalled before, wait for it, and are never signalled.
#[durable]
async fn signals(id: &str, ledger: &Ledger) -> Result<Vec<u32>, BoxError> {
    let mut received: Vec<u32> = Vec::new();
    for round in 0..2 {
        received.push(signal!("go").await);
        // A commit between two signals: whatever a crash forgets about the first, the second tells.
        let step = ["signals/between", "signals/between#1"][round];
        let place = Place {
            id,
            step,
            after: &["beside_each_other/join#1[2]/listed"],
        };
        received.push(step!("between", |attempt| ledger.body(place, attempt, Ok::<_, BoxError>(50))).await?);
    }
    received.push(signal!("go").timeout(hours(1)).await?);
    received.push(signal!("nudge").await);
    let never: Result<u32, Elapsed> = signal!("never").timeout(hours(2)).await;
    received.push(never.unwrap_or(0));
    let place = Place {
        id,
        step: "signals/after",
        after: &["beside_each_other/join#1[2]/listed"],
    };
    received.push(step!("after", |attempt| ledger.body(place, attempt, Ok::<_, BoxError>(7))).await?);
    Ok(received)
}

/// Races that time wins, that a step wins, and one in another.
#[durable]
async fn races(id: &str, ledger: &Ledger) -> Result<Vec<u32>, BoxError> {
    let at = |step| Place {
        id,
        step,
        after: &["signals/after"],
    };
    let by_time = race!(
        step!("stuck", |attempt| ledger.stuck::<u32>(at("races/stuck"), attempt)),
        sleep!("short", secs(3))
    )
    .await;
    let nested = race!(
        async {
            let inner = race!(
                step!("inner stuck", |attempt| ledger
                    .stuck::<u32>(at("races/{0}/inner stuck"), attempt)),
                sleep!("inner", secs(2))
            )
            .await;
            matches!(inner, Race2::Second(()))
        },
        step!("outer stuck", |attempt| ledger
            .stuck::<u32>(at("races/outer stuck"), attempt)),
        sleep!("outer", hours(1))
    )
    .await;
    let by_step = race!(
        sleep!("long", days(365)),
        step!("quick", |attempt| ledger.body(
            at("races/quick"),
            attempt,
            Ok::<_, BoxError>(5)
        )),
        step!("losing", |attempt| ledger.stuck::<u32>(at("races/losing"), attempt))
    )
    .await;
    Ok(vec![
        u32::from(matches!(by_time, Race2::Second(()))),
        u32::from(matches!(nested, Race3::First(true))),
        match by_step {
            Race3::Second(result) => result?,
            Race3::First(()) | Race3::Third(_) => 0,
        },
    ])
}
