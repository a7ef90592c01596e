//! Borrowed output.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<&str, BoxError> {
    Ok("a")
}

fn main() {}
