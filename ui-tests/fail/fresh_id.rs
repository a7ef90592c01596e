//! Ids of other makes.
// Stands in for the real crate.
extern crate steadfast_ui_tests as uuid;

use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    use uuid::Uuid as Id;
    let order = uuid::Uuid::new_v4();
    let customer = Some(()).map_or_else(Id::now_v7, |()| Id::new_v4());
    drop((order, customer));
    Ok(())
}

fn main() {}
