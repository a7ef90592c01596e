//! Long-running workflows as plain async functions.
mod ids;
pub mod store;
mod time;

pub use ids::{Epoch, InstanceNumber};
pub use time::{Timestamp, days, hours, millis, minutes, secs};
