//! Writes the two functions that are compared: one with 200 steps in 1,000 lines, and the same without Steadfast.

/// One of the parts that the functions repeat; `{i}` is its number.
const PART: &str = r#"    let quote_{i} = step!("quote {i}", shop.quote(&order, {i})).await?;
    if quote_{i}.cents == 0 {
        return Err(ShopError::Nothing);
    }
    let reserved_{i} = step!("reserve {i}", {
        let lines = u32::try_from(order.lines.len()).unwrap_or(u32::MAX);
        shop.reserve(&order, lines + {i}).await
    })
    .retry(Retry::exponential(secs(1)).max_attempts(5))
    .timeout(secs(30))
    .await?;
    let mut due_{i} = quote_{i}.cents + reserved_{i};
    for line in &order.lines {
        due_{i} += step!("pack {i}", shop.pack(line)).await?;
    }
    if due_{i} > 1_000_000 {
        return Err(ShopError::TooMuch(due_{i}));
    }
    let paid_{i} = match step!("charge {i}", |attempt| shop.charge(&order, &attempt.idempotency_key(), due_{i})).await {
        Ok(payment) => payment.cents,
        Err(error) => return Err(error.into()),
    };
    let letter_{i} = format!("{} paid {} of {}", order.customer, paid_{i}, due_{i});
    step!("mail {i}", shop.mail(&letter_{i})).await?;
    total += paid_{i};
"#;

/// The same with nothing of ours in it.
const PLAIN_PART: &str = r#"    let quote_{i} = shop.quote(&order, {i}).await?;
    if quote_{i}.cents == 0 {
        return Err(ShopError::Nothing);
    }
    let reserved_{i} = {
        let lines = u32::try_from(order.lines.len()).unwrap_or(u32::MAX);
        shop.reserve(&order, lines + {i}).await?
    };
    let mut due_{i} = quote_{i}.cents + reserved_{i};
    for line in &order.lines {
        due_{i} += shop.pack(line).await?;
    }
    if due_{i} > 1_000_000 {
        return Err(ShopError::TooMuch(due_{i}));
    }
    let paid_{i} = match shop.charge(&order, &key({i}), due_{i}).await {
        Ok(payment) => payment.cents,
        Err(error) => return Err(error.into()),
    };
    let letter_{i} = format!("{} paid {} of {}", order.customer, paid_{i}, due_{i});
    shop.mail(&letter_{i}).await?;
    total += paid_{i};
"#;

const PARTS: usize = 40;
const STEPS_OF_A_PART: usize = 5;

/// How many steps the workflow has.
pub(crate) const STEPS: usize = PARTS * STEPS_OF_A_PART;

/// How many lines it has, without its first and last.
pub(crate) fn lines() -> usize {
    PARTS * PART.lines().count()
}

/// A crate with the workflow.
pub(crate) fn durable() -> String {
    let around = r"
use steadfast::prelude::*;

impl From<StepError> for ShopError {
    fn from(error: StepError) -> Self {
        Self::Call(error.to_string())
    }
}

#[workflow]
";
    format!("{}{around}{}", include_str!("shop.rs"), function(PART))
}

/// A crate with the plain function, which is checked to be `Send` as a workflow is.
pub(crate) fn plain() -> String {
    let around = r"
fn key(part: u32) -> String {
    part.to_string()
}

pub fn check(order: Order, shop: &Shop) {
    fn sendable<T: Send>(_: T) {}
    sendable(fulfil(order, shop));
}

";
    format!("{}{around}{}", include_str!("shop.rs"), function(PLAIN_PART))
}

fn function(part: &str) -> String {
    let parts: String = (1..=PARTS).map(|i| part.replace("{i}", &i.to_string())).collect();
    format!(
        "pub async fn fulfil(order: Order, shop: &Shop) -> Result<u32, ShopError> {{\n    let mut total = 0;\n{parts}    Ok(total)\n}}\n"
    )
}
