//! Checkpoints in a nested function.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    async fn nested() {
        sleep!("a while", secs(1)).await;
    }
    drop(nested);
    Ok(())
}

fn main() {}
