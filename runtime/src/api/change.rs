//! What stands in code that was changed while instances are in flight. What each means is decided in `machine/change.rs`.

use super::durable::DurableFuture;
use super::wait::WaitLease;
use crate::driver::turn;
use crate::machine::{CheckpointKind, Location, Path};
use std::fmt::Display;
use std::panic::Location as Caller;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Called by `patched!`.
#[doc(hidden)]
#[track_caller]
#[must_use = "whether the instance runs the code after the change decides what it does next"]
pub fn patched(id: &'static str) -> bool {
    let location = Caller::caller();
    turn::inside(|turn| turn.machine.patched(id, location))
}

/// Called by `retired!`.
#[doc(hidden)]
pub fn retired(id: &'static str) {
    turn::inside(|turn| turn.machine.retired(id));
}

/// The place of a checkpoint that is gone: what [`removed!`](crate::removed) gives.
#[must_use = "what an instance has recorded of the checkpoint is passed only when this is awaited"]
pub struct Removed {
    kind: CheckpointKind,
    name: &'static str,
    path: Path,
    location: Location,
    lease: WaitLease,
}

/// Called by `removed!("name")`.
#[doc(hidden)]
#[track_caller]
pub fn removed_step(name: &'static str) -> Removed {
    Removed::new(CheckpointKind::Step, name, Caller::caller())
}

/// Called by `removed!(sleep "name")`.
#[doc(hidden)]
#[track_caller]
pub fn removed_sleep(name: &'static str) -> Removed {
    Removed::new(CheckpointKind::Sleep, name, Caller::caller())
}

/// Called by `removed!(signal "name")`.
#[doc(hidden)]
#[track_caller]
pub fn removed_signal(name: &'static str) -> Removed {
    Removed::new(CheckpointKind::Signal, name, Caller::caller())
}

impl Removed {
    fn new(kind: CheckpointKind, name: &'static str, location: Location) -> Self {
        Removed {
            kind,
            name,
            path: turn::inside(|turn| turn.claim(name)),
            location,
            lease: WaitLease::default(),
        }
    }

    /// The key that the step or the wait for a signal had, if it had one.
    #[track_caller]
    pub fn key(mut self, key: impl Display) -> Self {
        self.location = Caller::caller();
        self.path = turn::inside(|turn| turn.claim_key(self.name, &key.to_string(), self.location));
        self
    }
}

#[diagnostic::do_not_recommend]
impl DurableFuture for Removed {
    type Output = ();

    fn poll_durable(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let (kind, path, location) = (this.kind, &this.path, this.location);
        this.lease
            .poll(context, |turn| turn.machine.open_removed(kind, path.clone(), location))
            .map(|_| ())
    }
}
