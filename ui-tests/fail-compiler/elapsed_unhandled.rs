//! A timed wait is used as if it always ended in a signal.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let approved: bool = signal!("approval").timeout(hours(1)).await;
    drop(approved);
    Ok(())
}

fn main() {}
