//! Ids of changes that the journal cannot keep.
use steadfast::prelude::*;

const CHANGE: &str = "check";

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    if patched!(CHANGE) {
        step!("check", { Ok(()) }).await?;
    }
    if patched!("") || patched!("two\nlines") {
        retired!(format!("{CHANGE} twice"));
    }
    Ok(())
}

fn main() {}
