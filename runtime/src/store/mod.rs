//! Layer 2: what an engine asks of a store, in its own words: instances, turns, signals and due times.
//!
//! The trait is synchronous and batch-shaped. One thread (the committer) writes; any thread reads. Keys, pages and files
//! are each store's own business. Absent on purpose: async, callbacks, engine types, the meaning of a journal batch (the
//! store sees bytes) and the clock (times come in as arguments).
//!
//! # The contract
//!
//! 1. [`Store::commit`] is all or nothing, in order, and durable when it returns `Ok`: power may fail one instruction
//!    later. Each write of the group is judged against the state that the writes before it leave, those of its own group
//!    included, and answered by position. A write that is refused (unknown instance, conflict, …) changes nothing and is an
//!    answer, not an error: the rest of the group is written.
//! 2. After [`CommitError::Failed`] the outcome is unknown and the store answers every further call with an error until it is
//!    opened again. After [`CommitError::Unavailable`] nothing was written and the same group may be tried again.
//! 3. Every group carries the epoch of [`Store::claim`]; a group with an older one is refused whole ([`CommitError::Fenced`]).
//! 4. [`Store::find`], [`Store::record`], [`Store::list`], [`Store::last_batch`] and [`Store::note`] show only what is durable.
//!    [`Store::load`], [`Store::ready`] and [`Store::due`] may show what a commit that is under way has written: whatever the engine does on
//!    the strength of it is committed later, so it cannot become visible before it.
//! 5. An instance is *ready* (must be looked at when a store is opened) from its start until its status is
//!    [`Status::Waiting`] or terminal; a signal whose name it waits for or a cancellation makes a waiting one ready again.
//!    It is *due* at `wake_at` while its status is [`Status::Waiting`] and it is not ready.
//!    It follows that an instance that waits for a signal which is already buffered, or that waits after a request to cancel, is
//!    ready from the start: no wake-up is lost between a turn and the commit that parks it.
//! 6. Damage is an error that names the instance; a write that cannot be judged because of it is answered
//!    [`Written::Refused`]. Nothing is repaired, dropped or recreated silently.
//! 7. Ids, signal names, deduplication keys and keys of notes have 1 to 256 bytes. A write with any other is answered [`Written::Refused`].

#[cfg(feature = "testing")]
pub mod contract;
mod error;
mod memory;
mod record;
mod rules;
#[cfg(feature = "sled")]
mod sled;

#[cfg(feature = "sled")]
pub use self::sled::{SledOptions, SledStore};
pub use error::{CommitError, ReadError, StoreOpenError};
pub use memory::MemoryStore;
pub use record::{
    Cancelled, InstanceRecord, RecordChange, Signalled, Started, Status, StoredInstance, StoredSignal, Write, Written,
};
pub(crate) use rules::NAME_BYTES_MAX;

use crate::ids::{Epoch, InstanceNumber};
use crate::time::Timestamp;

/// Keeps instances durably. See the [module](self) for the contract that every implementation keeps.
pub trait Store: Send + Sync + 'static {
    /// Raises the epoch durably and makes the caller the owner: groups of earlier owners are refused from here on.
    fn claim(&self) -> Result<Epoch, CommitError>;

    /// Writes a group, all or nothing, and returns one answer for each write, in order, when all of it is durable.
    fn commit(&self, epoch: Epoch, group: &[Write]) -> Result<Vec<Written>, CommitError>;

    /// Everything needed to replay an instance.
    fn load(&self, instance: InstanceNumber) -> Result<Option<StoredInstance>, ReadError>;

    /// The instance with this id.
    fn find(&self, id: &str) -> Result<Option<InstanceRecord>, ReadError>;

    /// The instance with this number.
    fn record(&self, instance: InstanceNumber) -> Result<Option<InstanceRecord>, ReadError>;

    /// The last batch of an instance's journal: what a finished instance ended with.
    fn last_batch(&self, instance: InstanceNumber) -> Result<Option<Vec<u8>>, ReadError>;

    /// Ready instances with numbers above `after`, in order of number, at most `limit`.
    fn ready(&self, after: Option<InstanceNumber>, limit: usize) -> Result<Vec<InstanceNumber>, ReadError>;

    /// Waiting instances with `wake_at <= until`, after the given position, in order of time then number, at most `limit`.
    fn due(
        &self,
        until: Timestamp,
        after: Option<(Timestamp, InstanceNumber)>,
        limit: usize,
    ) -> Result<Vec<(Timestamp, InstanceNumber)>, ReadError>;

    /// Instances with numbers above `after`, in order of number (which is the order of creation), at most `limit`.
    fn list(&self, after: Option<InstanceNumber>, limit: usize) -> Result<Vec<InstanceRecord>, ReadError>;

    /// The value that was noted last under this key.
    fn note(&self, key: &str) -> Result<Option<Vec<u8>>, ReadError>;

    /// Lets go of files and locks after the last commit. Every later call is an error. A second close is harmless.
    fn close(&self) -> Result<(), CommitError>;
}
