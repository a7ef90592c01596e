//! Opening a runtime: which workflows it runs, what their bodies borrow, where it keeps them.

use super::error::OpenError;
use super::runtime::Runtime;
use super::workflow::{Registered, Workflow};
use crate::driver::code::{Code, States};
use crate::driver::engine::{Codes, Engine, Parts, StartFault};
use crate::driver::seams::{Clock, Entropy, SystemClock, SystemEntropy};
use crate::store::Store;
use std::any::{Any, type_name};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// How long an instance that waits stays in memory: it is woken sooner than from the store.
const PARK_AFTER: Duration = Duration::from_secs(1);

/// What a runtime is made of; from [`Runtime::builder`].
#[must_use = "a builder does nothing until it is opened"]
pub struct Builder {
    codes: Vec<Arc<dyn Code>>,
    states: States,
    duplicate_state: Option<&'static str>,
    store: Option<Arc<dyn Store>>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    park_after: Duration,
}

impl Builder {
    pub(super) fn new() -> Self {
        Self {
            codes: Vec::new(),
            states: States::default(),
            duplicate_state: None,
            store: None,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
            park_after: PARK_AFTER,
        }
    }

    /// Registers a workflow. Instances of workflows that are not registered wait for a runtime that has them.
    pub fn workflow<W: Workflow>(mut self, _: W) -> Self {
        self.codes.push(Arc::new(Registered::<W>(PhantomData)));
        self
    }

    /// Hands over what workflows borrow through their reference parameters: one value for each type.
    pub fn state<T: Any + Send + Sync>(mut self, state: T) -> Self {
        if self.states.insert(state) {
            self.duplicate_state = Some(type_name::<T>());
        }
        self
    }

    /// Uses this store instead of opening one on disk; then [`start`](Builder::start).
    pub fn store(mut self, store: impl Store) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// How long a waiting instance stays in memory before it exists only in the store. Default: one second.
    pub fn park_after(mut self, park_after: Duration) -> Self {
        self.park_after = park_after;
        self
    }

    /// Reads time from this clock.
    #[cfg(feature = "testing")]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Draws chance from here.
    #[cfg(feature = "testing")]
    pub fn entropy(mut self, entropy: impl Entropy) -> Self {
        self.entropy = Arc::new(entropy);
        self
    }

    /// Opens the store in the folder `path`, which is created if it does not exist, and lets every instance that can move
    /// go on by itself. Must be called in a tokio runtime.
    ///
    /// # Errors
    /// See [`OpenError`]; the store is as it was.
    #[cfg(feature = "sled")]
    pub async fn open(mut self, path: impl AsRef<std::path::Path>) -> Result<Runtime, OpenError> {
        self.check()?;
        let path = path.as_ref().to_owned();
        let opened = tokio::task::spawn_blocking(move || crate::store::SledStore::open(path)).await;
        let store = opened.map_err(|panic| crate::store::StoreOpenError::Damaged {
            reason: panic.to_string(),
        })??;
        self.store = Some(Arc::new(store));
        self.start().await
    }

    /// Starts over the store that was handed over. Must be called in a tokio runtime.
    ///
    /// # Errors
    /// See [`OpenError`]; the store is as it was.
    pub async fn start(self) -> Result<Runtime, OpenError> {
        let codes = self.check()?;
        let parts = Parts {
            store: self.store.ok_or(OpenError::NoStore)?,
            clock: self.clock,
            entropy: self.entropy,
            states: self.states,
            codes,
            park_after: self.park_after,
        };
        let engine = Engine::start(parts).map_err(|fault| match fault {
            StartFault::Claim(error) => OpenError::Claim(error),
            StartFault::Read(error) => OpenError::Read(error),
            StartFault::Thread(error) => OpenError::Thread(error),
        })?;
        Ok(Runtime::new(engine))
    }

    /// Everything that can be wrong before a store is touched.
    fn check(&self) -> Result<Codes, OpenError> {
        if let Some(state) = self.duplicate_state {
            return Err(OpenError::DuplicateState { state });
        }
        let mut codes = BTreeMap::new();
        for code in &self.codes {
            let (workflow, version) = (code.name(), code.version());
            for state in code.states() {
                if !self.states.contains(state.id) {
                    return Err(OpenError::MissingState {
                        workflow,
                        state: state.name,
                    });
                }
            }
            if codes.insert((workflow.to_owned(), version), Arc::clone(code)).is_some() {
                return Err(OpenError::DuplicateWorkflow { workflow, version });
            }
        }
        Ok(codes)
    }
}
