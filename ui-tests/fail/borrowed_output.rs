//! Borrowed output.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<&str, BoxError> {
    Ok("a")
}

fn main() {}

#[workflow]
async fn for_ever() -> Result<Option<&'static str>, BoxError> {
    Ok(Some("a"))
}
