//! An `.await` is guarded wherever an expression can stand.
#![deny(warnings)]

use std::fmt::Write as _;

use steadfast::DurableFuture;
use steadfast::prelude::*;
use steadfast_ui_tests::{Approval, Order, Shop, ShopError, fetch};

#[durable]
async fn number(from: u32) -> Result<u32, StepError> {
    step!("number", { Ok(from) }).await
}

#[durable]
async fn flag() -> bool {
    true
}

#[workflow]
async fn everywhere(order: Order, shop: &Shop) -> Result<u32, ShopError> {
    // Chains, scrutinees, conditions, headers.
    let mut total = number(number(1).await?).await?.max(number(2).await?);
    match number(3).await {
        Ok(three) if three == 3 => total += three,
        Ok(other) => total += other + number(4).await?,
        Err(error) => return Err(error.into()),
    }
    if let Ok(five) = number(5).await
        && flag().await
    {
        total += five;
    } else if flag().await {
        total += 1;
    }
    let Ok(six) = number(6).await else { return Ok(number(0).await?) };
    while !flag().await {
        total += six;
    }
    for _ in 0..number(2).await? {
        total += number(7).await?;
    }
    let found = loop {
        if flag().await {
            break number(8).await?;
        }
        continue;
    };
    total += [number(9).await?, number(10).await?][usize::from(flag().await)];
    total += (number(11).await?, 1).0 + -i64::from(number(12).await?).signum() as u32 * 0;
    let labelled = 'outer: {
        if flag().await {
            break 'outer number(13).await?;
        }
        0
    };
    let order = Order { customer: shop.charge_again(&order).await?, ..order };

    // Macros whose arguments are expressions.
    let text = format!("{} {:?} {named}", number(14).await?, flag().await, named = number(15).await?);
    let list = vec![number(16).await?, number(17).await?];
    let same = vec![number(18).await?; 2];
    assert!(flag().await, "{}", number(19).await?);
    assert_eq!(number(20).await?, 20);
    let matched = matches!(number(21).await, Ok(21) | Err(_));
    #[allow_nondeterminism(printing, reason = "awaits inside of it are what this is about")]
    println!("{}", dbg!(number(22).await?));
    let (waited, number_24) = (flag().await, number(24).await?);
    tracing::info!(total, order = %order.customer, flag = ?waited, n = number_24, "text {}", total);

    // Where a comma does not end an argument, and other places for expressions.
    let pairs = vec![same_type::<u32, u8>(number(30).await?).await, 1];
    let guarded = matches!(pairs.first(), Some(first) if *first == number(31).await?);
    let mut written = String::new();
    write!(written, "{} {:>1$}", number(32).await?, 3).map_err(|_| ShopError::Rejected)?;
    writeln!(&mut written, "{guarded}{0}", number(33).await?).map_err(|_| ShopError::Rejected)?;
    assert_ne!(number(34).await?, 35, "{}", number(36).await?);
    let range = number(37).await?..=number(38).await?;
    let point = Point { x: number(39).await?, y: pairs[usize::try_from(number(40).await?).unwrap_or(0) % 2] };
    while let Some(last) = lowered(number(41).await?).await {
        total += last + point.x + point.y + range.clone().sum::<u32>();
    }
    let cast = number(42).await? as u8;
    let reference = &number(43).await?;
    total += u32::from(cast) + *reference + if flag().await { number(44).await? } else { unreachable!("{}", number(45).await?) };
    let tuple = (number(46).await, [flag().await; 2]).0.unwrap_or_default();
    (total, _) = (total + tuple, flag().await);

    // Blocks, closures, nested macros.
    let block = async { number(25).await };
    let moved = async move { block.await.map(|n| n + 1) };
    total += moved.await?;
    let add = |n| async move { number(n).await.unwrap_or_default() };
    total += add(26).await;
    let (a, (b, c)) = join!(add(27), join!(number(28), async { Ok::<_, StepError>(add(29).await) })).await;
    total += a + b? + c?;
    let parcels = map_concurrent(order.lines.iter().enumerate(), 4, |(index, line)| async move {
        if index > 100 {
            return Err(ShopError::Rejected);
        }
        let parcel = step!("pack", |attempt| async move {
            let _ = attempt.number();
            shop.pack(line).await
        })
        .await?;
        Ok(parcel)
    })
    .await?;
    let all = join_all((0..3).map(add)).await;
    let signalled: Result<Approval, Elapsed> = signal!("approval").timeout(hours(1)).key(1).await;
    let again: Approval = signal!("approval").await;

    total += found + labelled + list.iter().sum::<u32>() + all.iter().sum::<u32>() + same.iter().sum::<u32>();
    total += u32::from(matched && signalled.is_ok() && again.approved) + u32::try_from(parcels.len() + text.len()).unwrap_or(0);
    Ok(total)
}

