//! Workflow code as the driver sees it: a name, a version, the states it borrows and a future to poll.

use crate::failure::{Failure, panic_message};
use crate::machine::{EventKind, Fault};
use crate::payload::{DecodeError, Payload};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;

/// A registered workflow without its types.
pub(crate) trait Code: Send + Sync {
    fn name(&self) -> &'static str;
    fn version(&self) -> u32;
    fn states(&self) -> Vec<StateType>;
    /// Tells code that reaches other checkpoints apart, as far as its source shows.
    fn shape(&self) -> String;
    fn run<'a>(&self, input: &[u8], states: &'a States) -> Result<Run<'a>, DecodeError>;
}

/// A workflow future, its end encoded.
#[doc(hidden)]
pub type Run<'a> = Pin<Box<dyn Future<Output = Ended> + Send + 'a>>;

/// How a workflow function ended.
#[doc(hidden)]
#[derive(Debug)]
pub struct Ended(pub(crate) Result<Payload, Failure>);

impl Ended {
    /// What the journal ends with.
    pub(super) fn into_event(self) -> EventKind {
        match self.0 {
            Ok(output) => EventKind::Completed { output },
            Err(failure) => EventKind::Failed { failure },
        }
    }
}

/// The workflow's future, made from its stored input.
pub(super) fn call<'a>(code: &dyn Code, input: &Payload, states: &'a States) -> Result<Run<'a>, Fault> {
    catch_unwind(AssertUnwindSafe(|| code.run(&input.0, states)))
        .map_err(|panic| panicked(panic.as_ref()))?
        .map_err(|error| Fault::bad_data(format!("the input cannot be read: {error}")))
}

/// The workflow's own code panicked.
pub(super) fn panicked(panic: &(dyn Any + Send)) -> Fault {
    Fault::defect(format!("the workflow panicked: {}", panic_message(panic)))
}

/// The type of a reference parameter.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct StateType {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
}

impl StateType {
    /// The state that a parameter `&T` asks for.
    #[doc(hidden)]
    pub fn of<T: Any + Send + Sync>() -> Self {
        Self {
            id: TypeId::of::<T>(),
            name: std::any::type_name::<T>(),
        }
    }
}

/// What was handed to `.state(…)`, by type.
#[doc(hidden)]
#[derive(Default)]
pub struct States {
    // Looked up by type, never iterated.
    by_type: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
}

impl States {
    /// Whether there was one of this type already.
    pub(crate) fn insert<T: Any + Send + Sync>(&mut self, state: T) -> bool {
        self.by_type.insert(TypeId::of::<T>(), Box::new(state)).is_some()
    }

    pub(crate) fn contains(&self, id: TypeId) -> bool {
        self.by_type.contains_key(&id)
    }

    /// Called by `#[workflow]` for a parameter `&T`.
    #[doc(hidden)]
    pub fn get<T: Any>(&self) -> &T {
        let state = self
            .by_type
            .get(&TypeId::of::<T>())
            .and_then(|state| state.downcast_ref());
        state.expect("a runtime opens only when every state its workflows ask for is there")
    }
}
