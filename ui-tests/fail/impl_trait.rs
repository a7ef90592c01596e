//! Impl trait.
use steadfast::prelude::*;

#[workflow]
async fn workflow(input: impl ToString, state: &impl ToString) -> Result<(), BoxError> {
    drop((input, state));
    Ok(())
}

fn main() {}
