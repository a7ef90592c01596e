//! Printing, which would happen again on every replay, and is reported as a warning.
#![deny(deprecated)]

// Stands in for the real crate.
extern crate steadfast_ui_tests as log;

use log::info;
use steadfast::prelude::*;

macro_rules! mine {
    ($($code:tt)*) => {
        $($code)*
    };
}

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    println!("started");
    let number = dbg!(1 + 1);
    if number > 1 {
        eprintln!("{number}");
    }
    info!("shipped");
    log::warn!("slow");
    mine! { std::print!("hidden"); }
    Ok(())
}

fn main() {}
