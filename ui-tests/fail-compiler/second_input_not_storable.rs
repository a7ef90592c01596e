//! One of several inputs without serde.
use steadfast::prelude::*;

struct Plain;

#[workflow]
async fn workflow(input: u32, other: Plain) -> Result<(), BoxError> {
    drop((input, other));
    Ok(())
}

fn main() {}
