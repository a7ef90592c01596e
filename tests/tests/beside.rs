//! Reading and waking over the store on disk while commits of long values go on: what is on its way is not damage.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use steadfast::prelude::*;
use steadfast::store::SledStore;

#[workflow]
async fn long_steps(count: u32) -> Result<u32, BoxError> {
    let mut sum = 0;
    for _ in 0..count {
        let value: Vec<u8> = step!("long", async { Ok::<_, BoxError>(vec![1u8; 2_000]) }).await?;
        sum += value.len() as u32;
    }
    Ok(sum)
}

/// A history that is read while a workflow with results of 2,000 bytes runs says that the instance is damaged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn history_beside_commits_is_never_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let builder = Runtime::builder().workflow(long_steps);
    let runtime = builder
        .store(SledStore::open(folder.path()).unwrap())
        .start()
        .await
        .unwrap();
    let handle = runtime.start(long_steps, 150).id("a").await.unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let looking = tokio::spawn({
        let (runtime, done) = (runtime.clone(), Arc::clone(&done));
        async move {
            while !done.load(Ordering::SeqCst) {
                if let Err(error) = runtime.history("a").await {
                    return Some(error.to_string());
                }
                tokio::task::yield_now().await;
            }
            None
        }
    });
    handle.result().await.unwrap();
    done.store(true, Ordering::SeqCst);
    assert_eq!(looking.await.unwrap(), None);
}

#[workflow]
async fn gathers_long(count: u32) -> Result<Vec<u32>, BoxError> {
    let mut seen = Vec::new();
    for _ in 0..count {
        let (number, _): (u32, Vec<u8>) = signal!("go").await;
        seen.push(number);
    }
    Ok(seen)
}

/// As `signals_to_instances_that_are_just_leaving_memory_arrive_once_and_in_order`, over sled, with long signals.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn long_signals_to_instances_that_are_just_leaving_memory() {
    const INSTANCES: usize = 30;
    const SIGNALS: u32 = 20;
    let folder = tempfile::tempdir().unwrap();
    let builder = Runtime::builder().workflow(gathers_long).park_after(secs(0));
    let runtime = builder
        .store(SledStore::open(folder.path()).unwrap())
        .start()
        .await
        .unwrap();
    let senders: Vec<_> = (0..INSTANCES)
        .map(|number| {
            let runtime = runtime.clone();
            tokio::spawn(async move {
                let id = format!("i{number}");
                let handle = runtime.start(gathers_long, SIGNALS).id(&id).await.unwrap();
                let result = tokio::spawn({
                    let handle = handle.clone();
                    async move { handle.result().await }
                });
                for value in 0..SIGNALS {
                    runtime
                        .signal(
                            &id,
                            "go",
                            &(value, vec![7u8; if number % 2 == 0 { 2_000 } else { 40_000 }]),
                        )
                        .await
                        .unwrap();
                    if value as usize % 7 == number % 7 {
                        tokio::task::yield_now().await;
                    }
                }
                match tokio::time::timeout(Duration::from_secs(10), result).await.unwrap() {
                    Ok(Ok(seen)) if seen == (0..SIGNALS).collect::<Vec<_>>() => None,
                    other => Some(format!("{id}: {other:?}")),
                }
            })
        })
        .collect();
    let mut bad = Vec::new();
    for sender in senders {
        bad.extend(sender.await.unwrap());
    }
    assert!(bad.is_empty(), "{} of {INSTANCES}: {bad:#?}", bad.len());
}
