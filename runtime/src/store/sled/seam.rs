//! The one place where tests watch, break or stop a commit. In a build without the feature `testing` it is empty.

use super::pages::PAGES_MAX;
use std::io;

/// How far a commit has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommitPoint {
    /// The rows are in the tree, in memory.
    Applied,
    /// sled has written them to the file.
    Flushed,
    /// The file is on the disk.
    Synced,
}

#[cfg(test)]
type Watch = std::sync::Arc<dyn Fn(CommitPoint) -> io::Result<()> + Send + Sync>;

#[derive(Clone, Default)]
pub(super) struct Seam {
    #[cfg(any(test, feature = "testing"))]
    pub(super) without_sync: bool,
    /// Fewer pages than usual, so that short runs meet the limit.
    #[cfg(any(test, feature = "testing"))]
    pub(super) pages_max: Option<usize>,
    #[cfg(test)]
    pub(super) watch: Option<Watch>,
}

impl Seam {
    /// Whether the data file is synced: always, except in the test that shows what happens otherwise.
    pub(super) fn syncs(&self) -> bool {
        #[cfg(any(test, feature = "testing"))]
        return !self.without_sync;
        #[cfg(not(any(test, feature = "testing")))]
        true
    }

    /// How many pages may count at once.
    pub(super) fn pages_max(&self) -> usize {
        #[cfg(any(test, feature = "testing"))]
        return self.pages_max.unwrap_or(PAGES_MAX);
        #[cfg(not(any(test, feature = "testing")))]
        PAGES_MAX
    }

    /// Told before going on from `point`; an error fails the commit there.
    #[cfg_attr(not(test), allow(clippy::unnecessary_wraps))]
    pub(super) fn reach(&self, point: CommitPoint) -> io::Result<()> {
        #[cfg(test)]
        if let Some(watch) = &self.watch {
            return watch(point);
        }
        let _ = point;
        Ok(())
    }
}
