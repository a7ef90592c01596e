//! Layer 0: instants and durations. Absent on purpose: reading a clock; time comes in as an argument.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An instant on the wall clock, in microseconds since 1970-01-01 00:00 UTC.
///
/// Every deadline is a `Timestamp`, fixed when it is first reached and stored, so a restart never starts it over.
/// Arithmetic saturates: the end of time is [`Timestamp::MAX`], some 584,000 years from now.
///
/// ```
/// use steadfast::{Timestamp, hours};
/// let noon = Timestamp::from_micros(1_000_000);
/// assert_eq!(noon + hours(1), Timestamp::from_micros(3_601_000_000));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The first instant, 1970-01-01 00:00 UTC.
    pub const EPOCH: Timestamp = Timestamp(0);
    /// The last instant that can be named.
    pub const MAX: Timestamp = Timestamp(u64::MAX);

    /// The instant this many microseconds after 1970-01-01 00:00 UTC.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970-01-01 00:00 UTC.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this instant is; zero if it is not after it.
    pub const fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl std::ops::Add<Duration> for Timestamp {
    type Output = Timestamp;
    fn add(self, duration: Duration) -> Timestamp {
        // Rounded up, so that a wait is never shorter than asked.
        let micros = duration.as_nanos().div_ceil(1_000);
        Timestamp(self.0.saturating_add(u64::try_from(micros).unwrap_or(u64::MAX)))
    }
}

impl From<SystemTime> for Timestamp {
    /// Instants before 1970 become [`Timestamp::EPOCH`].
    fn from(time: SystemTime) -> Self {
        Timestamp::EPOCH + time.duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

impl From<Timestamp> for SystemTime {
    fn from(timestamp: Timestamp) -> Self {
        UNIX_EPOCH
            .checked_add(Duration::from_micros(timestamp.0))
            .unwrap_or(UNIX_EPOCH)
    }
}

/// `2026-03-09 12:00:00.000 UTC`: for people; to the millisecond.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.0 / 86_400_000_000;
        let micros = self.0 % 86_400_000_000;
        let (year, month, day) = civil(days);
        let (hour, minute) = (micros / 3_600_000_000, micros / 60_000_000 % 60);
        let (second, milli) = (micros / 1_000_000 % 60, micros / 1_000 % 1_000);
        write!(
            f,
            "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{milli:03} UTC"
        )
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Days since 1970 as year, month and day of the Gregorian calendar, counted in eras of 400 years that begin in March.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// A duration of whole milliseconds.
pub const fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// A duration of whole seconds.
pub const fn secs(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// A duration of whole minutes; saturates.
pub const fn minutes(count: u64) -> Duration {
    Duration::from_secs(count.saturating_mul(60))
}

/// A duration of whole hours; saturates.
pub const fn hours(count: u64) -> Duration {
    Duration::from_secs(count.saturating_mul(3_600))
}

/// A duration of whole days of 24 hours; saturates.
pub const fn days(count: u64) -> Duration {
    Duration::from_secs(count.saturating_mul(86_400))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_reads_as_a_date() {
        assert_eq!(Timestamp::EPOCH.to_string(), "1970-01-01 00:00:00.000 UTC");
        assert_eq!(
            Timestamp::from_micros(1_709_210_096_789_000).to_string(),
            "2024-02-29 12:34:56.789 UTC"
        );
        assert!(Timestamp::MAX.to_string().starts_with("586524-"));
    }

    #[test]
    fn adding_never_wraps_and_never_shortens() {
        assert_eq!(Timestamp::MAX + days(u64::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::EPOCH + Duration::from_nanos(1), Timestamp::from_micros(1));
    }

    #[test]
    fn system_time_goes_there_and_back() {
        let instant = Timestamp::from_micros(1_709_210_096_789_123);
        assert_eq!(Timestamp::from(SystemTime::from(instant)), instant);
        assert_eq!(Timestamp::from(UNIX_EPOCH - secs(1)), Timestamp::EPOCH);
    }
}
