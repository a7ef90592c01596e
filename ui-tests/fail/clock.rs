//! The clock, in all forms.
use steadfast::prelude::*;
use std::time::{Instant, SystemTime as Wall};

fn now_of(read: fn() -> Instant) -> impl Fn(()) -> Instant {
    move |()| read()
}

#[workflow]
async fn workflow(since: std::time::SystemTime) -> Result<(), BoxError> {
    let started = Instant::now();
    let today = Wall::now();
    let readings: Vec<Instant> = (0..2).map(|_| ()).map(now_of(Instant::now)).collect();
    println!("{:?} {:?}", std::time::SystemTime::now(), since.elapsed());
    join!(async { tokio::time::Instant::now() }, async {}).await;
    drop((started, today, readings));
    Ok(())
}

fn main() {}
