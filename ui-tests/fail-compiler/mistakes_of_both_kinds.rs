//! What the macro refuses does not hide what the compiler has to say about the rest of the function.
use steadfast::prelude::*;
use steadfast_ui_tests::{Order, fetch};

#[workflow]
async fn workflow(order: Order) -> Result<u32, BoxError> {
    let started = std::time::Instant::now();
    let customer: u32 = order.customer;
    let page = fetch("page").await;
    step!("no such method", order.missing()).await?;
    step!("", { Ok(customer) }).await?;
    drop((started, page));
    order.lines.length();
    Ok(1)
}

fn main() {}
