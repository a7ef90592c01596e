//! A body borrows variables of the workflow mutably.
use std::collections::BTreeMap;

use steadfast::prelude::*;
use steadfast_ui_tests::Order;

async fn append(list: &mut Vec<String>, text: &str) -> Result<(), BoxError> {
    list.push(text.to_owned());
    Ok(())
}

#[workflow]
async fn workflow(mut order: Order) -> Result<(), BoxError> {
    let mut pages = vec![String::new()];
    let mut found: BTreeMap<u32, String> = BTreeMap::new();
    step!("a call", append(&mut pages, "text")).await?;
    step!("a field", {
        let lines = &mut order.lines;
        lines.clear();
        Ok(())
    })
    .await?;
    step!("methods", |_attempt| {
        pages.push(String::new());
        found.insert(1, pages[0].clone());
        Ok(())
    })
    .await?;
    drop((order, pages, found));
    Ok(())
}

fn main() {}
