//! What is meant as state is taken owned.
use std::sync::Arc;
use steadfast::prelude::*;
use steadfast_ui_tests::Shop;

#[workflow]
async fn workflow(number: u32, shop: Arc<Shop>) -> Result<(), BoxError> {
    drop((number, shop));
    Ok(())
}

fn main() {}
