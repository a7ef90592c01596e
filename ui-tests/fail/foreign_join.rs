//! Joins of other crates.
#![allow(unused_imports)]
// Stands in for the real crate.
extern crate steadfast_ui_tests as futures;

use steadfast::{BoxError, durable, secs, sleep, workflow};
use tokio::try_join;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let (a, b) = tokio::join!(sleep!("a", secs(1)), async { 1 });
    let c = try_join!(async { Ok::<u32, BoxError>(b) }, async { Ok(a) });
    drop(c);
    Ok(())
}

#[durable]
async fn helper() {
    use futures::future::{self as f, join_all as all};
    let both = all([1, 2].map(|number| async move { number }).into()).await;
    let functions = [1].map(|_| f::join_all::<u8>);
    drop((both, functions));
}

fn main() {}
