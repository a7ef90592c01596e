//! Step bodies that change what the workflow holds.
#![deny(warnings)]

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use steadfast::prelude::*;

struct Desk;

impl Desk {
    #[durable]
    async fn count(&self, counter: Arc<AtomicU32>, names: &Mutex<Vec<String>>) -> Result<u32, StepError> {
        let seen = Arc::clone(&counter);
        step!("count", {
            seen.fetch_add(1, Ordering::Relaxed);
            names.lock().expect("not poisoned").push(String::new());
            Ok(())
        })
        .await?;
        #[allow_nondeterminism(captured_cell, reason = "only read")]
        step!("read", async { Ok(counter.load(Ordering::Relaxed)) }).await
    }
}

#[workflow]
async fn workflow() -> Result<u32, BoxError> {
    #[allow_nondeterminism(global_state, reason = "a test of another rule")]
    #[allow_nondeterminism(sync_primitive, reason = "a test of another rule")]
    let (counter, names) = (Arc::new(AtomicU32::new(0)), Mutex::new(Vec::new()));
    Ok(Desk.count(counter, &names).await?)
}

fn main() {}
