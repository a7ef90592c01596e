//! Mutable state.
use steadfast::prelude::*;
use steadfast_ui_tests::Shop;

#[workflow]
async fn workflow(shop: &mut Shop) -> Result<(), BoxError> {
    drop(shop);
    Ok(())
}

fn main() {}
