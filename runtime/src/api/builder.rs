//! Opening a runtime: which workflows it runs, what their bodies borrow, where it keeps them.

use super::error::OpenError;
use super::runtime::Runtime;
use super::workflow::{Registered, Workflow};
use crate::driver::code::{Code, States};
use crate::driver::engine::{Codes, Engine, Parts, StartFault};
use crate::driver::rehearse::{Rehearsal, Which, rehearse};
use crate::driver::seams::{Clock, Entropy, SystemClock, SystemEntropy};
use crate::store::{ReadError, Store};
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
    refuses_divergence: bool,
    rehearses: Which,
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
            refuses_divergence: false,
            rehearses: Which::Changed,
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

    /// Does not open at all, instead of quarantining them one by one, if instances in flight would diverge from the code
    /// that is registered: [`OpenError::WouldDiverge`] names each of them, and none of them has moved.
    ///
    /// A workflow whose shape is not the one that last ran over the store has its instances replayed before anything
    /// moves, without bodies and without writing. Either way [`Runtime::divergences`] and the log say what was found.
    pub fn refuse_divergence(mut self) -> Self {
        self.refuses_divergence = true;
        self
    }

    /// Replays every instance in flight before anything moves, also where the shape of its workflow is unchanged: a shape
    /// does not hold what a `#[durable]` function does inside, nor conditions. Opening then takes as long as the journals
    /// of all instances in flight are many.
    pub fn rehearse_all(mut self) -> Self {
        self.rehearses = Which::All;
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
    /// The folder is [`SledStore`](crate::store::SledStore)'s, which says what is in it and how to copy it.
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
        let store = self.store.ok_or(OpenError::NoStore)?;
        let epoch = store.claim().map_err(OpenError::Claim)?;
        let states = Arc::new(self.states);
        let rehearsal = rehearsed(&store, &codes, &states, self.rehearses).await;
        let rehearsal = match rehearsal {
            Ok(Rehearsal { divergences, .. }) if self.refuses_divergence && !divergences.is_empty() => {
                Err(OpenError::WouldDiverge { divergences })
            }
            other => other,
        };
        let Rehearsal { divergences, note } = rehearsal.inspect_err(|_| close(store.as_ref()))?;
        for divergence in &divergences {
            tracing::error!(%divergence, "an instance would diverge from its code, and will be quarantined");
        }
        let parts = Parts {
            store,
            clock: self.clock,
            entropy: self.entropy,
            states,
            codes,
            park_after: self.park_after,
            epoch,
            note,
        };
        let engine = Engine::start(parts).map_err(|fault| match fault {
            StartFault::Read(error) => OpenError::Read(error),
            StartFault::Thread(error) => OpenError::Thread(error),
        })?;
        Ok(Runtime::new(engine, divergences))
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
            if codes.insert((workflow, version), Arc::clone(code)).is_some() {
                return Err(OpenError::DuplicateWorkflow { workflow, version });
            }
        }
        Ok(codes)
    }
}

/// Replaying blocks, and may take long.
async fn rehearsed(
    store: &Arc<dyn Store>,
    codes: &Codes,
    states: &Arc<States>,
    which: Which,
) -> Result<Rehearsal, OpenError> {
    let (store, codes, states) = (Arc::clone(store), codes.clone(), Arc::clone(states));
    let rehearsal = tokio::task::spawn_blocking(move || rehearse(store.as_ref(), &codes, &states, which)).await;
    let unanswered = |panic: tokio::task::JoinError| ReadError::Unavailable {
        reason: format!("reading it panicked: {panic}"),
    };
    rehearsal.map_err(unanswered).flatten().map_err(OpenError::Read)
}

fn close(store: &dyn Store) {
    if let Err(error) = store.close() {
        tracing::error!(%error, "the store did not close cleanly");
    }
}
