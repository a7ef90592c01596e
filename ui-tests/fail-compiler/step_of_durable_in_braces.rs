//! The same in braces.
use steadfast::prelude::*;

#[durable]
async fn helper() -> Result<u32, StepError> {
    Ok(1)
}

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!("helper", { helper().await }).await?;
    Ok(())
}

fn main() {}
