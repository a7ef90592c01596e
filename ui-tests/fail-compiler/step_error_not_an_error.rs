//! A step that fails with something that is no error.
use steadfast::prelude::*;

struct Plain;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!("make", async { Err::<(), _>(Plain) }).await?;
    Ok(())
}

fn main() {}
