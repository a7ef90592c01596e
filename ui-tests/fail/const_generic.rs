//! Const generic.
use steadfast::prelude::*;

#[workflow]
async fn workflow<const N: usize>(input: [u8; N]) -> Result<(), BoxError> {
    drop(input);
    Ok(())
}

fn main() {}
