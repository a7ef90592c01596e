//! Workflows written by `macro_rules!`, and inside functions.
#![deny(warnings)]

use steadfast::Workflow;
use steadfast::prelude::*;

macro_rules! workflow_for {
    ($name:ident, $step:literal, $kind:ty, $body:expr) => {
        #[workflow]
        async fn $name(input: $kind, state: &$kind) -> Result<$kind, BoxError> {
            let value = step!($step, { Ok(input + state) }).await?;
            let more = $body.await?;
            Ok(value + more)
        }
    };
}

workflow_for!(first, "first", u32, step!("body", { Ok(1u32) }));
workflow_for!(second, "second", u64, async { Ok::<_, BoxError>(2u64) });

fn main() {
    #[workflow]
    async fn local(input: u32) -> Result<u32, BoxError> {
        #[durable]
        async fn nested(input: u32) -> Result<u32, StepError> {
            step!("nested", { Ok(input) }).await
        }
        Ok(nested(input).await?)
    }
    assert_eq!((local::NAME, first::NAME, second::NAME), ("local", "first", "second"));
}
