//! Whatever holds the thread.
use steadfast::prelude::*;
use std::sync::mpsc::Receiver;
use tokio::runtime::Handle;
use tokio::sync::Mutex;

#[durable]
async fn helper(handle: &Handle, lock: &Mutex<u32>, news: Receiver<u32>) -> u32 {
    let number = handle.block_on(async { 1 });
    let locked = *lock.blocking_lock();
    std::thread::park();
    let joined = [].map(std::thread::JoinHandle::<u32>::join);
    drop(joined);
    number + locked + news.recv().unwrap_or(0)
}

fn main() {}
