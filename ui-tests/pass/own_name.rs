//! A parameter or variable may be called like a workflow.
#![deny(warnings)]

use steadfast::Workflow;
use steadfast::prelude::*;
use steadfast_ui_tests::Shop;

#[workflow]
async fn order(mut order: u32, limit: &u32) -> Result<u32, BoxError> {
    order += step!("count", { Ok(order + limit) }).await?;
    Ok(order)
}

#[workflow]
async fn shop(count: u32, #[cfg(not(any()))] shop: &Shop) -> Result<u32, BoxError> {
    let line = steadfast_ui_tests::Line { article: String::new(), count };
    step!("pack", shop.pack(&line)).await?;
    Ok(count)
}

#[workflow]
async fn fulfil() -> Result<u32, BoxError> {
    let fulfil = step!("count", { Ok(1) }).await?;
    Ok(fulfil)
}

#[workflow]
async fn in_a_body() -> Result<u32, BoxError> {
    let number = step!("count", {
        let in_a_body = 1;
        Ok(in_a_body)
    })
    .await?;
    Ok(number)
}

#[workflow]
async fn in_a_branch(input: Option<u32>) -> Result<u32, BoxError> {
    let (a, b) = join!(async { if let Some(in_a_branch) = input { in_a_branch } else { 0 } }, async { 1 }).await;
    Ok(a + b)
}

/// Nor do the workflows of a module keep each other from using their names.
#[workflow]
async fn another((order, _): (u32, u32), shop: &Shop) -> Result<u32, BoxError> {
    helper(&order, shop).await?;
    let fulfil = |order: u32| order + 1;
    Ok(fulfil(order))
}

#[durable]
async fn helper(order: &u32, shop: &Shop) -> Result<u32, StepError> {
    let line = steadfast_ui_tests::Line { article: String::new(), count: *order };
    step!("pack", shop.pack(&line)).await?;
    Ok(*order)
}

#[workflow]
async fn r#type(r#type: u32) -> Result<u32, BoxError> {
    Ok(r#type)
}

fn main() {
    assert_eq!((order::NAME, shop::NAME, fulfil::NAME), ("order", "shop", "fulfil"));
}
