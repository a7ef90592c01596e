//! Combinators of other crates, out of sight of the lints: what they give cannot be awaited, and the message names ours.
use foreign::*;
use steadfast::prelude::*;

mod foreign {
    use std::future::Ready;

    pub fn join_every<I>(futures: I) -> Ready<usize>
    where
        I: IntoIterator,
    {
        std::future::ready(futures.into_iter().count())
    }

    pub struct Stream;

    impl Stream {
        pub fn next(&mut self) -> Ready<Option<u32>> {
            std::future::ready(None)
        }
    }
}

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    join_every([sleep!("a while", secs(1))]).await;
    while let Some(number) = Stream.next().await {
        drop(number.to_string());
    }
    Ok(())
}

fn main() {}
