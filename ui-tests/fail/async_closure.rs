//! Async closure.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    map_concurrent([1, 2], 2, async |number| step!("number", { Ok(number) }).await).await?;
    Ok(())
}

fn main() {}
