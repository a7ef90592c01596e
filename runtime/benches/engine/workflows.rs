//! The workflows that are measured. Their bodies do nothing, so that what is measured is the engine.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use steadfast::prelude::*;

/// How large a step's result is, in bytes.
const RESULT_BYTES: usize = 100;

async fn result() -> Result<Vec<u8>, Infallible> {
    Ok(vec![7; RESULT_BYTES])
}

/// How many steps [`five`] has.
pub(crate) const FIVE: u64 = 5;

#[workflow]
pub(crate) async fn five(_instance: u64) -> Result<u64, StepError> {
    step!("one", result()).await?;
    step!("two", result()).await?;
    step!("three", result()).await?;
    step!("four", result()).await?;
    let last = step!("five", result()).await?;
    Ok(last.len() as u64)
}

/// Steps one after another.
#[workflow]
pub(crate) async fn sequence(steps: u64) -> Result<u64, StepError> {
    for _ in 0..steps {
        step!("step", result()).await?;
    }
    Ok(steps)
}

/// Steps all at once.
#[workflow]
pub(crate) async fn wide(steps: u64) -> Result<u64, StepError> {
    let results = try_join_all((0..steps).map(|_| step!("step", result()))).await?;
    Ok(results.len() as u64)
}

/// Nothing at all.
#[workflow]
pub(crate) async fn instant(instance: u64) -> Result<u64, StepError> {
    Ok(instance)
}

/// How often the code of [`recalled`] began: once for the run, once for each replay.
#[derive(Default)]
pub(crate) struct Beginnings(AtomicU64);

impl Beginnings {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Steps, then a signal, before which the instance can be parked.
#[workflow]
pub(crate) async fn recalled(steps: u64, beginnings: &Arc<Beginnings>) -> Result<u64, StepError> {
    beginnings.0.fetch_add(1, Ordering::Relaxed);
    for _ in 0..steps {
        step!("step", result()).await?;
    }
    let () = signal!("go").await;
    Ok(steps)
}

/// One step with a result of this many bytes, as a `Vec<u8>`, which is what people write.
#[workflow]
pub(crate) async fn payload(bytes: u64) -> Result<u64, StepError> {
    let result = step!("large", async { Ok::<_, Infallible>(vec![7u8; bytes as usize]) }).await?;
    Ok(result.len() as u64)
}
