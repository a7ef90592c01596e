//! An await in a plain closure.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let wait = || sleep!("a while", secs(1)).await;
    drop(wait);
    Ok(())
}

fn main() {}
