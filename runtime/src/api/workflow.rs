//! What `#[workflow]` makes of a function: a type with a name, typed input and output, and code.

use crate::driver::code::{Code, Ended, Run, StateType, States};
use crate::failure::{Failure, IntoFailure, TypedError};
use crate::graph::Graph;
use crate::payload::{DecodeError, Storable};
use crate::shape::Shape;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::marker::PhantomData;

/// A workflow definition. `#[workflow]` implements it for a unit struct with the function's name; never implement it by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a workflow",
    label = "expected a function with `#[workflow]`",
    note = "put `#[workflow]` on the `async fn` and pass its name"
)]
pub trait Workflow: Copy + Send + Sync + 'static {
    /// The name under which instances are stored. Renaming it orphans them.
    const NAME: &'static str;
    /// The version under which instances are stored.
    const VERSION: u32;
    /// The owned parameters: nothing, the only one, or a tuple.
    type Input: Storable;
    /// The value of the returned `Ok`.
    type Output: Storable;
    /// The value of the returned `Err`.
    type Error: IntoFailure;

    /// Its checkpoints and the control flow between them, as data and as a picture. It is made at compile time.
    fn graph() -> Graph;

    /// What of its code instances in flight depend on, to compare it with a later version. It is made at compile time.
    fn shape() -> Shape;

    #[doc(hidden)]
    fn states() -> Vec<StateType>;

    #[doc(hidden)]
    fn run<'a>(input: Self::Input, states: &'a States) -> Run<'a>;
}

/// What an owned parameter of a workflow function can be. It is [`Storable`], with advice for those who meant state.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored in the journal",
    label = "not storable",
    note = "an owned parameter is input and is stored: add `#[derive(serde::Serialize, serde::Deserialize)]` to its type, which must own what it holds",
    note = "what `.state(…)` hands over is taken by reference: `mail: &Mail`"
)]
#[doc(hidden)]
pub trait StorableInput: Storable {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> StorableInput for T {}

/// The type of an owned parameter, behind a projection: one that cannot be stored is then reported by itself, and what is
/// made of it is not.
#[doc(hidden)]
pub trait WorkflowInput {
    type Stored;
}

impl<T: StorableInput> WorkflowInput for T {
    type Stored = T;
}

/// The return type of a workflow function.
#[diagnostic::on_unimplemented(
    message = "a workflow returns a `Result`, and this one returns `{Self}`",
    note = "write `-> Result<T, E>`, where `E` is any error type"
)]
#[doc(hidden)]
pub trait WorkflowResult {
    type Value;
    type Error;
    #[doc(hidden)]
    fn into_result(self) -> Result<Self::Value, Self::Error>;
}

impl<T, E> WorkflowResult for Result<T, E> {
    type Value = T;
    type Error = E;
    fn into_result(self) -> Result<T, E> {
        self
    }
}

/// Called by `#[workflow]`: boxes the future and encodes its end.
#[doc(hidden)]
pub fn run<'a, W, F>(future: F, typed: fn(&W::Error) -> Option<TypedError>) -> Run<'a>
where
    W: Workflow,
    F: Future<Output = Result<W::Output, W::Error>> + Send + 'a,
{
    Box::pin(async move {
        Ended(match future.await {
            Ok(value) => value
                .stored()
                .map_err(|error| Failure::new(format!("the output: {error}"))),
            Err(error) => {
                let typed = typed(&error);
                let error = error.into_error();
                Err(Failure::of_error(error.as_ref(), typed))
            }
        })
    })
}

/// A workflow as the driver knows it.
pub(crate) struct Registered<W>(pub(crate) PhantomData<W>);

impl<W: Workflow> Code for Registered<W> {
    fn name(&self) -> &'static str {
        W::NAME
    }

    fn version(&self) -> u32 {
        W::VERSION
    }

    fn states(&self) -> Vec<StateType> {
        W::states()
    }

    fn shape(&self) -> String {
        W::shape().to_string()
    }

    fn run<'a>(&self, input: &[u8], states: &'a States) -> Result<Run<'a>, DecodeError> {
        Ok(W::run(W::Input::restored(input)?, states))
    }
}

/// Chooses by method resolution whether an error can be kept as a value.
#[doc(hidden)]
pub struct Probe<'a, E>(pub &'a E);

/// The error implements `Serialize`.
#[doc(hidden)]
pub trait StorableError {
    fn details(&self) -> Option<TypedError>;
}

impl<E: Serialize> StorableError for &Probe<'_, E> {
    fn details(&self) -> Option<TypedError> {
        Some(TypedError::of(self.0))
    }
}

/// The error does not.
#[doc(hidden)]
pub trait PlainError {
    fn details(&self) -> Option<TypedError>;
}

impl<E> PlainError for Probe<'_, E> {
    fn details(&self) -> Option<TypedError> {
        None
    }
}
