//! Impl trait output.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<impl ToString, BoxError> {
    Ok(1)
}

fn main() {}
