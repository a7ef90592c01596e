//! Loops that never end.
#![deny(warnings)]

use steadfast::prelude::*;

#[workflow]
async fn serves(patience: u64) -> Result<(), BoxError> {
    loop {
        let () = signal!("go").await;
        sleep!("a while", secs(patience)).await;
    }
}

struct Desk;

impl Desk {
    #[durable]
    async fn waits(&self, patience: u64) {
        #[allow(while_true)]
        while true {
            sleep!("a while", secs(patience)).await;
        }
    }

    #[durable]
    async fn waits_too(&self, patience: u64) {
        #[allow_nondeterminism(endless_loop, reason = "whoever calls this races it against a signal")]
        loop {
            sleep!("a while", secs(patience)).await;
        }
    }
}

fn main() {}
