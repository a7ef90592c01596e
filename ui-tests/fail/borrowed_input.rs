//! Borrowed input.
use steadfast::prelude::*;

#[workflow]
async fn workflow(input: Option<&str>) -> Result<(), BoxError> {
    drop(input);
    Ok(())
}

fn main() {}
