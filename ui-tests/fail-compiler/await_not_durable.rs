//! An ordinary future is awaited.
use steadfast::prelude::*;
use steadfast_ui_tests::fetch;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let page = fetch("page").await;
    drop(page);
    Ok(())
}

fn main() {}
