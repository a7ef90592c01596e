//! Const fn.
use steadfast::prelude::*;

#[durable]
const fn helper() -> Result<(), BoxError> {
    Ok(())
}

fn main() {}
