//! Timers of other runtimes.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    tokio::time::sleep(secs(1)).await;
    std::thread::sleep(secs(1));
    let timed = tokio::time::timeout(secs(1), async {}).await;
    drop(timed);
    Ok(())
}

fn main() {}
