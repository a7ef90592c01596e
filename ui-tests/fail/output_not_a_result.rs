//! A workflow that returns something else.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> u32 {
    1
}

fn main() {}
