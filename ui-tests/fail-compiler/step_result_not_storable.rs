//! A step result without serde.
use steadfast::prelude::*;

struct Plain;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!("make", async { Ok::<_, BoxError>(Plain) }).await?;
    Ok(())
}

fn main() {}
