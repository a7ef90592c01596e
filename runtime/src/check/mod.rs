//! Finds what would be different on replay in the plain functions that workflows call (feature `check`).
//!
//! A macro sees one function. The checker reads the whole crate: it follows every workflow into the functions of the same
//! crate (by path, through `use`, as values, as methods where the type is in sight) and applies the same rules to all of
//! them. One line makes it a test:
//!
//! ```no_run
//! #[test]
//! fn workflows_are_deterministic() {
//!     steadfast::check::assert_deterministic!();
//! }
//! # fn main() {}
//! ```
//!
//! The program `steadfast` does the same for CI: `steadfast check` ends with 0 if nothing was found, 1 if something was,
//! 2 if something could not be read.
//!
//! # What it follows, and what not
//!
//! All code of a plain function counts, closures included, except the inside of `async` blocks and of `async fn`s: a
//! workflow can only await those in a step. Step bodies do not count. Not followed: methods on values whose type is not in
//! sight when the crate has several of that name, calls through a `dyn` trait with several implementations, operators,
//! `Drop` and conversions, macros of your own, and other crates, except the members of the same workspace when the
//! workspace is checked.
//!
//! # Allowing
//!
//! [`#[allow_nondeterminism(rule, reason = "…")]`](macro@crate::allow_nondeterminism) on a plain function silences one rule in its own code. One
//! that nothing needs is reported. In workflow code the same is written on the statement.
//!
//! Absent on purpose: types, and macros as the compiler sees them. What it finds is there; it does not prove that there is
//! nothing else.

mod calls;
mod common;
mod follow;
mod gather;
mod index;
mod judge;
mod manifest;
mod outline;
mod read;
mod report;
mod types;

pub use crate::__assert_deterministic as assert_deterministic;
pub use report::{Finding, Function, Place, Report, Unread};

use std::path::Path;

/// Checks the crate in this folder: its library, programs and examples. If its `Cargo.toml` has a `[workspace]`, then all
/// members.
///
/// ```
/// let report = steadfast::check::crate_at(env!("CARGO_MANIFEST_DIR"));
/// assert!(report.is_clean(), "{report}");
/// ```
///
/// What cannot be read or parsed is in [`Report::unread`]; everything else is checked all the same.
pub fn crate_at(folder: impl AsRef<Path>) -> Report {
    read::check(folder.as_ref())
}

/// Fails a test with everything that [`check::crate_at`](crate::check::crate_at) finds in the crate that the test is in.
///
/// ```no_run
/// #[test]
/// fn workflows_are_deterministic() {
///     steadfast::check::assert_deterministic!();
/// }
/// # fn main() {}
/// ```
///
/// A folder may be given: `assert_deterministic!("../service")`. Warnings do not fail the test.
#[doc(hidden)]
#[macro_export]
macro_rules! __assert_deterministic {
    () => {
        $crate::check::assert_deterministic!(::core::env!("CARGO_MANIFEST_DIR"))
    };
    ($folder:expr) => {{
        let report = $crate::check::crate_at($folder);
        ::core::assert!(report.is_clean(), "\n\n{report}");
    }};
}
