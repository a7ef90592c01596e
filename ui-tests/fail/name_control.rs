//! Name control.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    sleep!("a\nwhile", secs(1)).await;
    Ok(())
}

fn main() {}
