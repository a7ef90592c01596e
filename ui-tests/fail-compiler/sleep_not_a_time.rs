//! A bare number as a time.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    sleep!("a while", 3).await;
    Ok(())
}

fn main() {}
