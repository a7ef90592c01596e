//! Changes outside of workflow code.
use steadfast::prelude::*;

fn ordinary() -> bool {
    retired!("old");
    patched!("new")
}

async fn later() {
    removed!("pack").await;
}

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!("charge", {
        if patched!("new") {
            return Ok(1);
        }
        Ok(2)
    })
    .await?;
    Ok(())
}

fn main() {
    let _ = (ordinary(), later());
}
