//! Layer 0: what is kept of an error. Decides what survives storage: message, causes, code, and the typed value where
//! serde allows. Absent on purpose: deciding whether something is tried again.

use crate::payload::{self, Payload};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::error::Error;
use std::fmt;

/// Any error, as step bodies and workflows may return it.
pub type BoxError = Box<dyn Error + Send + Sync + 'static>;

/// What step bodies and workflows may fail with: everything that converts into a [`BoxError`]. There is nothing to
/// implement.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a step or workflow cannot fail with `{Self}`",
    label = "not an error",
    note = "an error implements `std::error::Error` and is `Send + Sync + 'static`; `BoxError`, `anyhow::Error`, `String` and `&str` are fine too"
)]
pub trait IntoFailure: 'static {
    fn into_error(self) -> BoxError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError> + 'static> IntoFailure for E {
    fn into_error(self) -> BoxError {
        self.into()
    }
}

/// Marks an error as permanent: the step fails at once, whatever its retry policy.
///
/// The mark is found anywhere in the chain of sources, so it may be wrapped. See [`permanent`].
#[derive(Debug)]
pub struct Permanent {
    source: BoxError,
    code: Option<String>,
}

/// Marks an error as permanent, so that the step is not tried again.
///
/// ```
/// use steadfast::permanent;
/// fn parse(text: &str) -> Result<u32, steadfast::BoxError> {
///     text.parse().map_err(|error| permanent(error).code("bad_number").into())
/// }
/// assert_eq!(parse("x").unwrap_err().to_string(), "invalid digit found in string");
/// ```
pub fn permanent(error: impl Into<BoxError>) -> Permanent {
    Permanent {
        source: error.into(),
        code: None,
    }
}

impl Permanent {
    /// Gives the error a code that survives storage: [`StepError::code`](crate::StepError::code).
    #[must_use]
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }
}

impl fmt::Display for Permanent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl Error for Permanent {
    // The marked error stands in this one's place, so its own source comes next.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.source()
    }
}

/// Why a step ended without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum StepFailureKind {
    /// The body returned an error, and the policy allows no further attempt.
    Failed,
    /// The last attempt took longer than its timeout.
    TimedOut,
    /// The last attempt panicked.
    Panicked,
    /// The process died during an `at_most_once` step: it may or may not have had its effect.
    Interrupted,
    /// The result could not be stored: it is too large, or serde refused it.
    Unstorable,
}

/// What is kept of a failed attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AttemptFailure {
    pub(crate) kind: StepFailureKind,
    pub(crate) message: String,
    pub(crate) code: Option<String>,
    pub(crate) causes: Vec<String>,
}

impl AttemptFailure {
    pub(crate) fn new(kind: StepFailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            code: None,
            causes: Vec::new(),
        }
    }

    /// The second value tells whether the error is marked as permanent.
    pub(crate) fn of_error(error: &(dyn Error + 'static)) -> (Self, bool) {
        let mut mark = None;
        for link in chain(error) {
            if let Some(found) = link.downcast_ref::<Permanent>() {
                mark = Some(found);
                break;
            }
        }
        let failure = Self {
            kind: StepFailureKind::Failed,
            message: error.to_string(),
            code: mark.and_then(|mark| mark.code.clone()),
            causes: causes(error),
        };
        (failure, mark.is_some())
    }
}

/// Why a workflow ended without a result: its error, as it survives storage.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    message: String,
    code: Option<String>,
    causes: Vec<String>,
    step: Option<String>,
    attempt: Option<u32>,
    value: Option<(String, Payload)>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: None,
            causes: Vec::new(),
            step: None,
            attempt: None,
            value: None,
        }
    }

    pub(crate) fn of_error(error: &(dyn Error + 'static), typed: Option<TypedError>) -> Self {
        let mut failure = Self {
            causes: causes(error),
            ..Self::new(error.to_string())
        };
        let step = chain(error).find_map(|link| link.downcast_ref::<StepError>());
        if let Some(step) = step {
            failure.step = Some(step.step.clone());
            failure.attempt = Some(step.attempts);
            failure.code = step.failure.code.clone();
        }
        if let Some(typed) = typed {
            failure.code = typed.code.or(failure.code);
            failure.value = typed.payload.map(|payload| (typed.type_name, payload));
        }
        failure
    }

    /// The error's message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// A name to match on: the variant of the workflow's error enum if that implements `Serialize`, else the code of the
    /// step error behind it.
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// The messages of the error's sources, outermost first.
    pub fn causes(&self) -> &[String] {
        &self.causes
    }

    /// The checkpoint path of the step whose error this is, when the workflow's error has a [`StepError`] in its chain.
    pub fn step(&self) -> Option<&str> {
        self.step.as_deref()
    }

    /// The last attempt of that step.
    pub fn attempt(&self) -> Option<u32> {
        self.attempt
    }

    /// The workflow's error itself, if its type implements `Serialize` and `Deserialize`; also after a restart.
    ///
    /// `None` when the error was not storable or is of another type.
    pub fn decode<E: DeserializeOwned>(&self) -> Option<E> {
        let (type_name, payload) = self.value.as_ref()?;
        (type_name == std::any::type_name::<E>())
            .then(|| payload::decode(&payload.0).ok())
            .flatten()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for cause in &self.causes {
            write!(f, ": {cause}")?;
        }
        Ok(())
    }
}

