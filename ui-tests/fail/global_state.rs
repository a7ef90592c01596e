//! What is shared by all instances and changes.
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, OnceLock};
use steadfast::prelude::*;

static COUNT: AtomicU32 = AtomicU32::new(0);
static NAMES: LazyLock<Vec<String>> = LazyLock::new(Vec::new);
static LAST: std::sync::Mutex<u32> = std::sync::Mutex::new(0);
static LIMIT: u32 = 3;

thread_local! {
    static CURRENT: Cell<u32> = const { Cell::new(0) };
}

#[workflow]
async fn around() -> Result<u32, BoxError> {
    if COUNT.fetch_add(1, Ordering::Relaxed) > LIMIT {
        return Ok(0);
    }
    let names = self::NAMES.len();
    CURRENT.with(|current| current.set(1));
    let last = &LAST;
    drop((names, last));
    Ok(1)
}

#[workflow]
async fn inside() -> Result<u32, BoxError> {
    static SEEN: AtomicU32 = AtomicU32::new(0);
    static TEXT: &str = "fine";
    thread_local! {
        static HERE: Cell<u32> = const { Cell::new(0) };
    }
    let local = AtomicU32::new(1);
    let once = OnceLock::<u32>::new();
    drop((local, once, TEXT));
    Ok(SEEN.load(Ordering::Relaxed))
}

fn main() {}
