//! A durable future that nobody awaits does nothing.
#![deny(unused_must_use)]

use steadfast::prelude::*;

#[durable]
async fn helper() {}

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!("charge", async { Ok(()) });
    sleep!("a while", secs(1));
    helper();
    async {};
    join!(helper(), helper());
    Ok(())
}

fn main() {}
