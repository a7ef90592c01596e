//! Selects of other crates.
#![allow(unused_imports)]
// Stands in for the real crate.
extern crate steadfast_ui_tests as futures;

use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    tokio::select! {
        _ = sleep!("a", secs(1)) => {}
        number = async { 1 } => drop(number),
    }
    let winner = tokio::select! {
        () = sleep!("b", secs(1)) => 1,
        else => 2,
    };
    drop(winner);
    Ok(())
}

#[durable]
async fn helper() {
    use futures::stream::FuturesUnordered as Set;
    let first = futures::future::select(sleep!("c", secs(1)), sleep!("d", secs(1))).await;
    let set = Set::new();
    drop((first, set));
}

fn main() {}
