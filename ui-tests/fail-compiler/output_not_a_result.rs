//! A workflow that returns something else, by a name that could be an alias.
use steadfast::prelude::*;
use steadfast_ui_tests::Payment;

#[workflow]
async fn workflow() -> Payment {
    Payment { id: String::new() }
}

fn main() {}
