//! A body that cannot fail still ends in a `Result`.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!("number", async { 1 }).await?;
    Ok(())
}

fn main() {}
