//! An input without serde.
use steadfast::prelude::*;

struct Plain;

#[workflow]
async fn workflow(input: Plain) -> Result<(), BoxError> {
    drop(input);
    Ok(())
}

fn main() {}
