//! An order from quote to delivery: more than thirty checkpoints, helpers, loops, joins, races, an error enum, state.
#![deny(warnings)]

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use steadfast::prelude::*;
use steadfast::{Timestamp, Uuid};

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Order {
    customer: String,
    lines: Vec<Line>,
    express: bool,
    coupon: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    article: String,
    count: u32,
    cents: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Reservation {
    article: String,
    shelf: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Answer {
    Approved { by: String },
    Refused { reason: String },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Receipt {
    number: Uuid,
    cents: u64,
    shipped: Option<Timestamp>,
    parcels: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
enum OrderError {
    Empty,
    OutOfStock { article: String },
    Refused { reason: String },
    NotPaid(String),
    Step(String),
}

impl fmt::Display for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for OrderError {}

impl From<StepError> for OrderError {
    fn from(error: StepError) -> Self {
        Self::Step(error.to_string())
    }
}

impl From<Elapsed> for OrderError {
    fn from(_: Elapsed) -> Self {
        Self::NotPaid("nobody answered in time".to_owned())
    }
}

type Answered<T> = Result<T, std::io::Error>;

struct Services {
    warehouse: Warehouse,
    bank: Bank,
    mail: Mail,
}

struct Warehouse;
struct Bank;
struct Mail;

impl Warehouse {
    async fn reserve(&self, line: &Line) -> Answered<Option<Reservation>> {
        Ok(Some(Reservation { article: line.article.clone(), shelf: line.count }))
    }
    async fn release(&self, reservation: &Reservation) -> Answered<()> {
        drop(reservation.article.clone());
        Ok(())
    }
    async fn pack(&self, reservations: &[Reservation], express: bool) -> Answered<Vec<String>> {
        Ok(reservations.iter().map(|found| format!("{}{express}", found.shelf)).collect())
    }
    async fn hand_over(&self, parcel: &str) -> Answered<u32> {
        Ok(u32::try_from(parcel.len()).unwrap_or_default())
    }
}

impl Bank {
    async fn authorise(&self, customer: &str, cents: u64, key: &str) -> Answered<String> {
        Ok(format!("{customer}{cents}{key}"))
    }
    async fn capture(&self, authorisation: &str) -> Answered<()> {
        drop(authorisation.to_owned());
        Ok(())
    }
    async fn refund(&self, authorisation: &str, cents: u64) -> Answered<()> {
        drop(format!("{authorisation}{cents}"));
        Ok(())
    }
    async fn discount(&self, coupon: &str) -> Answered<u64> {
        Ok(u64::try_from(coupon.len()).unwrap_or_default())
    }
}

impl Mail {
    async fn send(&self, to: &str, text: &str) -> Answered<()> {
        drop((to.to_owned(), text.to_owned()));
        Ok(())
    }
}

#[workflow(name = "order fulfilment", version = 2)]
async fn fulfil(order: Order, services: &Services) -> Result<Receipt, OrderError> {
    let Services { warehouse, bank, mail } = services;
    if order.lines.is_empty() {
        return Err(OrderError::Empty);
    }
    let number = uuid!();
    let received = now!();
    let sample: u8 = random!(0..100);
    step!("confirm receipt", mail.send(&order.customer, "we have your order")).await?;

    // Price.
    let mut cents: u64 = order.lines.iter().map(|line| line.cents * u64::from(line.count)).sum();
    let discount = match &order.coupon {
        Some(coupon) => step!("look up coupon", bank.discount(coupon)).retry(Retry::none()).await.unwrap_or(0),
        None => 0,
    };
    cents = cents.saturating_sub(discount);
    let limit = step!("read limit", async {
        let text = std::env::var("LIMIT").unwrap_or_else(|_| "100000".to_owned());
        let limit: u64 = text.trim().parse()?;
        Ok(limit)
    })
    .await?;

    // Somebody looks at large orders, and at a few small ones.
    if cents > limit || sample < 3 {
        let answer: Answer = 'asking: {
            for reminder in 0..3_u32 {
                if let Ok(answer) = signal!("approval").timeout(hours(24)).await {
                    break 'asking answer;
                }
                step!("remind", mail.send("boss@example.com", "please look")).key(reminder).await?;
            }
            Answer::Refused { reason: "nobody looked".to_owned() }
        };
        match answer {
            Answer::Approved { by } if by.is_empty() => return Err(OrderError::Refused { reason: "anonymous".into() }),
            Answer::Approved { by: _ } => {}
            Answer::Refused { reason } => {
                step!("tell refusal", mail.send(&order.customer, &format!("refused: {reason}"))).await?;
                return Err(OrderError::Refused { reason });
            }
        }
    }

    // Reserve everything, a few at a time; give back what was found when something is missing.
    let reservations = match reserve_all(warehouse, &order.lines).await {
        Ok(reservations) => reservations,
        Err(error) => {
            step!("tell shortage", mail.send(&order.customer, &error.to_string())).await?;
            return Err(error);
        }
    };

    // Pay, unless the customer changes their mind first.
    let authorisation = step!("authorise", |attempt| bank.authorise(&order.customer, cents, &attempt.idempotency_key()))
        .retry(Retry::exponential(secs(1)).max_attempts(8))
        .retry_if(|error: &std::io::Error| error.kind() != std::io::ErrorKind::InvalidInput)
        .timeout(secs(20))
        .await
        .map_err(|error| OrderError::NotPaid(error.to_string()))?;
    let paid = race!(
        async {
            sleep!("time to think", minutes(if order.express { 1 } else { 30 })).await;
            step!("capture", bank.capture(&authorisation)).at_most_once().await
        },
        signal!("cancel order"),
    )
    .await;
    match paid {
        Race2::First(captured) => captured?,
        Race2::Second(reason) => {
            let () = release_all(warehouse, &reservations).await?;
            let reason: String = reason;
            return Err(OrderError::Refused { reason });
        }
    }

    // Pack and write the bill at the same time.
    let (parcels, bill) = try_join!(
        step!("pack", warehouse.pack(&reservations, order.express)),
        step!("write bill", {
            let mut bill = String::new();
            for line in &order.lines {
                bill.push_str(&format!("{} x {}\n", line.count, line.article));
            }
            Ok::<_, BoxError>(bill)
        }),
    )
    .await?;
    step!("send bill", mail.send(&order.customer, &bill)).await?;

    // Ship; what the carrier does not take within a week comes back.
    let mut weights = BTreeMap::new();
    for (index, parcel) in parcels.iter().enumerate() {
        let weight = step!("hand over", warehouse.hand_over(parcel)).key(index).await?;
        weights.insert(parcel.clone(), weight);
    }
    let shipped = match race!(signal!("shipped"), sleep!("carrier", days(7)), sleep!("month", received + days(30))).await {
        Race3::First(at) => Some(at),
        Race3::Second(()) | Race3::Third(()) => None,
    };
    if shipped.is_none() {
        step!("refund", bank.refund(&authorisation, cents)).await?;
    }
    let total: u32 = weights.values().sum();
    tracing::info!(%number, total, "an order ended");
    Ok(Receipt { number, cents, shipped, parcels })
}

#[durable]
async fn reserve_all(warehouse: &Warehouse, lines: &[Line]) -> Result<Vec<Reservation>, OrderError> {
    let found = map_concurrent(lines, 4, |line| async move {
        step!("reserve", warehouse.reserve(line)).key(&line.article).await
    })
    .await?;
    let missing = found.iter().zip(lines).find_map(|(found, line)| found.is_none().then(|| line.article.clone()));
    let reservations: Vec<Reservation> = found.into_iter().flatten().collect();
    if let Some(article) = missing {
        release_all(warehouse, &reservations).await?;
        return Err(OrderError::OutOfStock { article });
    }
    Ok(reservations)
}

#[durable]
async fn release_all(warehouse: &Warehouse, reservations: &[Reservation]) -> Result<(), OrderError> {
    let released = join_all(reservations.iter().map(|reservation| async move {
        step!("release", warehouse.release(reservation)).key(&reservation.article).await
    }))
    .await;
    released.into_iter().collect::<Result<(), _>>()?;
    Ok(())
}

fn main() {}
