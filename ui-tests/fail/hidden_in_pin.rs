//! A durable future is given to a function that wants an ordinary one.
use steadfast::prelude::*;

fn wants_a_future<F: std::future::Future>(future: F) -> F {
    future
}

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    std::pin::pin!(wants_a_future(sleep!("a", secs(1))));
    Ok(())
}

fn main() {}
