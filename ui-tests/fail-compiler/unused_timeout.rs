//! The answer of a timed wait has to be looked at.
#![deny(unused_must_use)]

use steadfast::prelude::*;

#[durable]
async fn timed() -> Result<bool, Elapsed> {
    signal!("approval").timeout(hours(1)).await
}

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let approved: Result<bool, Elapsed> = signal!("approval").timeout(hours(1)).await;
    let _ = approved;
    timed().await;
    Ok(())
}

fn main() {}
