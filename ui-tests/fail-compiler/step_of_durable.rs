//! A durable helper is called in a step body.
use steadfast::prelude::*;

#[durable]
async fn helper() -> Result<u32, StepError> {
    Ok(1)
}

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!("helper", helper()).await?;
    Ok(())
}

fn main() {}
