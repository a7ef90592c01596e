//! The two seams beside the store through which the world comes in: time and chance.

use crate::time::Timestamp;
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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
        // As `Timestamp::from`, rounded up, in half the time: it is read several times a step.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let micros = since.as_secs().saturating_mul(1_000_000);
        Timestamp::from_micros(micros.saturating_add(u64::from(since.subsec_nanos().div_ceil(1_000))))
    }

    fn wait_until(&self, due: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let wait = due.since(self.now()).min(LOOK_AGAIN);
        Box::pin(tokio::time::sleep(wait))
    }
}

/// The operating system's source of chance.
pub(crate) struct SystemEntropy;

/// How much chance is asked for at once: asking is a call of the system.
const DRAWN_AT_ONCE: usize = 256;

thread_local! {
    static DRAWN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Entropy for SystemEntropy {
    fn draw(&self) -> u64 {
        DRAWN.with_borrow_mut(|drawn| {
            if drawn.is_empty() {
                drawn.resize(DRAWN_AT_ONCE, 0);
                getrandom::fill(drawn).expect("the operating system has a source of chance");
            }
            let rest = drawn.len().saturating_sub(size_of::<u64>());
            // What was given once is gone from here.
            drawn
                .drain(rest..)
                .fold(0, |value, byte| value << u8::BITS | u64::from(byte))
        })
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
