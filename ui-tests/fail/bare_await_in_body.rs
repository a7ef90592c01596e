//! A body that awaits needs braces.
use steadfast::prelude::*;
use steadfast_ui_tests::{Order, Shop, fetch};

#[workflow]
async fn workflow(order: Order, shop: &Shop) -> Result<(), BoxError> {
    step!("fetch", shop.charge(&order, &fetch("key").await.unwrap_or_default())).await?;
    Ok(())
}

fn main() {}
