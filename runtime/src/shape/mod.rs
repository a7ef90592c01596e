//! The shape of a workflow: what of its code instances in flight depend on, and whether a later shape suits them.
//!
//! `tree` reads a shape's text, `compare` walks two of them. Absent on purpose: how a shape is found, which the macro does
//! when the workflow is compiled, and files, which are the test kit's.

mod compare;
mod tree;

#[cfg(test)]
mod tests;

pub use compare::Change;
pub use tree::UnreadableShape;
#[cfg(feature = "testing")]
pub(crate) use tree::heading;

use sha2::{Digest, Sha256};
use std::fmt;

/// What of a workflow's code instances in flight depend on: what [`Workflow::shape`](crate::Workflow::shape) gives.
///
/// ```
/// use steadfast::prelude::*;
/// use steadfast::Workflow;
/// # async fn charge(order: &str) -> Result<u32, BoxError> { Ok(1) }
///
/// #[workflow]
/// async fn fulfil(order: String) -> Result<u32, BoxError> {
///     let payment: u32 = step!("charge", charge(&order)).await?;
///     sleep!("cooling off", days(7)).await;
///     Ok(payment)
/// }
///
/// assert_eq!(
///     fulfil::shape().text(),
///     r#"workflow "fulfil" version 1
///   input (String)
///   output u32
///   step "charge" -> u32
///   sleep "cooling off"
/// "#
/// );
/// ```
///
/// It holds names, kinds, order and scopes of checkpoints, where ways part and loops go round, whether a checkpoint has a
/// key, whether a wait has a timeout, and types as they are written: of input and output always, of what a checkpoint gives
/// where the source says it (`let payment: u32 = step!(…)`).
///
/// It does not hold bodies of steps, retries and their timeouts, how long a sleep is, variables, formatting,
/// comments: those may change while instances are in flight. It does not hold conditions, which must go on deciding
/// the same for them.
///
/// It does not see through names either: a type that changed under the same name, and what a `#[durable]` function
/// does inside, are not in it. Nor is what decides how far code goes without a branch: a `?` that is added to a
/// checkpoint or taken away, the limit of `map_concurrent`, what a key is made of, which loop a labelled `break` or
/// `continue` leaves. Such a change can quarantine instances in flight although the shape is the same;
/// [`Builder::rehearse_all`](crate::Builder::rehearse_all) finds it when a runtime is opened.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    name: &'static str,
    version: u32,
    text: &'static str,
}

impl Shape {
    /// The stored name of the workflow.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The version of the workflow.
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// The shape in words, one line for each checkpoint.
    pub const fn text(&self) -> &'static str {
        self.text
    }

    /// A number for the text: the first eight bytes of its SHA-256. The same text gives the same number everywhere.
    pub fn fingerprint(&self) -> u64 {
        let digest = Sha256::digest(self.text);
        digest
            .iter()
            .take(8)
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// What it means for instances that were started under `recorded`, the text of an earlier shape of this workflow, that
    /// this is the code now.
    ///
    /// ```
    /// use steadfast::prelude::*;
    /// use steadfast::{Change, Workflow};
    /// # async fn charge() -> Result<u32, BoxError> { Ok(1) }
    /// # async fn thank() -> Result<u32, BoxError> { Ok(1) }
    ///
    /// #[workflow]
    /// async fn fulfil(order: String) -> Result<u32, BoxError> {
    ///     step!("charge", charge()).await?;
    ///     Ok(step!("thank", thank()).await?)
    /// }
    ///
    /// let before = "workflow \"fulfil\" version 1\n  input (String)\n  output u32\n  step \"charge\"\n";
    /// let change = fulfil::shape().compare(before)?;
    /// assert!(matches!(change, Change::Compatible(_)), "a step that is last may be added");
    ///
    /// let before = "workflow \"fulfil\" version 1\n  input (String)\n  output u32\n  step \"thank\"\n";
    /// let change = fulfil::shape().compare(before)?;
    /// assert!(matches!(change, Change::Breaking(_)), "one before it may not");
    /// # Ok::<_, steadfast::UnreadableShape>(())
    /// ```
    ///
    /// It says [`Breaking`](Change::Breaking) if some journal that the earlier code can have written would make this code
    /// diverge, and also where it cannot know: arms of a branch have no conditions in a shape.
    ///
    /// # Errors
    /// `recorded` is not the text of a shape.
    pub fn compare(&self, recorded: &str) -> Result<Change, UnreadableShape> {
        let (recorded, current) = (tree::Tree::read(recorded)?, tree::Tree::read(self.text)?);
        Ok(compare::compare(&recorded, &current))
    }
}

/// `fulfil 1 5f3c9ad2107be864`
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {:016x}", self.name, self.version, self.fingerprint())
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

/// Called by `#[workflow]`.
#[doc(hidden)]
pub const fn shape(name: &'static str, version: u32, text: &'static str) -> Shape {
    Shape { name, version, text }
}
