//! The state that reference parameters borrow.

use std::any::{Any, TypeId};
use std::collections::HashMap;

/// What was handed to `.state(…)`, by type.
#[doc(hidden)]
#[derive(Default)]
pub struct States {
    // Looked up by type, never iterated.
    by_type: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
}

impl States {
    pub(crate) fn insert<T: Any + Send + Sync>(&mut self, state: T) {
        self.by_type.insert(TypeId::of::<T>(), Box::new(state));
    }

    pub(crate) fn contains(&self, id: TypeId) -> bool {
        self.by_type.contains_key(&id)
    }

    /// Called by `#[workflow]` for a parameter `&T`.
    #[doc(hidden)]
    pub fn get<T: Any + Send + Sync>(&self) -> &T {
        let state = self
            .by_type
            .get(&TypeId::of::<T>())
            .and_then(|state| state.downcast_ref());
        state.expect("a runtime opens only when every state its workflows ask for is there")
    }
}
