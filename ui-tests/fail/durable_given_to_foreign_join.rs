//! `tokio::join!` of durable futures.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let (a, b) = tokio::join!(sleep!("a", secs(1)), sleep!("b", secs(1)));
    let () = (a, b).0;
    Ok(())
}

fn main() {}