#[durable]
async fn same_type<A, B>(first: A) -> A {
    first
}

#[durable]
async fn lowered(_: u32) -> Option<u32> {
    None
}

#[derive(Clone, Copy)]
struct Point {
    x: u32,
    y: u32,
}

trait ChargeAgain {
    fn charge_again(&self, order: &Order) -> impl DurableFuture<Output = Result<String, ShopError>> + Send;
}

impl ChargeAgain for Shop {
    #[allow(refining_impl_trait)]
    #[durable]
    async fn charge_again(&self, order: &Order) -> Result<String, ShopError> {
        let payment = step!("charge", self.charge(order, "key")).await?;
        Ok(payment.id)
    }
}

/// Step bodies in all forms.
#[workflow]
async fn bodies(order: Order, shop: &Shop) -> Result<u32, BoxError> {
    let mut results = 0;
    let number = 7;
    let text = String::from("3");
    step!("a future", shop.charge(&order, "key")).await?;
    step!("a future with a trailing comma", shop.charge(&order, &text),).await?;
    step!("a future with a temporary", shop.charge(&order.clone(), &format!("{number}"))).await?;
    step!("the attempt", |attempt| shop.charge(&order, &attempt.idempotency_key())).await?;
    results += step!("a block", {
        let page = fetch(&order.customer).await?;
        let parsed: u32 = text.parse()?;
        Ok(parsed + number + u32::try_from(page.len())?)
    })
    .await?;
    results += step!("an async block", async {
        fetch("page").await?;
        if number == 7 { Ok(1) } else { Ok(number) }
    })
    .await?;
    results += step!("an async move block", async move { Ok(number) }).await?;
    results += step!("the attempt and a block", |attempt| {
        fetch(&text).await?;
        Ok(attempt.number() + number)
    })
    .await?;
    results += step!("the attempt and an async block", |attempt| async move {
        let parsed: u32 = text.parse()?;
        Ok(attempt.number() + parsed)
    })
    .await?;
    results += step!("an async closure", async |attempt| Ok::<_, BoxError>(attempt.number())).await?;
    results += step!("an error of its own", {
        if number == 0 {
            return Err(ShopError::Rejected);
        }
        match number {
            1 => Ok(1),
            _ => Err(ShopError::Rejected),
        }
    })
    .retry_if(|error| matches!(error, ShopError::Rejected))
    .await?;
    results += step!("an error converted on return", {
        if number == 0 {
            return Err("no".into());
        }
        Ok(1)
    })
    .await?;
    results += step!("an error converted by the question mark", {
        if number == 0 {
            Err("no")?;
        }
        Ok(1)
    })
    .await?;
    results += step!("the whole error converted", {
        let _: u32 = text.parse()?;
        number_of(&order).await.map_err(Into::into)
    })
    .await?;
    results += step!("an alias names its error", { IoResult::Ok(1) }).await?;
    results += step!("a string as an error", { Err::<u32, _>(text.clone()) }).await.unwrap_or(0);
    let limits = [step!("not awaited at once", { Ok(1) })].len();
    results += step!("a call", number_of(&order)).at_most_once().await?;
    drop(order);
    Ok(results + u32::try_from(limits)?)
}

async fn number_of(order: &Order) -> Result<u32, BoxError> {
    Ok(u32::try_from(order.lines.len())?)
}

type IoResult<T> = Result<T, std::io::Error>;

fn sendable<T: Send>(_: T) {}

#[durable]
async fn borrowing(shop: &Shop, order: &Order) -> Result<(), StepError> {
    step!("charge", shop.charge(order, "key")).await?;
    Ok(())
}

/// The future of a workflow and of a helper is `Send`.
#[allow(dead_code)]
fn check_send(shop: &Shop, order: &Order) {
    sendable(borrowing(shop, order));
}

fn main() {}
