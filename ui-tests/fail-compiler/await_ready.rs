//! So is one of the standard library.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    std::future::ready(1).await;
    Ok(())
}

fn main() {}
