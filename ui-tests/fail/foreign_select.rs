//! Selects of other crates.
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    tokio::select! {
        _ = sleep!("a", secs(1)) => {}
        number = async { 1 } => drop(number),
    }
    let winner = tokio::select! {
        () = sleep!("b", secs(1)) => 1,
        else => 2,
    };
    drop(winner);
    Ok(())
}

fn main() {}
