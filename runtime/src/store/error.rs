//! What can go wrong in a store, and what is true afterwards.

use crate::ids::{Epoch, InstanceNumber};

/// Opening a store failed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreOpenError {
    /// Another process, or another handle of this one, has the store open.
    #[error("the store at {path} is already open, here or in another process")]
    InUse {
        /// The folder of the store.
        path: String,
    },
    /// A later version of Steadfast wrote the store.
    #[error(
        "the store has format {found}, and this version of Steadfast reads up to {supported}; open it with a newer version"
    )]
    NewerFormat {
        /// The format of the store.
        found: u32,
        /// The newest format that this version reads.
        supported: u32,
    },
    /// Commits that were acknowledged are missing: the disk or a copy lost them.
    #[error(
        "the store ends at commit {found}, but commit {acknowledged} was acknowledged: data was lost; restore a copy, or open with the loss accepted"
    )]
    TailLost {
        /// The last commit that is there.
        found: u64,
        /// The last commit that was acknowledged.
        acknowledged: u64,
    },
    /// The files are not what was written.
    #[error("the store is damaged: {reason}")]
    Damaged {
        /// What was found.
        reason: String,
    },
    /// The operating system refused.
    #[error("the store at {path} cannot be opened: {source}")]
    Io {
        /// The folder of the store.
        path: String,
        /// The operating system's word.
        source: std::io::Error,
    },
}

/// A commit was not acknowledged.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// Nothing was written. The same group may be tried again.
    #[error("the store cannot write now ({reason}); nothing was written")]
    Unavailable {
        /// What the store said.
        reason: String,
    },
    /// Nothing was written: another owner has claimed the store.
    #[error("another owner has claimed the store (epoch {current}, ours {ours}); nothing was written")]
    Fenced {
        /// The epoch of the group.
        ours: Epoch,
        /// The epoch of the present owner.
        current: Epoch,
    },
    /// The group may or may not be on disk. The store answers nothing more until it is opened again.
    #[error("the store has failed ({reason}); whether the last commit is on disk is unknown until it is opened again")]
    Failed {
        /// What the store said.
        reason: String,
    },
}

/// A read gave no answer. Nothing changed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Bytes on disk are not what was written.
    #[error("instance {instance} is damaged in the store: {reason}")]
    Damaged {
        /// Whose data it is.
        instance: InstanceNumber,
        /// What was found.
        reason: String,
    },
    /// The store has failed or was closed.
    #[error("the store does not answer: {reason}")]
    Unavailable {
        /// Why.
        reason: String,
    },
}
