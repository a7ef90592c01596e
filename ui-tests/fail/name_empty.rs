//! Name empty.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!("", { Ok(()) }).await?;
    Ok(())
}

fn main() {}
