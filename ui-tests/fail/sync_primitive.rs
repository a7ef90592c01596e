//! Channels, locks and the like: making them, and using one that came as state.
use std::sync::{Arc, Mutex, mpsc};
use steadfast::prelude::*;
use tokio::sync::Notify;

#[workflow]
async fn made() -> Result<(), BoxError> {
    let (sender, receiver) = mpsc::channel();
    sender.send(1)?;
    let first: u32 = receiver.recv()?;
    let count = Arc::new(Mutex::new(first));
    let later = Notify::new();
    later.notified().await;
    let (_, mut pages) = tokio::sync::mpsc::channel::<u32>(1);
    while let Some(page) = pages.recv().await {
        drop(page);
    }
    let limits = [1, 2].map(tokio::sync::Semaphore::new);
    let shared = std::sync::RwLock::<u32>::default();
    drop((count, limits, shared));
    Ok(())
}

#[workflow]
async fn given(count: &Mutex<u32>, total: &tokio::sync::Mutex<u32>) -> Result<(), BoxError> {
    if let Ok(mut count) = count.lock() {
        *count += 1;
    }
    *total.lock().await += 1;
    Ok(())
}

fn main() {}
