//! The body has another type than the signature says.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<u32, BoxError> {
    "a string"
}

fn main() {}
