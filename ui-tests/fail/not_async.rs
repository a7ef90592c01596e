//! Not async.
use steadfast::prelude::*;

#[workflow]
fn workflow() -> Result<(), BoxError> {
    step!("number", { Ok(1) }).await?;
    Ok(())
}

fn main() {}
