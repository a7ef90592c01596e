//! No wake-up is lost when instances leave memory while signals, timers and cancellations come, on several threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use steadfast::prelude::*;
use steadfast::store::MemoryStore;
use steadfast::testing::VirtualClock;
use steadfast::{SignalAnswer, WorkflowError};
use steadfast_tests::workload::gathers;

/// Several threads, so that what can happen at once does.
fn on_threads<T>(life: impl Future<Output = T>) -> T {
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build();
    tokio.unwrap().block_on(life)
}

#[test]
fn signals_to_instances_that_are_just_leaving_memory_arrive_once_and_in_order() {
    const INSTANCES: usize = 40;
    const SIGNALS: u32 = 60;
    on_threads(async {
        let builder = Runtime::builder().workflow(gathers).park_after(secs(0));
        let runtime = builder.store(MemoryStore::new()).start().await.unwrap();
        let senders: Vec<_> = (0..INSTANCES)
            .map(|number| {
                let runtime = runtime.clone();
                tokio::spawn(async move {
                    let id = format!("i{number}");
                    let handle = runtime.start(gathers, SIGNALS as usize).id(&id).await.unwrap();
                    for value in 0..SIGNALS {
                        let answer = runtime.signal(&id, "go", &value).await.unwrap();
                        assert!(
                            matches!(answer, SignalAnswer::Delivered | SignalAnswer::Buffered),
                            "{answer:?}"
                        );
                        if value as usize % 7 == number % 7 {
                            tokio::task::yield_now().await;
                        }
                    }
                    handle.result().await.unwrap()
                })
            })
            .collect();
        for sender in senders {
            assert_eq!(sender.await.unwrap(), (0..SIGNALS).collect::<Vec<_>>());
        }
    });
}

/// Sleeps often, and in between is woken by a signal or by time.
#[workflow]
async fn naps(number: u64) -> Result<u64, BoxError> {
    let mut woken = 0;
    for _ in 0..20 {
        sleep!("nap", millis(1 + number % 5)).await;
        let poked: Result<u32, Elapsed> = signal!("poke").timeout(millis(3)).await;
        woken += u64::from(poked.is_ok());
    }
    Ok(woken)
}

#[test]
fn sleepers_that_are_just_leaving_memory_wake_when_they_are_due() {
    const INSTANCES: u64 = 40;
    for park_after in [secs(0), millis(1), secs(1)] {
        on_threads(async {
            let clock = VirtualClock::default();
            let builder = Runtime::builder()
                .workflow(naps)
                .clock(clock.clone())
                .park_after(park_after);
            let runtime = builder.store(MemoryStore::new()).start().await.unwrap();
            let mut handles = Vec::new();
            for number in 0..INSTANCES {
                let handle = runtime.start(naps, number).await.unwrap();
                for value in 0..5u32 {
                    handle.signal("poke", &value).await.unwrap();
                }
                handles.push(handle);
            }
            // Only now, so that no instance ends before its signals are there.
            let done = Arc::new(AtomicBool::new(false));
            let ticking = tokio::spawn({
                let (done, clock) = (Arc::clone(&done), clock.clone());
                async move {
                    while !done.load(Ordering::SeqCst) {
                        clock.advance(millis(1));
                        tokio::task::yield_now().await;
                    }
                }
            });
            for handle in handles {
                assert_eq!(handle.result().await.unwrap(), 5, "every signal was consumed");
            }
            done.store(true, Ordering::SeqCst);
            ticking.await.unwrap();
        });
    }
}

#[test]
fn a_cancellation_always_ends_an_instance_whatever_it_is_doing() {
    on_threads(async {
        let builder = Runtime::builder().workflow(gathers).park_after(secs(0));
        let runtime = builder.store(MemoryStore::new()).start().await.unwrap();
        let instances: Vec<_> = (0..300usize)
            .map(|number| {
                let runtime = runtime.clone();
                tokio::spawn(async move {
                    let id = format!("i{number}");
                    let handle = runtime.start(gathers, 1_000).id(&id).await.unwrap();
                    let sender = tokio::spawn({
                        let (runtime, id) = (runtime.clone(), id.clone());
                        // Refused once the instance has ended.
                        async move { while runtime.signal(&id, "go", &1u32).await.is_ok() {} }
                    });
                    for _ in 0..number % 20 {
                        tokio::task::yield_now().await;
                    }
                    runtime.cancel(&id, "enough").await.unwrap();
                    let result = handle.result().await;
                    assert!(
                        matches!(result, Err(WorkflowError::Cancelled { .. }) | Ok(_)),
                        "{result:?}"
                    );
                    sender.await.unwrap();
                })
            })
            .collect();
        for instance in instances {
            instance.await.unwrap();
        }
    });
}
