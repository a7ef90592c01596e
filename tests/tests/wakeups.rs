//! No wake-up is lost when instances leave memory while signals, timers and cancellations come, on several threads.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::Poll;
use steadfast::prelude::*;
use steadfast::store::MemoryStore;
use steadfast::testing::VirtualClock;
use steadfast::{SignalAnswer, WorkflowError};
use steadfast_tests::drive::process_on_threads;
use steadfast_tests::fault::{Faulty, Latch, Reading};
use steadfast_tests::workload::gathers;

#[test]
fn signals_to_instances_that_are_just_leaving_memory_arrive_once_and_in_order() {
    const INSTANCES: usize = 40;
    const SIGNALS: u32 = 60;
    process_on_threads(4, async {
        let builder = Runtime::builder().workflow(gathers).park_after(secs(0));
        let runtime = builder.store(MemoryStore::new()).start().await.unwrap();
        let senders: Vec<_> = (0..INSTANCES)
            .map(|number| {
                let runtime = runtime.clone();
                tokio::spawn(async move {
                    let id = format!("i{number}");
                    let handle = runtime.start(gathers, u64::from(SIGNALS)).id(&id).await.unwrap();
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
        process_on_threads(4, async {
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
    process_on_threads(4, async {
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

#[workflow]
async fn waits_a_moment() -> Result<bool, BoxError> {
    let poked: Result<u32, Elapsed> = signal!("poke").timeout(millis(5)).await;
    Ok(poked.is_ok())
}

/// The index of due times is read while an instance is in it; the instance ends; what was read wakes it; and while it is
/// loaded for nothing, somebody asks for its result again.
#[test]
fn a_result_is_told_although_the_instance_was_just_woken_after_its_end() {
    let (read, loaded) = (Latch::default(), Latch::default());
    // Of the readings from the moment on that the instance is due.
    let (dues, loads) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let is_due = Arc::new(AtomicBool::new(false));
    let data = MemoryStore::new();
    let store = Faulty::new(data.clone(), |_, _, _| Ok(())).reading({
        let (read, loaded, dues, loads) = (read.clone(), loaded.clone(), Arc::clone(&dues), Arc::clone(&loads));
        let is_due = Arc::clone(&is_due);
        move |reading| match reading {
            _ if !is_due.load(Ordering::SeqCst) => {}
            Reading::Due if dues.fetch_add(1, Ordering::SeqCst) == 0 => read.pass(),
            // The first is for the signal, the second for nothing.
            Reading::Load if loads.fetch_add(1, Ordering::SeqCst) == 1 => loaded.pass(),
            Reading::Due | Reading::Load => {}
        }
    });
    process_on_threads(4, async {
        let clock = VirtualClock::default();
        let builder = || Runtime::builder().workflow(waits_a_moment).clock(clock.clone());
        let runtime = builder().store(data).start().await.unwrap();
        runtime.start(waits_a_moment, ()).id("a").await.unwrap();
        while runtime.status("a").await.unwrap().status != Status::Waiting {
            tokio::task::yield_now().await;
        }
        runtime.shutdown(secs(0)).await;
        // From here on it is in the store only.
        let runtime = builder().store(store).start().await.unwrap();
        let handle = runtime.handle(waits_a_moment, "a").await.unwrap();
        while clock.next_due().is_none() {
            tokio::task::yield_now().await;
        }
        is_due.store(true, Ordering::SeqCst);
        clock.advance(millis(5));
        while dues.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(
            runtime.signal("a", "poke", &1u32).await.unwrap(),
            SignalAnswer::Delivered
        );
        assert!(handle.result().await.unwrap(), "the signal came first");
        read.open();
        while loads.load(Ordering::SeqCst) < 2 {
            tokio::task::yield_now().await;
        }
        let mut result = pin!(handle.result());
        let early = std::future::poll_fn(|context| Poll::Ready(result.as_mut().poll(context))).await;
        loaded.open();
        let told = match early {
            Poll::Ready(told) => told,
            Poll::Pending => result.await,
        };
        assert!(told.unwrap(), "the signal came first");
    });
}
