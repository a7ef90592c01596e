//! Time, chance and fresh ids that are the same on replay.
//!
//! A value follows from the instance's seed and the place in the code, so it needs no commit of its own; it is recorded with
//! the next commit all the same, as a check that the code still draws at the same places.

use crate::driver::turn;
use crate::machine::{Location, Path};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::panic::Location as Caller;

/// Called by `now!`: the instant of the event that brought the workflow here.
#[doc(hidden)]
pub fn now() -> Timestamp {
    turn::inside(|turn| turn.now())
}

/// Called by `random!`.
#[doc(hidden)]
#[track_caller]
pub fn random<T: Random>() -> T {
    T::from_chance(draw("random!", Caller::caller()))
}

/// Called by `random!(range)`.
#[doc(hidden)]
#[track_caller]
pub fn random_in<T, R: RandomRange<T>>(range: R) -> T {
    range.pick(draw("random!", Caller::caller()))
}

/// Called by `uuid!`.
#[doc(hidden)]
#[track_caller]
pub fn uuid() -> Uuid {
    let mut bytes = draw("uuid!", Caller::caller()).to_be_bytes();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    Uuid(bytes)
}

fn draw(name: &'static str, location: Location) -> u128 {
    turn::inside(|turn| {
        let path = turn.claim(name);
        let chance = chance(turn.machine.seed(), &path);
        turn.machine.draw(&path, location, (chance >> 64) as u64);
        chance
    })
}

fn chance(seed: &[u8; 16], path: &Path) -> u128 {
    let digest = Sha256::new()
        .chain_update(seed)
        .chain_update(path.as_str())
        .chain_update(b"chance")
        .finalize();
    digest
        .iter()
        .take(16)
        .fold(0, |value, byte| value << 8 | u128::from(*byte))
}

/// Types that `random!()` can draw, evenly from all their values (`f64`: from 0 to below 1).
pub trait Random {
    #[doc(hidden)]
    fn from_chance(chance: u128) -> Self;
}

/// Ranges that `random!(range)` can draw from, evenly. An empty range panics, which quarantines the instance.
pub trait RandomRange<T> {
    #[doc(hidden)]
    fn pick(self, chance: u128) -> T;
}

macro_rules! random_integers {
    ($($type:ty),*) => {$(
        impl Random for $type {
            fn from_chance(chance: u128) -> Self {
                chance as $type
            }
        }
        impl RandomRange<$type> for Range<$type> {
            fn pick(self, chance: u128) -> $type {
                assert!(self.start < self.end, "random!({}..{}) has nothing to draw from", self.start, self.end);
                let span = (self.end as i128).wrapping_sub(self.start as i128) as u128;
                (self.start as i128).wrapping_add((chance % span) as i128) as $type
            }
        }
        impl RandomRange<$type> for RangeInclusive<$type> {
            fn pick(self, chance: u128) -> $type {
                let (start, end) = self.into_inner();
                assert!(start <= end, "random!({start}..={end}) has nothing to draw from");
                let span = ((end as i128).wrapping_sub(start as i128) as u128).wrapping_add(1);
                (start as i128).wrapping_add((chance % span) as i128) as $type
            }
        }
    )*};
}

random_integers!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

impl Random for u128 {
    fn from_chance(chance: u128) -> Self {
        chance
    }
}

impl Random for i128 {
    fn from_chance(chance: u128) -> Self {
        chance as i128
    }
}

impl Random for bool {
    fn from_chance(chance: u128) -> Self {
        chance & 1 == 1
    }
}

impl Random for f64 {
    fn from_chance(chance: u128) -> Self {
        // 53 bits: every value is a multiple of 2^-53.
        (chance >> 75) as f64 / (1u64 << 53) as f64
    }
}

/// A fresh id that is the same on replay: version 4, variant 1 of RFC 9562. What [`uuid!`](crate::uuid) gives.
///
/// `uuid::Uuid::from_u128(id.as_u128())` turns it into the type of the `uuid` crate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Uuid([u8; 16]);

impl Uuid {
    /// The 16 bytes, in the order they are written.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The 16 bytes as one big-endian number.
    pub const fn as_u128(&self) -> u128 {
        u128::from_be_bytes(self.0)
    }
}

/// `67e55044-10b1-426f-9247-bb680e5fe0c8`
impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, byte) in self.0.iter().enumerate() {
            if matches!(place, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_kept_at_their_ends() {
        assert_eq!((0..1u8).pick(u128::MAX), 0);
        assert_eq!((0..=255u8).pick(255), 255);
        assert_eq!((i64::MIN..=i64::MAX).pick(0), i64::MIN);
        assert_eq!((u64::MIN..=u64::MAX).pick(u128::from(u64::MAX)), u64::MAX);
        assert_eq!((-3..3i32).pick(5), 2);
        assert!(f64::from_chance(u128::MAX) < 1.0);
    }

    #[test]
    fn chance_follows_from_seed_and_path_alone() {
        let path = Path::from("uuid!");
        assert_eq!(chance(&[1; 16], &path), chance(&[1; 16], &path));
        assert_ne!(chance(&[1; 16], &path), chance(&[2; 16], &path));
        assert_ne!(chance(&[1; 16], &path), chance(&[1; 16], &Path::from("uuid!#1")));
    }
}
