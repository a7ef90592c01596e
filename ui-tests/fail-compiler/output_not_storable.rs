//! An output without serde.
use steadfast::prelude::*;

struct Plain;

#[workflow]
async fn workflow() -> Result<Plain, BoxError> {
    Ok(Plain)
}

fn main() {}
