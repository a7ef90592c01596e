//! Waiting inside a macro that nobody knows.
#![allow(unused_macros)]
use steadfast::prelude::*;

macro_rules! first {
    ($first:expr, $second:expr) => {
        $first
    };
}

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let number = first!(async { 1 }.await, 2);
    first!(step!("in a macro", { Ok(()) }).await, 3)?;
    drop(number);
    Ok(())
}

fn main() {}
