//! All mistakes are reported in one go, and nothing else is.
use steadfast::Workflow;
use steadfast::prelude::*;
use steadfast_ui_tests::Shop;

#[workflow]
const fn workflow<T>(shop: &mut Shop, order: Option<&str>) {
    let started = std::time::Instant::now();
    step!("charge", { Ok(1) }).await?;
    step!("charge", { Ok(2) }).await?;
    sleep!("", secs(1)).await;
    tokio::time::sleep(secs(1)).await;
    println!("{started:?}");
    drop(order);
}

#[workflow]
async fn body_only(order: u32) -> Result<u32, BoxError> {
    sleep!("", secs(1)).await;
    Ok(order)
}

fn takes<W: Workflow>(_: W, _: W::Input) {}

fn main() {
    // What is outside goes on as if all were well.
    takes(body_only, 1);
    let _ = (workflow, workflow.clone());
}
