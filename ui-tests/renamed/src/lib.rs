//! A user's crate of edition 2021 that knows Steadfast by another name: both are found in Cargo.toml, and generated code
//! does not mind.
#![deny(warnings)]

use sf::prelude::*;

/// Uses every checkpoint.
#[workflow]
pub async fn renamed(orders: Vec<u32>, limit: &u32) -> Result<u32, BoxError> {
    let first = step!("first", { Ok(*limit) }).await?;
    let all = map_concurrent(&orders, 2, |order| async move {
        sf::step!("each", async { Ok::<_, BoxError>(*order) }).await
    })
    .await?;
    let (sum, ()) = join!(Ledger { start: &first }.add(&all), sleep!("a while", secs(1))).await;
    match race!(signal!("stop"), sf::sleep!("patience", now!())).await {
        Race2::First(number) => Ok(number),
        Race2::Second(()) => Ok(sum? + random!(0..1u32) + uuid!().to_string().len() as u32),
    }
}

struct Ledger<'a, T> {
    start: &'a T,
}

impl<T: Copy + Into<u32> + Sync> Ledger<'_, T> {
    /// Borrows from three places, one of them a lifetime that the macro cannot see; edition 2021 would not capture it.
    #[durable]
    async fn add(self, numbers: &[u32]) -> Result<u32, StepError> {
        let start: u32 = (*self.start).into();
        step!("add", { Ok(start + numbers.iter().sum::<u32>()) }).await
    }
}

#[cfg(test)]
mod tests {
    use sf::Workflow;

    #[test]
    fn a_renamed_crate_of_the_older_edition_has_workflows() {
        assert_eq!(super::renamed::NAME, "renamed");
    }
}
