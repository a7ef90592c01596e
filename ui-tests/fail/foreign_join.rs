//! Joins of other crates.
#![allow(unused_imports)]
use steadfast::{BoxError, secs, sleep, workflow};
use tokio::try_join;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let (a, b) = tokio::join!(sleep!("a", secs(1)), async { 1 });
    let c = try_join!(async { Ok::<u32, BoxError>(b) }, async { Ok(a) });
    drop(c);
    Ok(())
}

fn main() {}
