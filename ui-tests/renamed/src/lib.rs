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

/// A module of its own, which imports nothing.
pub mod nested {
    /// Helpers, blocks and timed signals by their full paths.
    #[sf::workflow(name = "deep")]
    pub async fn inner(orders: Vec<u32>, (low, high): (u32, u32), limit: &u32) -> Result<u32, sf::BoxError> {
        let sum = deeper::sum(&orders, |order| (low..=high).contains(order)).await?;
        let () = match sf::signal!("go").timeout(sf::hours(1)).key(1).await {
            Ok(()) | Err(sf::Elapsed) => {}
        };
        let block = async { sf::step!("limit", |attempt| { Ok(*limit + attempt.number()) }).await };
        let (a, b) = sf::try_join!(block, async { Ok(sum) }).await?;
        Ok(a + b)
    }

    mod deeper {
        #[sf::durable]
        pub(super) async fn sum<F>(numbers: &[u32], wanted: F) -> Result<u32, sf::StepError>
        where
            F: Fn(&u32) -> bool + Sync,
        {
            sf::step!("sum", async {
                let sum: u32 = numbers.iter().filter(|number| wanted(number)).sum();
                Ok::<_, sf::BoxError>(sum)
            })
            .retry(sf::Retry::none())
            .await
        }
    }
}

macro_rules! counting_workflow {
    ($name:ident, $step:literal, $count:expr) => {
        /// Written by a macro.
        #[workflow]
        pub async fn $name(numbers: Vec<u32>) -> Result<u64, BoxError> {
            let count = step!($step, { Ok(numbers.len() as u64) }).key($count).await?;
            helper_of_macros(count + $count).await
        }
    };
}

counting_workflow!(count_once, "count", 1);
counting_workflow!(count_twice, "count", 2);

/// What they call.
#[durable]
async fn helper_of_macros(count: u64) -> Result<u64, BoxError> {
    sleep!("a while", secs(1)).await;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use sf::Workflow;

    #[test]
    fn a_renamed_crate_of_the_older_edition_has_workflows() {
        assert_eq!((super::renamed::NAME, super::nested::inner::NAME), ("renamed", "deep"));
        assert_eq!(
            (super::count_once::NAME, super::count_twice::NAME),
            ("count_once", "count_twice")
        );
    }
}
