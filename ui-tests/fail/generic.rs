//! Generic.
use steadfast::prelude::*;

#[workflow]
async fn workflow<T: serde::Serialize>(input: T) -> Result<(), BoxError> {
    drop(input);
    Ok(())
}

fn main() {}
