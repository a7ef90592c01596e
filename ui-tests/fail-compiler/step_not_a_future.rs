//! A body that is no future.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!("number", Ok::<u32, BoxError>(1)).await?;
    Ok(())
}

fn main() {}
