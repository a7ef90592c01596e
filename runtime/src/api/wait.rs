//! Sleeps and waits for signals.

use super::durable::{DurableFuture, IntoDurable};
use crate::driver::turn;
use crate::failure::Elapsed;
use crate::machine::{Delivery, Fault, Location, OpenNo, Path};
use crate::payload::{DecodeError, Payload, Storable};
use crate::time::Timestamp;
use std::any::TypeId;
use std::fmt::Display;
use std::panic::Location as Caller;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

/// How long to sleep: a `Duration` from now, or until a `Timestamp` or `SystemTime`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a time: write `secs(3)`, a `Duration`, a `Timestamp` or a `SystemTime`",
    label = "neither a duration nor an instant"
)]
pub trait IntoDeadline {
    #[doc(hidden)]
    fn deadline(self, now: Timestamp) -> Timestamp;
}

impl IntoDeadline for Duration {
    fn deadline(self, now: Timestamp) -> Timestamp {
        now + self
    }
}

impl IntoDeadline for Timestamp {
    fn deadline(self, _: Timestamp) -> Timestamp {
        self
    }
}

impl IntoDeadline for SystemTime {
    fn deadline(self, _: Timestamp) -> Timestamp {
        self.into()
    }
}

/// The place of a wait in the machine; given back when dropped.
#[derive(Default)]
pub(super) struct WaitLease(Option<OpenNo>);

impl Drop for WaitLease {
    fn drop(&mut self) {
        if let Some(open) = self.0
            && !std::thread::panicking()
        {
            turn::with(|turn| {
                turn.machine.dropped(open);
                turn.forget(open);
            });
        }
    }
}

impl WaitLease {
    /// Begins the wait with the first poll, and gives its answer.
    pub(super) fn poll(
        &mut self,
        context: &mut Context<'_>,
        begin: impl FnOnce(&mut turn::Turn) -> OpenNo,
    ) -> Poll<Delivery> {
        turn::inside(|turn| {
            let open = *self.0.get_or_insert_with(|| begin(turn));
            match turn.machine.take(open) {
                Some(delivery) => Poll::Ready(delivery),
                None => {
                    turn.register(open, context.waker());
                    Poll::Pending
                }
            }
        })
    }
}

/// A sleep: what [`sleep!`](crate::sleep) gives. Its end is an instant, fixed when it is first reached and stored.
#[must_use = "a sleep does nothing until it is awaited"]
pub struct Sleep {
    path: Path,
    location: Location,
    due: Timestamp,
    lease: WaitLease,
}

/// Called by `sleep!`.
#[doc(hidden)]
#[track_caller]
pub fn sleep(name: &'static str, duration: impl IntoDeadline) -> Sleep {
    let location = Caller::caller();
    turn::inside(|turn| Sleep {
        path: turn.claim(name),
        location,
        due: duration.deadline(turn.now()),
        lease: WaitLease(None),
    })
}

#[diagnostic::do_not_recommend]
impl DurableFuture for Sleep {
    type Output = ();

    fn poll_durable(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let (path, location, due) = (&this.path, this.location, this.due);
        this.lease
            .poll(context, |turn| turn.machine.open_sleep(path.clone(), location, due))
            .map(|_| ())
    }
}

/// A wait for a signal: what [`signal!`](crate::signal) gives.
///
/// Signals are buffered from the start of the instance on and consumed in the order they were accepted, per name.
#[must_use = "a wait for a signal does nothing until it is awaited"]
pub struct SignalWait<T> {
    name: &'static str,
    path: Path,
    location: Location,
    deadline: Option<Timestamp>,
    lease: WaitLease,
    // Brought along from where the type was checked, so that it is not reported once more at the `.await`.
    check: fn(&[u8]) -> Result<(), String>,
    restore: fn(Payload) -> Result<T, DecodeError>,
}

/// Called by `signal!`.
#[doc(hidden)]
#[track_caller]
pub fn signal<T: Storable>(name: &'static str) -> SignalWait<T> {
    let location = Caller::caller();
    turn::inside(|turn| {
        (turn.on_wait)(name, TypeId::of::<T>(), check::<T>);
        SignalWait {
            name,
            path: turn.claim(name),
            location,
            deadline: None,
            lease: WaitLease(None),
            check: check::<T>,
            restore: T::restored_from,
        }
    })
}

fn check<T: Storable>(bytes: &[u8]) -> Result<(), String> {
    T::restored(bytes).map(|_| ()).map_err(|error| error.to_string())
}

impl<T> SignalWait<T> {
    /// Gives up at an instant, which is fixed now and stored; the wait then gives `Err(Elapsed)`. If a signal is there when
    /// the instant comes, the signal wins.
    pub fn timeout(mut self, timeout: impl IntoDeadline) -> TimedSignal<T> {
        self.deadline = Some(turn::inside(|turn| timeout.deadline(turn.now())));
        TimedSignal { wait: self }
    }

    /// Names the wait by a key instead of by how often its name came before.
    #[track_caller]
    pub fn key(mut self, key: impl Display) -> Self {
        self.location = Caller::caller();
        self.path = turn::inside(|turn| turn.claim_key(self.name, &key.to_string(), self.location));
        self
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let Self {
            name,
            path,
            location,
            deadline,
            lease,
            check,
            restore,
        } = self;
        let polled = lease.poll(context, |turn| {
            turn.machine.open_wait(path.clone(), location, name, *deadline, *check)
        });
        match polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Delivery::Signal(payload)) => match restore(payload) {
                Ok(value) => Poll::Ready(Some(value)),
                Err(error) => {
                    let message = format!("the signal received by `{path}` cannot be read: {error}");
                    turn::inside(|turn| turn.machine.set_fault(Fault::bad_data(message)));
                    Poll::Pending
                }
            },
            Poll::Ready(Delivery::Elapsed | Delivery::SleepEnded | Delivery::Step(_) | Delivery::Passed) => {
                Poll::Ready(None)
            }
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T> DurableFuture for SignalWait<T> {
    type Output = T;

    fn poll_durable(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        match self.get_mut().poll(context) {
            Poll::Ready(Some(value)) => Poll::Ready(value),
            // Without a deadline nothing elapses.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

/// A wait for a signal that gives up in time: what [`SignalWait::timeout`] gives.
#[must_use = "a wait for a signal does nothing until it is awaited"]
pub struct TimedSignal<T> {
    wait: SignalWait<T>,
}

#[diagnostic::do_not_recommend]
impl<T> IntoDurable for TimedSignal<T> {
    type Output = Result<T, Elapsed>;
    type Durable = TimedSignalFuture<T>;

    fn into_durable(self) -> TimedSignalFuture<T> {
        TimedSignalFuture { wait: self.wait }
    }
}

impl<T> TimedSignal<T> {
    /// See [`SignalWait::key`].
    #[track_caller]
    pub fn key(self, key: impl Display) -> Self {
        TimedSignal {
            wait: self.wait.key(key),
        }
    }
}

/// A timed wait that is being awaited.
#[doc(hidden)]
pub struct TimedSignalFuture<T> {
    wait: SignalWait<T>,
}

#[diagnostic::do_not_recommend]
impl<T> DurableFuture for TimedSignalFuture<T> {
    type Output = Result<T, Elapsed>;

    fn poll_durable(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().wait.poll(context).map(|value| value.ok_or(Elapsed))
    }
}
