//! A durable future is given to a function that wants an ordinary one.
use std::future::Future;

use steadfast::prelude::*;

fn spawn(future: impl Future) {
    drop(future);
}

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    spawn(sleep!("a while", secs(1)));
    spawn(async { 1 });
    Ok(())
}

fn main() {}
