//! The workflows that are measured. Their bodies do nothing, so that what is measured is the engine.

use crate::suite::watch::Watch;
use std::convert::Infallible;
use std::sync::Arc;
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

/// Steps, then a signal, before which the instance is parked. It marks when it has got there, on replay too.
#[workflow]
pub(crate) async fn recalled(steps: u64, watch: &Arc<Watch>) -> Result<u64, StepError> {
    let _here = watch.enter();
    for _ in 0..steps {
        step!("step", result()).await?;
    }
    watch.mark(steps);
    let () = signal!("go").await;
    Ok(steps)
}

/// Sleeps until this instant, in microseconds since 1970, or waits for a signal if it is 0.
#[workflow]
pub(crate) async fn waits(until: u64, watch: &Arc<Watch>) -> Result<u64, StepError> {
    let _here = watch.enter();
    if until == 0 {
        let () = signal!("go").await;
    } else {
        sleep!("until", Timestamp::from_micros(until)).await;
    }
    Ok(until)
}

/// Gets a signal, and marks when the body after it begins.
#[workflow]
pub(crate) async fn relay(instance: u64, watch: &Arc<Watch>) -> Result<u64, StepError> {
    let _here = watch.enter();
    let () = signal!("go").await;
    step!("moved", async {
        watch.mark(instance);
        Ok::<_, Infallible>(())
    })
    .await?;
    Ok(instance)
}

/// Has got somewhere, and marks when the body begins that the end of its process interrupts.
#[workflow]
pub(crate) async fn interrupted(instance: u64, watch: &Arc<Watch>) -> Result<u64, StepError> {
    step!("one", result()).await?;
    step!("two", result()).await?;
    step!("three", async {
        watch.mark(instance);
        watch.hold().await;
        Ok::<_, Infallible>(())
    })
    .await?;
    Ok(instance)
}

/// One step with a result of this many bytes, as a `Vec<u8>`, which is what people write.
#[workflow]
pub(crate) async fn payload(bytes: u64) -> Result<u64, StepError> {
    let result = step!("large", async { Ok::<_, Infallible>(vec![7u8; bytes as usize]) }).await?;
    Ok(result.len() as u64)
}
