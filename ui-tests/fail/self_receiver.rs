//! A workflow is no method.
use steadfast::prelude::*;

struct Orders(u32);

impl Orders {
    #[workflow]
    async fn process(&self, order: u32) -> Result<u32, BoxError> {
        step!("number", { Ok(order + self.0) }).await?;
        Ok(1)
    }
}

fn main() {
    let _ = Orders(1).process(2);
}
