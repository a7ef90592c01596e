//! A signal without serde.
use steadfast::prelude::*;

struct Plain;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let signal: Plain = signal!("plain").await;
    drop(signal);
    Ok(())
}

fn main() {}
