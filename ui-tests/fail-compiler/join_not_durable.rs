//! An ordinary future is a branch.
use steadfast::prelude::*;
use steadfast_ui_tests::fetch;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    join!(fetch("page"), sleep!("a", secs(1))).await;
    Ok(())
}

fn main() {}
