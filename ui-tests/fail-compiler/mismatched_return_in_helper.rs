//! The same in a helper.
use steadfast::prelude::*;

#[durable]
async fn helper() -> Result<u32, BoxError> {
    "a string"
}

fn main() {}
