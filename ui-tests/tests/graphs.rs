//! The pictures, Mermaid texts and shapes of workflows of every form are the files in `graphs/`.
//!
//! After a change: `STEADFAST_BLESS=1 cargo test -p steadfast-ui-tests --test graphs` writes them anew. Then look at every
//! picture that changed, on a light and on a dark page, before you commit it.
#![allow(clippy::unused_async, unused_variables, missing_docs)]

use std::path::Path;
use steadfast::Workflow;
use steadfast::prelude::*;
use steadfast_ui_tests::{Approval, Order, Parcel, Shop, ShopError};

type Done = Result<u32, BoxError>;

async fn work() -> Done {
    Ok(1)
}

async fn answer(_: u32) -> Result<String, BoxError> {
    Ok(String::new())
}

#[workflow]
async fn sequence(order: Order, shop: &Shop) -> Done {
    let payment: u32 = step!("charge", work()).await?;
    sleep!("cooling off", days(7)).await;
    let text: String = signal!("text").await;
    let late: Result<u32, Elapsed> = signal!("confirmation of the address").timeout(hours(48)).await;
    step!("ship", answer(payment)).await?;
    Ok(payment)
}

#[workflow]
async fn branches(order: Order) -> Done {
    if order.lines.is_empty() {
        return Err("nothing ordered".into());
    }
    if order.customer == "staff" {
        step!("note", work()).await?;
    } else if order.lines.len() > 10 {
        sleep!("wait for stock", days(2)).await;
        step!("pack by machine", work()).await?;
    } else {
        step!("pack by hand", work()).await?;
    }
    let Ok(weight) = step!("weigh", work()).await else {
        let _told = step!("call the warehouse", work()).await;
        return Ok(0);
    };
    if weight > 20 && step!("ask the carrier", work()).await? == 0 {
        return Err("too heavy & too \"big\" <for> them".into());
    }
    step!("ship", work()).await.map_err(Into::into)
}

#[workflow]
async fn matching(order: Order) -> Done {
    match signal!("approval").timeout(hours(48)).await {
        Ok(Approval { approved: true }) => {}
        Ok(_) | Err(Elapsed) => return Err("nobody approved".into()),
    }
    let method = step!("choose", answer(1)).await?;
    match method.as_str() {
        "post" => {
            step!("print the label", work()).await?;
        }
        "courier" if order.lines.len() < 3 => {
            let () = signal!("courier is here").await;
        }
        "nothing" | "air" => {}
        "never" => unreachable!(),
        other => {
            step!("log", answer(1)).await?;
            return Err(format!("no way to send by {other}").into());
        }
    }
    step!("hand over", work()).await.map_err(Into::into)
}

#[workflow]
async fn loops(order: Order) -> Done {
    let mut packed = 0;
    for line in &order.lines {
        if line.count == 0 {
            continue;
        }
        packed += step!("pack", work()).key(&line.article).await?;
    }
    while packed < 3 {
        sleep!("wait for more", minutes(10)).await;
        packed += 1;
    }
    let answer = loop {
        let answer: u32 = signal!("offer").await;
        if answer > 10 {
            break answer;
        }
        step!("decline", work()).await?;
    };
    step!("accept", work()).await.map_err(Into::into)
}

#[workflow]
async fn joins(order: Order, shop: &Shop) -> Done {
    let label = async { step!("print the label", work()).await };
    let ((), invoice) = join!(sleep!("let it dry", hours(1)), async {
        let number = step!("number", work()).await?;
        step!("invoice", work()).await
    },)
    .await;
    let (label, first, second) = try_join!(label, step!("box", work()), inspect(shop)).await?;
    Ok(first)
}

#[workflow]
async fn races(order: Order) -> Done {
    match race!(signal!("stop"), sleep!("patience", hours(1)), async {
        loop {
            let state = step!("poll", work()).await?;
            if state > 0 {
                return Ok::<u32, StepError>(state);
            }
            sleep!("between", minutes(1)).await;
        }
    })
    .await
    {
        Race3::First(reason) => {
            let reason: String = reason;
            return Err(reason.into());
        }
        Race3::Second(()) => {
            step!("apologize", work()).await?;
        }
        Race3::Third(state) => {}
    }
    Ok(1)
}

