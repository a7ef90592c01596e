//! A body that awaits needs braces.
use steadfast::prelude::*;
use steadfast_ui_tests::{Order, Shop, fetch};

#[workflow]
async fn workflow(order: Order, shop: &Shop) -> Result<(), BoxError> {
    step!("fetch", shop.charge(&order, &fetch("key").await.unwrap_or_default())).await?;
    step!("fetch again", fetch("key").await).await?;
    step!("fetch and fail", fetch("key").await?).await?;
    step!("fetch and wrap", fetch("key").await.map_err(|error| error)).await?;
    Ok(())
}

fn main() {}
