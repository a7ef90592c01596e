//! The two seams beside the store through which the world comes in: time and chance.

use crate::time::Timestamp;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, SystemTime};

/// Where an engine reads the time. The system's clock in production, a virtual one in tests.
pub trait Clock: Send + Sync + 'static {
    /// The present instant. It may jump either way.
    fn now(&self) -> Timestamp;

    /// Completes at `due`, or earlier: whoever waits looks at the clock again.
    fn wait_until(&self, due: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// Where an engine draws chance.
pub trait Entropy: Send + Sync + 'static {
    /// 64 uniform random bits.
    fn draw(&self) -> u64;
}

/// The system's clock.
pub(crate) struct SystemClock;

/// Timers of the runtime count on a monotonic clock and do not notice that the wall clock was set; so no wait is longer
/// than this before the wall clock is looked at again.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }

    fn wait_until(&self, due: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let wait = due.since(self.now()).min(LOOK_AGAIN);
        Box::pin(tokio::time::sleep(wait))
    }
}

/// The operating system's source of chance.
pub(crate) struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn draw(&self) -> u64 {
        getrandom::u64().expect("the operating system has a source of chance")
    }
}

/// A cheap stream of chance, for jitter.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The SplitMix64 step (Steele, Lea, Flood 2014).
    pub(crate) fn draw(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 32) as u32
    }
}
