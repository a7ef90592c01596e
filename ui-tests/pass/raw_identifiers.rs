//! `r#type` is a good name for a workflow, a parameter and a variable; the stored name has no `r#`.
#![deny(warnings)]

use steadfast::Workflow;
use steadfast::prelude::*;

#[workflow]
async fn r#type(r#match: u32, r#static: &u32) -> Result<u32, BoxError> {
    let r#loop = step!("read", { Ok(r#match + *r#static) }).await?;
    r#fn(r#loop).await
}

#[durable]
async fn r#fn(r#ref: u32) -> Result<u32, BoxError> {
    Ok(r#ref)
}

fn main() {
    assert_eq!(<r#type as Workflow>::NAME, "type");
}
