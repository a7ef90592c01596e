//! A body changes a variable of the workflow.
use steadfast::prelude::*;
use steadfast_ui_tests::Order;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let mut total = 0;
    let mut order = Order { customer: String::new(), lines: Vec::new() };
    step!("add", {
        let mut own = 1;
        own += 1;
        total += own;
        Ok(())
    })
    .await?;
    step!("change", |attempt| async move {
        order.customer = attempt.idempotency_key();
        Ok(())
    })
    .await?;
    drop((total, order));
    Ok(())
}

fn main() {}
