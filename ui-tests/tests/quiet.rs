//! Generated code is silent under the strictest lints that a user may turn on: clippy compiles this file too.
#![deny(
    warnings,
    clippy::all,
    clippy::pedantic,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub
)]
#![deny(
    unused,
    let_underscore_drop,
    single_use_lifetimes,
    trivial_casts,
    unused_qualifications,
    unused_results
)]
#![deny(
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    redundant_lifetimes,
    unit_bindings
)]
#![deny(
    unused_lifetimes,
    missing_copy_implementations,
    non_ascii_idents,
    absolute_paths_not_starting_with_crate
)]
#![deny(
    clippy::equatable_if_let,
    clippy::future_not_send,
    clippy::manual_async_fn,
    clippy::missing_const_for_fn,
    clippy::needless_collect,
    clippy::option_if_let_else,
    clippy::or_fun_call,
    clippy::redundant_clone,
    clippy::redundant_pub_crate,
    clippy::significant_drop_in_scrutinee,
    clippy::significant_drop_tightening,
    clippy::trivial_regex,
    clippy::unused_peekable,
    clippy::use_self,
    clippy::useless_let_if_seq
)]
#![deny(
    rust_2018_idioms,
    future_incompatible,
    keyword_idents,
    let_underscore,
    macro_use_extern_crate,
    meta_variable_misuse,
    unsafe_code,
    unused_import_braces,
    variant_size_differences
)]

use steadfast::Workflow as _;
use steadfast::prelude::*;
use steadfast_ui_tests::{Approval, Line, Order, Shop, ShopError};

/// Everything that a workflow can contain.
#[workflow]
pub async fn fulfil(mut order: Order, shop: &Shop, (low, high): (u32, u32)) -> Result<u32, ShopError> {
    let payment = step!("charge", |attempt| shop.charge(&order, &attempt.idempotency_key()))
        .retry(Retry::exponential(secs(1)).max_attempts(5))
        .timeout(secs(30))
        .await?;
    let parsed = step!("parse", {
        let number: u32 = payment.id.parse()?;
        Ok(number + 1)
    })
    .await?;
    let parcels = map_concurrent(&order.lines, 3, |line| async move {
        step!("pack", shop.pack(line)).key(&line.article).await
    })
    .await?;
    match signal!("approval").timeout(hours(48)).await {
        Ok(Approval { approved: true }) => {}
        Ok(_) | Err(Elapsed) => return Err(ShopError::Rejected),
    }
    sleep!("cooling off", days(7)).await;
    let (first, ()) = join!(pack(shop, &order.lines[0]), sleep!("a while", now!())).await;
    let second = uuid!();
    tracing::info!("{first:?} {second}");
    if let Race2::First(text) = race!(signal!("text"), async { String::new() }).await {
        order.customer = text;
    }
    let dice: u32 = random!(1..=6);
    if dice > parsed {
        return Ok(low);
    }
    step!("ship", shop.ship(&parcels))
        .await
        .map(|count| count + high)
        .map_err(ShopError::from)
}

/// A helper.
#[durable]
pub async fn pack(shop: &Shop, line: &Line) -> Result<u32, StepError> {
    let _parcel = step!("pack", shop.pack(line)).await?;
    Ok(line.count)
}

/// A helper that owns what it does not consume, and one that has nothing to wait for.
#[durable]
pub async fn owned(line: Line, _unused: String, (a, mut b): (u8, u8)) -> u32 {
    b += a;
    line.count + u32::from(b) + idle().await
}

/// Waits for nothing.
#[durable]
async fn idle() -> u32 {
    1
}

/// Ends at once.
#[workflow(name = "nothing to do", version = 2)]
pub async fn nothing() -> Result<(), BoxError> {
    let number = owned(
        Line {
            article: String::new(),
            count: 1,
        },
        String::new(),
        (1, 2),
    )
    .await;
    if number == 0 {
        return Err("nothing".into());
    }
    Ok(())
}

/// A parameter is called like the workflow, and a signal carries nothing.
#[workflow]
pub async fn order(order: Order, shop: &Shop) -> Result<u32, ShopError> {
    let () = signal!("go").key(1).await;
    let payment = step!("charge", shop.charge(&order, "key")).at_most_once().await?;
    let count = step!("count", async {
        let count = order.lines.len();
        u32::try_from(count)
    })
    .retry(Retry::none())
    .await?;
    let checked = step!("check", |attempt| {
        let number = attempt.number();
        if number > count {
            return Err("too often".into());
        }
        Ok(number)
    })
    .retry_if(|_: &BoxError| true)
    .await?;
    tracing::info!(payment = %payment.id, checked, "counted");
    Ok(count)
}

/// Loops, branches and combinators of every kind.
#[workflow]
pub async fn combined(orders: Vec<Order>, shop: &Shop) -> Result<Vec<u32>, BoxError> {
    let started = now!();
    let mut counts = Vec::with_capacity(orders.len());
    for (index, order) in orders.iter().enumerate() {
        if order.lines.is_empty() {
            continue;
        }
        let parcel = step!("pack", shop.pack(&order.lines[0])).key(index).await?;
        counts.push(u32::try_from(parcel.id.len())?);
    }
    let all = join_all(orders.iter().map(|order| async move {
        let key = order.customer.as_str();
        step!("charge", shop.charge(order, "key")).key(key).await.is_ok()
    }))
    .await;
    let packed = try_join_all(
        orders
            .iter()
            .flat_map(|order| &order.lines)
            .map(|line| pack(shop, line)),
    )
    .await?;
    let (sum, (), winner) = try_join!(
        async { Ok::<_, BoxError>(packed.iter().sum::<u32>()) },
        async {
            sleep!("first", secs(1)).await;
            Ok(())
        },
        async {
            let race = race!(signal!("number"), sleep!("second", started + days(1)), idle()).await;
            Ok(match race {
                Race3::First(number) | Race3::Third(number) => number,
                Race3::Second(()) => 0,
            })
        },
    )
    .await?;
    let mut rounds = 0_u32;
    while rounds < 3 {
        sleep!("round", minutes(u64::from(rounds))).await;
        rounds += 1;
    }
    let lucky: bool = random!();
    if lucky && all.iter().all(|charged| *charged) {
        counts.extend([sum, winner, rounds]);
    }
    Ok(counts)
}

#[test]
fn the_workflows_are_there() {
    assert_eq!((order::NAME, combined::NAME), ("order", "combined"));
    assert_eq!(
        (fulfil::NAME, nothing::NAME, nothing::VERSION),
        ("fulfil", "nothing to do", 2)
    );
}
