//! The clock, in all forms.
use std::time::{Instant, SystemTime as Wall};
use steadfast::prelude::*;

fn now_of(read: fn() -> Instant) -> impl Fn(()) -> Instant {
    move |()| read()
}

macro_rules! mine {
    ($name:ident => $value:expr) => {
        let $name = $value;
    };
}

#[workflow]
async fn workflow(since: std::time::SystemTime) -> Result<(), BoxError> {
    let started = Instant::now();
    let today = Wall::now();
    let readings: Vec<Instant> = (0..2).map(|_| ()).map(now_of(Instant::now)).collect();
    let text = format!("{:?} {:?}", std::time::SystemTime::now(), since.elapsed());
    join!(async { tokio::time::Instant::now() }, async {}).await;
    let qualified = <Wall>::now();
    mine!(hidden => Instant::now());
    drop((started, today, readings, text, qualified, hidden));
    Ok(())
}

mod inner {
    use super::*;

    #[durable]
    async fn helper() -> Instant {
        use std::time as t;
        if std::time::UNIX_EPOCH.elapsed().is_ok() {
            return t::Instant::now();
        }
        Instant::now()
    }
}

fn main() {}
