//! Decides whether a step that failed is tried again, and how long to wait first. Absent on purpose: clocks and
//! chance, which come in as arguments, and the question whether an error may be retried at all, which is the step's.

use std::fmt;
use std::time::Duration;

/// No policy waits less than this, so that a failing step cannot spin.
const DELAY_MIN: Duration = Duration::from_millis(1);
const FIRST_DELAY: Duration = Duration::from_secs(1);
const FACTOR: f64 = 2.0;
const CAP: Duration = Duration::from_secs(60);
const JITTER: f64 = 0.5;
const MAX_ATTEMPTS: u32 = 5;
const UNLIMITED: u32 = u32::MAX;

/// How a step is tried again after a failed attempt.
///
/// | | [`fixed(d)`](Retry::fixed) | [`linear(d)`](Retry::linear) | [`exponential(d)`](Retry::exponential) |
/// |---|---|---|---|
/// | delay after the nth failure | `d` | `d · n` | `d · factor^(n-1)` |
/// | [`factor`](Retry::factor) | – | – | 2 |
/// | [`cap`](Retry::cap) | – | 60 s, or `d` if that is longer | 60 s, or `d` if that is longer |
/// | [`jitter`](Retry::jitter) | 0 | 0.5 | 0.5 |
/// | [`max_attempts`](Retry::max_attempts) | 5 | 5 | 5 |
///
/// A step without a policy uses [`Retry::default()`], which is `Retry::exponential(secs(1))`: five attempts, about one,
/// two, four and eight seconds apart.
///
/// A delay is never shorter than one millisecond and never longer than [`Duration::MAX`], whatever the numbers are:
/// a delay, cap or factor that makes no sense is moved to the nearest one that does. The instant of the next attempt
/// is fixed when an attempt fails and stored, so a restart neither forgets a delay nor starts it over.
///
/// ```
/// use steadfast::{Retry, hours, secs};
/// let patient = Retry::exponential(secs(1)).cap(hours(1)).max_attempts(20);
/// assert_eq!(patient.to_string(), "exponential from 1 s, factor 2, cap 3600 s, jitter 50 %, at most 20 attempts");
/// assert_eq!(Retry::default(), Retry::exponential(secs(1)));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a policy does nothing until it is given to a step with `.retry(..)`"]
pub struct Retry {
    growth: Growth,
    /// Between `DELAY_MIN` and `Duration::MAX`, as `cap` is.
    first: Duration,
    cap: Duration,
    /// From 0 to 1.
    jitter: f64,
    max_attempts: u32,
}

#[derive(Clone, Debug, PartialEq)]
enum Growth {
    Fixed,
    Linear,
    /// The factor is finite and at least 1.
    Exponential(f64),
}

/// Five attempts, exponential from one second: see the table at [`Retry`].
impl Default for Retry {
    fn default() -> Self {
        Retry::exponential(FIRST_DELAY)
    }
}

impl Retry {
    /// One attempt: the first failure is final.
    pub fn none() -> Self {
        Retry::fixed(FIRST_DELAY).max_attempts(1)
    }

    /// The same delay after every failure.
    pub fn fixed(delay: Duration) -> Self {
        Retry {
            jitter: 0.0,
            ..Retry::growing(Growth::Fixed, delay)
        }
    }

    /// A delay that grows by `step` with every failure: `step`, twice `step`, three times `step`.
    pub fn linear(step: Duration) -> Self {
        Retry::growing(Growth::Linear, step)
    }

    /// A delay that starts at `first` and is multiplied by [`factor`](Retry::factor) with every further failure.
    pub fn exponential(first: Duration) -> Self {
        Retry::growing(Growth::Exponential(FACTOR), first)
    }

    fn growing(growth: Growth, first: Duration) -> Self {
        let first = first.max(DELAY_MIN);
        Retry {
            growth,
            first,
            cap: first.max(CAP),
            jitter: JITTER,
            max_attempts: MAX_ATTEMPTS,
        }
    }

    /// What an exponential delay is multiplied by; the other policies have no factor and ignore it.
    ///
    /// Delays never shrink: a factor below 1, or one that is not a number, counts as 1.
    pub fn factor(mut self, factor: f64) -> Self {
        if let Growth::Exponential(current) = &mut self.growth {
            *current = if factor >= 1.0 { factor.min(f64::MAX) } else { 1.0 };
        }
        self
    }

    /// The longest delay, the first one included.
    pub fn cap(mut self, cap: Duration) -> Self {
        self.cap = cap.max(DELAY_MIN);
        self
    }

