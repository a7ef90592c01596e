//! An error that is none.
use steadfast::prelude::*;

struct Plain;

#[workflow]
async fn workflow() -> Result<u32, Plain> {
    Err(Plain)
}

fn main() {}
