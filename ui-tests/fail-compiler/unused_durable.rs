//! A durable future that nobody awaits does nothing. Checkpoints are found by the rule `not_awaited`.
#![deny(unused_must_use)]

use steadfast::prelude::*;

#[durable]
async fn helper() {}

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    helper();
    async {};
    join_all([helper()]);
    Ok(())
}

fn main() {}
