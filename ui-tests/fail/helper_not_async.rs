//! Helper not async.
use steadfast::prelude::*;

#[durable]
fn helper() -> Result<(), BoxError> {
    Ok(())
}

fn main() {}