impl Error for Failure {}

/// What could be kept of a workflow's error beside its words.
#[derive(Debug, Clone)]
pub struct TypedError {
    pub(crate) type_name: String,
    pub(crate) code: Option<String>,
    pub(crate) payload: Option<Payload>,
}

impl TypedError {
    pub(crate) fn of<E: Serialize>(error: &E) -> Self {
        Self {
            type_name: std::any::type_name::<E>().to_owned(),
            code: payload::variant_name(error).map(str::to_owned),
            payload: payload::encode(error).ok(),
        }
    }
}

/// A step ended without a result: what `step!(…).await` gives as `Err`.
///
/// It is recorded: after a restart the workflow gets the same one.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepError {
    pub(crate) step: String,
    pub(crate) attempts: u32,
    pub(crate) failure: AttemptFailure,
}

impl StepError {
    /// The checkpoint path of the step, for instance `charge` or `map[3]/{0}/pack`.
    pub fn step(&self) -> &str {
        &self.step
    }

    /// The number of the last attempt.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// What kind of trouble ended it.
    pub fn kind(&self) -> StepFailureKind {
        self.failure.kind
    }

    /// The message of the last attempt's error.
    pub fn message(&self) -> &str {
        &self.failure.message
    }

    /// The code given by [`Permanent::code`].
    pub fn code(&self) -> Option<&str> {
        self.failure.code.as_deref()
    }

    /// The messages of that error's sources, outermost first.
    pub fn causes(&self) -> &[String] {
        &self.failure.causes
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            step,
            attempts,
            failure,
        } = self;
        match failure.kind {
            StepFailureKind::Failed => write!(f, "step `{step}` failed: {}", failure.message)?,
            StepFailureKind::TimedOut => write!(f, "step `{step}` timed out: {}", failure.message)?,
            StepFailureKind::Panicked => write!(f, "step `{step}` panicked: {}", failure.message)?,
            StepFailureKind::Interrupted => write!(f, "step `{step}` was interrupted: {}", failure.message)?,
            StepFailureKind::Unstorable => {
                write!(f, "the result of step `{step}` cannot be stored: {}", failure.message)?
            }
        }
        for cause in &failure.causes {
            write!(f, ": {cause}")?;
        }
        if *attempts > 1 {
            write!(f, " (attempt {attempts})")
        } else {
            Ok(())
        }
    }
}

impl Error for StepError {}

/// A signal did not come in time: what `signal!(…).timeout(…).await` gives as `Err`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("no signal came in time")]
pub struct Elapsed;

/// Longer chains are cut, so that an error whose source is itself cannot hang the engine.
const CHAIN_MAX: usize = 32;

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |link: &&'a (dyn Error + 'static)| (*link).source()).take(CHAIN_MAX)
}

fn causes(error: &(dyn Error + 'static)) -> Vec<String> {
    chain(error).skip(1).map(ToString::to_string).collect()
}

/// What a panic said.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the export stopped")]
    struct Wrapped(#[source] BoxError);

    #[test]
    fn a_permanent_mark_is_found_below_a_wrapper() {
        let inner = permanent(std::io::Error::other("no such page")).code("no_page");
        let (failure, is_permanent) = AttemptFailure::of_error(&Wrapped(inner.into()));
        assert!(is_permanent);
        assert_eq!(failure.code.as_deref(), Some("no_page"));
        assert_eq!(failure.message, "the export stopped");
        assert_eq!(failure.causes, ["no such page"]);
    }

    #[test]
    fn a_workflow_failure_names_the_step_behind_it() {
        let failure = AttemptFailure::new(StepFailureKind::TimedOut, "took longer than 30s");
        let step = StepError {
            step: "charge".into(),
            attempts: 5,
            failure,
        };
        let failure = Failure::of_error(&Wrapped(step.into()), None);
        assert_eq!((failure.step(), failure.attempt()), (Some("charge"), Some(5)));
        assert_eq!(
            failure.to_string(),
            "the export stopped: step `charge` timed out: took longer than 30s (attempt 5)"
        );
    }

    #[test]
    fn the_numbers_of_failure_kinds_are_frozen() {
        for (number, kind) in [
            (0, StepFailureKind::Failed),
            (1, StepFailureKind::TimedOut),
            (2, StepFailureKind::Panicked),
            (3, StepFailureKind::Interrupted),
            (4, StepFailureKind::Unstorable),
        ] {
            assert_eq!(
                postcard::to_stdvec(&kind).expect("a kind encodes"),
                [number],
                "{kind:?}"
            );
        }
    }
}