    /// How much of a delay is left to chance, from 0 (none) to 1 (all of it).
    ///
    /// The delay is drawn evenly between `delay · (1 - ratio)` and `delay`, so that instances which failed together do
    /// not come back together. Jitter only shortens; the cap holds. A ratio outside of 0 to 1 is moved to the nearer end,
    /// and one that is not a number counts as 0.
    pub fn jitter(mut self, ratio: f64) -> Self {
        self.jitter = if ratio >= 0.0 { ratio.min(1.0) } else { 0.0 };
        self
    }

    /// How often the body runs at most, the first attempt included.
    ///
    /// The first attempt always runs, so 0 means the same as 1: no retry. `u32::MAX` means without limit.
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts.max(1);
        self
    }

    /// How long to wait after this many failed attempts, or `None` when no attempt is left.
    ///
    /// `chance` is an even draw from all of `u32`; the delay depends on nothing else that is not an argument.
    pub(crate) fn delay_after(&self, failures: u32, chance: u32) -> Option<Duration> {
        if failures >= self.max_attempts && self.max_attempts != UNLIMITED {
            return None;
        }
        let full = match self.growth {
            Growth::Fixed => self.first,
            Growth::Linear => self.first.saturating_mul(failures.max(1)),
            Growth::Exponential(factor) => scaled(self.first, factor.powf(f64::from(failures.saturating_sub(1)))),
        };
        let full = full.min(self.cap);
        let shortened_by = scaled(full, self.jitter * f64::from(chance) / f64::from(u32::MAX));
        Some(full.saturating_sub(shortened_by).max(DELAY_MIN))
    }
}

/// The product, or the longest duration when there is none that long. `by` is not negative and not a NaN.
fn scaled(duration: Duration, by: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * by).unwrap_or(Duration::MAX)
}

/// For the history: `exponential from 1 s, factor 2, cap 60 s, jitter 50 %, at most 5 attempts`.
impl fmt::Display for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.max_attempts == 1 {
            return f.write_str("no retry");
        }
        let (first, cap) = (Spaced(self.first), Spaced(self.cap));
        match self.growth {
            Growth::Fixed => write!(f, "fixed {}", Spaced(self.first.min(self.cap)))?,
            Growth::Linear => write!(f, "linear from {first}, cap {cap}")?,
            Growth::Exponential(factor) => write!(f, "exponential from {first}, factor {factor}, cap {cap}")?,
        }
        if self.jitter > 0.0 {
            write!(f, ", jitter {:.0} %", self.jitter * 100.0)?;
        }
        match self.max_attempts {
            UNLIMITED => f.write_str(", without limit"),
            attempts => write!(f, ", at most {attempts} attempts"),
        }
    }
}

/// A duration as people write it: `1.5 s` for what `Debug` calls `1.5s`.
struct Spaced(Duration);

