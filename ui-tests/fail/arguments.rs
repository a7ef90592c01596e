//! What is written in the parentheses of the attributes.
use steadfast::prelude::*;

#[workflow(nam = "order")]
async fn misspelled() -> Result<(), BoxError> {
    Ok(())
}

#[workflow(version = 0)]
async fn version_zero() -> Result<(), BoxError> {
    Ok(())
}

#[workflow(name = "a", name = "b", version = "two")]
async fn twice() -> Result<(), BoxError> {
    Ok(())
}

#[workflow(name = "")]
async fn empty() -> Result<(), BoxError> {
    Ok(())
}

#[durable(name = "helper")]
async fn helper() {}

fn main() {
    let _ = (misspelled, version_zero, twice, empty);
    let _ = helper();
}