#[workflow]
async fn each(order: Order, shop: &Shop) -> Done {
    let parcels: Vec<Parcel> = map_concurrent(&order.lines, 3, |line| async move {
        let parcel = step!("pack", shop.pack(line)).key(&line.article).await?;
        sleep!("dry", minutes(5)).await;
        Ok::<_, StepError>(parcel)
    })
    .await?;
    let quotes = join_all(parcels.iter().map(|parcel| step!("quote", work()).key(&parcel.id))).await;
    let all = try_join_all(vec![inspect(shop), inspect(shop)]).await?;
    Ok(1)
}

#[durable]
async fn inspect(shop: &Shop) -> Result<u32, StepError> {
    step!("inspect", work()).await
}

mod deep {
    pub(crate) mod down {
        use steadfast::prelude::*;

        #[durable]
        pub(crate) async fn ship(number: u32) -> Result<u32, StepError> {
            step!("ship", super::super::work()).await
        }
    }
}

#[workflow(version = 2)]
async fn helpers(order: Order, shop: &Shop) -> Done {
    let number = inspect(shop).await?;
    let later = deep::down::ship(number);
    sleep!("a night", hours(8)).await;
    Ok(later.await?)
}

/// The example of the README.
#[workflow]
async fn fulfil(order: Order, shop: &Shop) -> Result<u32, ShopError> {
    let payment = step!("charge", |attempt| shop.charge(&order, &attempt.idempotency_key()))
        .retry(Retry::exponential(secs(1)).max_attempts(5))
        .timeout(secs(30))
        .await?;
    let parcels = map_concurrent(&order.lines, 3, |line| async move {
        step!("pack", shop.pack(line)).key(&line.article).await
    })
    .await?;
    match signal!("approval").timeout(hours(48)).await {
        Ok(Approval { approved: true }) => {}
        Ok(_) | Err(Elapsed) => return Err(ShopError::Rejected),
    }
    Ok(step!("ship", shop.ship(&parcels)).await?)
}

#[workflow]
async fn nested(order: Order) -> Done {
    'orders: for line in &order.lines {
        let winner = race!(
            async {
                if line.count > 1 {
                    step!("big", work()).await
                } else {
                    step!("small", work()).await
                }
            },
            async {
                sleep!("patience", hours(1)).await;
                step!("give up", work()).await
            },
        )
        .await
        .into_inner();
        loop {
            let () = signal!("next").await;
            if winner.is_err() {
                continue 'orders;
            }
            if line.count == 7 {
                break 'orders;
            }
            step!("again", work()).await?;
        }
    }
    step!("done", work()).await.map_err(Into::into)
}

#[workflow]
async fn changes(order: Order) -> Done {
    step!("charge", work()).await?;
    if patched!("check the address") {
        step!("check", work()).await?;
    } else {
        sleep!("cooling off", days(7)).await;
    }
    removed!("pack").await;
    retired!("reserve first");
    step!("ship", work()).await.map_err(Into::into)
}

fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("graphs").join(name);
    if std::env::var_os("STEADFAST_BLESS").is_some() {
        std::fs::write(&path, text).expect("the golden file can be written");
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        known == text,
        "graphs/{name} is no longer what the macro makes; STEADFAST_BLESS=1 writes it anew, and then look at it"
    );
}

fn golden_of<W: Workflow>(_: W) {
    let (graph, shape) = (W::graph(), W::shape());
    golden(&format!("{}.mmd", W::NAME), graph.mermaid());
    golden(&format!("{}.svg", W::NAME), graph.svg().expect("the graph is small"));
    golden(&format!("{}.shape", W::NAME), shape.text());
}

#[test]
fn every_picture_is_the_golden_one() {
    golden_of(sequence);
    golden_of(branches);
    golden_of(matching);
    golden_of(loops);
    golden_of(joins);
    golden_of(races);
    golden_of(each);
    golden_of(helpers);
    golden_of(fulfil);
    golden_of(nested);
    golden_of(changes);
}
