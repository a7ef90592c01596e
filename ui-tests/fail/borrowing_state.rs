//! Borrowing state.
use steadfast::prelude::*;

#[workflow]
async fn workflow(text: &Option<&'static str>, other: &Option<std::borrow::Cow<'_, str>>) -> Result<(), BoxError> {
    drop((text, other));
    Ok(())
}

fn main() {}
