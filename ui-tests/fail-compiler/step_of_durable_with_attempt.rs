//! The same in a body that takes the attempt.
use steadfast::prelude::*;

#[durable]
async fn helper() -> Result<u32, StepError> {
    Ok(1)
}

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!("helper", |_attempt| helper()).await?;
    Ok(())
}

fn main() {}
