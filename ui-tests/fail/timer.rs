//! Timers of other runtimes.
#![allow(unused_imports)]
use steadfast::prelude::*;
use tokio::time::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    tokio::time::sleep(secs(1)).await;
    std::thread::sleep(secs(1));
    let timed = timeout(secs(1), async {}).await;
    drop(timed);
    let mut ticks = interval(secs(1));
    ticks.tick().await;
    Ok(())
}

fn main() {}
