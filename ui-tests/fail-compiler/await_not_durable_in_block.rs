//! In an async block, inside `join!`, inside `format!`.
use steadfast::prelude::*;
use steadfast_ui_tests::fetch;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let text = format!("{:?}", fetch("page").await);
    join!(async { fetch(&text).await.is_ok() }, async {}).await;
    Ok(())
}

fn main() {}
