//! What the cases are compared with: the same disk and the same bytes, without an engine.

mod committers;
mod decode;
mod disk;

pub(crate) use committers::{GROUP_MAX, full_groups, pages, starts, store};
pub(crate) use decode::decode;
pub(crate) use disk::{append, overwrite};
