//! Documentation, lint levels, deprecation and `#[cfg]` go where they belong.
#![deny(warnings, missing_docs)]

use steadfast::prelude::*;

/// Documented, and so is the struct.
///
/// # Errors
/// None.
#[allow(unused_variables)]
#[workflow]
pub async fn documented(unused: u32) -> Result<(), BoxError> {
    let also_unused = 1;
    Ok(())
}

/// The attribute may come first.
#[workflow]
#[allow(unused_variables)]
#[expect(unused_mut, reason = "to see that it is fulfilled exactly once")]
pub async fn below(unused: u32) -> Result<(), BoxError> {
    let mut never_changed = 1;
    let _ = never_changed;
    Ok(())
}

/// Not compiled at all.
#[workflow]
#[cfg(any())]
pub async fn absent(input: Missing) -> Result<Missing, Missing> {
    missing!()
}

/// Compiled when there is no other.
#[workflow]
#[cfg(not(any()))]
pub async fn absent() -> Result<(), BoxError> {
    #[cfg(any())]
    missing!();
    let number = step!("number", { Ok(1) }).await?;
    let _: u32 = match number {
        #[cfg(any())]
        Missing => 1,
        other => other,
    };
    #[cfg(any())]
    {
        step!("missing", missing()).await?;
    }
    Ok(())
}

#[deprecated = "use `documented`"]
/// Old.
#[workflow]
pub async fn old() -> Result<(), BoxError> {
    Ok(())
}

/// State and helper parameters may depend on `#[cfg]`.
#[workflow]
pub async fn conditional(input: u32, #[cfg(any())] state: &Missing, #[cfg(not(any()))] state: &u32) -> Result<u32, BoxError> {
    Ok(conditional_helper(input + state, #[cfg(not(any()))] 1).await)
}

#[durable]
#[must_use]
#[inline]
async fn conditional_helper(number: u32, #[cfg(any())] other: Missing, #[cfg(not(any()))] other: u32) -> u32 {
    number + other
}

mod inner {
    use super::*;

    #[workflow]
    pub(in crate::inner) async fn restricted() -> Result<(), BoxError> {
        Ok(())
    }

    pub fn use_it() {
        let _ = restricted;
    }
}

fn main() {
    inner::use_it();
}
