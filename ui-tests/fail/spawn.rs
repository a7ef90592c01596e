//! Tasks and threads.
#![allow(unused_imports)]
use steadfast::prelude::*;
use std::thread;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    tokio::spawn(async { 1 });
    let thread = thread::spawn(|| ());
    drop(thread);
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async { 1 });
    tasks.join_next().await;
    thread::scope(|_| ());
    Ok(())
}

fn main() {}
