//! A name that is computed.
use steadfast::prelude::*;

const NAME: &str = "approval";

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let name = "charge";
    step!(name, { Ok(()) }).await?;
    sleep!(format!("sleep {name}"), secs(1)).await;
    let _: u32 = signal!(NAME).await;
    Ok(())
}

fn main() {}