impl fmt::Display for Spaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = format!("{:?}", self.0);
        let number = written.trim_end_matches(char::is_alphabetic);
        write!(f, "{number} {}", written.strip_prefix(number).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{millis, minutes, secs};
    use proptest::prelude::*;

    fn delays(policy: &Retry, chance: u32) -> Vec<Duration> {
        (1..)
            .map_while(|failures| policy.delay_after(failures, chance))
            .collect()
    }

    #[test]
    fn the_default_is_five_attempts_one_two_four_eight_seconds_apart() {
        assert_eq!(delays(&Retry::default(), 0), [secs(1), secs(2), secs(4), secs(8)]);
        assert_eq!(
            delays(&Retry::default(), u32::MAX),
            [millis(500), secs(1), secs(2), secs(4)]
        );
    }

    #[test]
    fn fixed_stays_linear_adds_exponential_multiplies() {
        assert_eq!(delays(&Retry::fixed(secs(3)), u32::MAX), [secs(3); 4]);
        assert_eq!(
            delays(&Retry::linear(secs(3)), 0),
            [secs(3), secs(6), secs(9), secs(12)]
        );
        let tripling = Retry::exponential(secs(2)).factor(3.0).max_attempts(6).cap(secs(100));
        assert_eq!(delays(&tripling, 0), [secs(2), secs(6), secs(18), secs(54), secs(100)]);
    }

    #[test]
    fn the_default_cap_never_cuts_the_first_delay_but_an_explicit_one_does() {
        assert_eq!(Retry::exponential(minutes(5)).delay_after(1, 0), Some(minutes(5)));
        assert_eq!(Retry::fixed(minutes(5)).delay_after(4, 0), Some(minutes(5)));
        assert_eq!(Retry::fixed(minutes(5)).cap(secs(1)).delay_after(1, 0), Some(secs(1)));
    }

    #[test]
    fn the_first_attempt_always_runs_and_no_limit_never_gives_up() {
        assert_eq!(Retry::none().delay_after(1, 0), None);
        assert_eq!(Retry::default().max_attempts(0).delay_after(1, 0), None);
        assert_eq!(Retry::default().max_attempts(0), Retry::default().max_attempts(1));
        assert_eq!(
            Retry::fixed(secs(1)).max_attempts(u32::MAX).delay_after(u32::MAX, 0),
            Some(secs(1))
        );
    }

    #[test]
    fn a_policy_reads_as_a_sentence() {
        let plain = Retry::default().jitter(0.0);
        assert_eq!(
            plain.to_string(),
            "exponential from 1 s, factor 2, cap 60 s, at most 5 attempts"
        );
        assert_eq!(Retry::none().to_string(), "no retry");
        assert_eq!(
            Retry::fixed(millis(1_500)).max_attempts(u32::MAX).to_string(),
            "fixed 1.5 s, without limit"
        );
        assert_eq!(
            Retry::linear(Duration::from_micros(2_500)).to_string(),
            "linear from 2.5 ms, cap 60 s, jitter 50 %, at most 5 attempts"
        );
    }

    fn any_delay() -> impl Strategy<Value = Duration> {
        prop_oneof![
            Just(Duration::ZERO),
            Just(Duration::from_nanos(1)),
            Just(Duration::MAX),
            (any::<u64>(), 0..1_000_000_000_u32).prop_map(|(secs, nanos)| Duration::new(secs, nanos)),
            (0..10_000_u64).prop_map(Duration::from_millis),
        ]
    }

    fn any_count() -> impl Strategy<Value = u32> {
        prop_oneof![Just(0), Just(u32::MAX), 0..20_u32, any::<u32>()]
    }

    /// Any bit pattern: NaN, infinities, subnormals, negatives.
    fn any_float() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<u64>().prop_map(f64::from_bits),
            Just(f64::NAN),
            Just(f64::INFINITY),
            -2.0..4.0
        ]
    }

    fn any_policy() -> impl Strategy<Value = Retry> {
        let base = (0..3_u8, any_delay()).prop_map(|(kind, delay)| match kind {
            0 => Retry::fixed(delay),
            1 => Retry::linear(delay),
            _ => Retry::exponential(delay),
        });
        (
            base,
            proptest::option::of(any_float()),
            proptest::option::of(any_delay()),
            proptest::option::of(any_float()),
            proptest::option::of(any_count()),
        )
            .prop_map(|(mut policy, factor, cap, jitter, attempts)| {
                policy = factor.map_or(policy.clone(), |factor| policy.factor(factor));
                policy = cap.map_or(policy.clone(), |cap| policy.cap(cap));
                policy = jitter.map_or(policy.clone(), |jitter| policy.jitter(jitter));
                attempts.map_or(policy.clone(), |attempts| policy.max_attempts(attempts))
            })
    }

    proptest! {
        #[test]
        fn a_delay_is_at_least_the_minimum_and_at_most_the_cap(
            policy in any_policy(), failures in any_count(), chance in any_count(),
        ) {
            if let Some(delay) = policy.delay_after(failures, chance) {
                prop_assert!(delay >= DELAY_MIN, "{delay:?}");
                prop_assert!(delay <= policy.cap, "{delay:?} with {policy}");
            }
        }

        #[test]
        fn chance_only_shortens_and_never_below_the_ratio(
            policy in any_policy(), failures in any_count(), chance in any_count(),
        ) {
            if let (Some(full), Some(drawn)) = (policy.delay_after(failures, 0), policy.delay_after(failures, chance)) {
                prop_assert!(drawn <= full);
                let least = full.as_secs_f64() * (1.0 - policy.jitter);
                prop_assert!(drawn.as_secs_f64() >= least * (1.0 - 1e-9) - 1e-9, "{drawn:?} of {full:?} with {policy}");
            }
        }

        #[test]
        fn without_chance_a_delay_never_shrinks_with_more_failures(policy in any_policy(), failures in 0..u32::MAX) {
            let policy = policy.max_attempts(u32::MAX);
            prop_assert!(policy.delay_after(failures, 0) <= policy.delay_after(failures + 1, 0));
        }

        #[test]
        fn giving_up_depends_only_on_the_number_of_attempts(policy in any_policy(), failures in 1..=u32::MAX) {
            let limit = policy.max_attempts;
            let gives_up = policy.delay_after(failures, 0).is_none();
            prop_assert_eq!(gives_up, limit != u32::MAX && failures >= limit);
        }

        #[test]
        fn every_policy_equals_itself_and_can_be_read(policy in any_policy()) {
            prop_assert_eq!(&policy, &policy.clone());
            prop_assert!(!policy.to_string().contains("NaN"));
        }
    }
}
