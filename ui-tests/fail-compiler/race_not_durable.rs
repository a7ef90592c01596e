//! An ordinary future races.
use steadfast::prelude::*;
use steadfast_ui_tests::fetch;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    race!(fetch("page"), sleep!("a", secs(1))).await;
    Ok(())
}

fn main() {}
