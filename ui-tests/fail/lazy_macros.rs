//! Waiting, and taking recorded values, in macros that may not evaluate their arguments.
use steadfast::prelude::*;

#[durable]
async fn number() -> u32 {
    1
}

#[workflow]
async fn workflow(order: u32) -> Result<(), BoxError> {
    tracing::info!(order, number = number().await, "counted");
    tracing::warn!(parent: None, "at {}", now!());
    let span = tracing::info_span!("order", id = %uuid!());
    drop(span);
    debug_assert_eq!(number().await, 1);
    Ok(())
}

fn main() {}
