//! A body holds a value that cannot go to another thread over an await: reported at the value, not at the workflow.
use steadfast::prelude::*;
use steadfast_ui_tests::fetch;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    step!("count", {
        let shared = std::rc::Rc::new(1);
        fetch("page").await?;
        Ok(*shared)
    })
    .await?;
    Ok(())
}

fn main() {}
