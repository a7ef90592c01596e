//! `now!()` inside a step body.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!("stamp", { Ok(now!()) }).await?;
    Ok(())
}

fn main() {}
