//! The two calls with options: starting an instance and sending it a signal. Both are awaited.

use super::error::{Difference, RuntimeError, SignalError, StartError};
use super::handle::Handle;
use super::runtime::{find, mismatch, signal_unknown, write};
use super::workflow::Workflow;
use crate::driver::engine::Engine;
use crate::ids::InstanceNumber;
use crate::machine::{self, Event, encode_batch};
use crate::payload::{self, Storable};
use crate::store::{InstanceRecord, NAME_BYTES_MAX, Signalled, Started, StoredSignal, Write, Written};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

/// A start; from [`Runtime::start`](crate::Runtime::start).
#[must_use = "nothing is started until this is awaited"]
pub struct Start<W: Workflow> {
    engine: Arc<Engine>,
    input: W::Input,
    id: Option<String>,
    workflow: PhantomData<W>,
}

impl<W: Workflow> Start<W> {
    pub(super) fn new(engine: Arc<Engine>, _: W, input: W::Input) -> Self {
        Self {
            engine,
            input,
            id: None,
            workflow: PhantomData,
        }
    }

    /// Names the instance: 1 to 256 bytes of text, unique in the store. Without it a random id is made.
    ///
    /// If the id exists with the same workflow, version and encoded input, the existing instance is what you get, and
    /// [`Handle::created`] says so; with anything else the start is refused as a conflict. An input with a `HashMap` may
    /// encode differently each time: use a `BTreeMap`.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    async fn run(self) -> Result<Handle<W>, StartError> {
        let Self { engine, input, id, .. } = self;
        let (request, asked, fresh) = prepare::<W>(&engine, id, input)?;
        let written = write(&engine, request, move |engine, written| {
            fresh.begin(engine, written);
            false
        })
        .await;
        asked.answer(&engine, written.map(|(written, _)| written))
    }
}

/// Makes of a start what is written, what its answer is judged by, and what begins if it is new.
pub(super) fn prepare<W: Workflow>(
    engine: &Engine,
    id: Option<String>,
    input: W::Input,
) -> Result<(Write, Asked<W>, Fresh), StartError> {
    let id = id.unwrap_or_else(|| format!("{:016x}{:016x}", engine.draw(), engine.draw()));
    if id.is_empty() || id.len() > NAME_BYTES_MAX {
        return Err(StartError::BadId { size: id.len() });
    }
    if !engine.is_registered(W::NAME, W::VERSION) {
        return Err(StartError::NotRegistered { workflow: W::NAME });
    }
    let input = input.stored().map_err(|error| StartError::Input {
        workflow: W::NAME,
        reason: error.to_string(),
    })?;
    let input_digest = Sha256::digest(&input.0).into();
    let record = InstanceRecord::accepted(InstanceNumber(0), &id, W::NAME, W::VERSION, input_digest, engine.now());
    let seed = u128::from(engine.draw()) << 64 | u128::from(engine.draw());
    let journal = machine::start(record.created_at, input, seed.to_be_bytes());
    let request = Write::Start {
        id: id.clone(),
        workflow: record.workflow.clone(),
        version: record.version,
        input_digest,
        batch: encode_batch(&journal),
        at: record.created_at,
    };
    let asked = Asked {
        id,
        input_digest,
        workflow: PhantomData,
    };
    Ok((request, asked, Fresh { record, journal }))
}

/// An instance as it begins; its number comes with the answer.
pub(super) struct Fresh {
    record: InstanceRecord,
    journal: Vec<Event>,
}

impl Fresh {
    /// Begins from memory, if the start made it.
    pub(super) fn begin(self, engine: &Arc<Engine>, written: &Written) {
        let Self { record, journal } = self;
        if let Written::Start(Started::Created(number)) = written {
            engine.begin(
                InstanceRecord {
                    number: *number,
                    ..record
                },
                journal,
            );
        }
    }
}

/// A start that waits for its answer.
pub(super) struct Asked<W> {
    id: String,
    input_digest: [u8; 32],
    workflow: PhantomData<W>,
}

impl<W: Workflow> Asked<W> {
    pub(super) fn answer(
        self,
        engine: &Arc<Engine>,
        written: Result<Written, RuntimeError>,
    ) -> Result<Handle<W>, StartError> {
        match written? {
            Written::Start(Started::Created(number)) => Ok(Handle::new(Arc::clone(engine), self.id, number, true)),
            Written::Start(Started::Existing(existing)) => match self.difference(&existing) {
                None => Ok(Handle::new(Arc::clone(engine), self.id, existing.number, false)),
                Some(difference) => Err(StartError::Conflict {
                    id: self.id,
                    difference,
                }),
            },
            Written::Turn(_) | Written::Signal(_) | Written::Cancel(_) | Written::Noted | Written::Refused { .. } => {
                Err(mismatch(&self.id).into())
            }
        }
    }

    fn difference(&self, existing: &InstanceRecord) -> Option<Difference> {
        if (existing.workflow.as_str(), existing.version) != (W::NAME, W::VERSION) {
            Some(Difference::Workflow)
        } else if existing.input_digest != self.input_digest {
            Some(Difference::Input)
        } else {
            None
        }
    }
}

impl<W: Workflow> IntoFuture for Start<W> {
    type Output = Result<Handle<W>, StartError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

/// A signal; from [`Runtime::signal`](crate::Runtime::signal) and [`Handle::signal`].
#[must_use = "nothing is sent until this is awaited"]
pub struct Signal<'a, T: ?Sized> {
    engine: Arc<Engine>,
    id: String,
    name: String,
    dedup_key: Option<String>,
    value: &'a T,
}

/// What became of a signal. Whichever it is, it is durable and will be consumed once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignalAnswer {
    /// A wait for it was open: the workflow goes on with it. If the value is not of the type that the wait asks for, and that
    /// was not known when it was sent, it is set aside instead; the history tells.
    Delivered,
    /// No wait for it is open; the next one consumes it.
    Buffered,
    /// A signal with the same deduplication key was accepted before; this one was not stored.
    Duplicate,
}

impl<'a, T: Serialize + ?Sized> Signal<'a, T> {
    pub(super) fn new(engine: Arc<Engine>, id: String, name: String, value: &'a T) -> Self {
        Self {
            engine,
            id,
            name,
            dedup_key: None,
            value,
        }
    }

    /// A second signal to the same instance with the same key is not stored, also after the first was consumed.
    pub fn dedup_key(mut self, key: impl Into<String>) -> Self {
        self.dedup_key = Some(key.into());
        self
    }

    fn request(&self) -> Result<Write, SignalError> {
        let Self {
            engine,
            id,
            name,
            dedup_key,
            value,
        } = self;
        let within = |what, text: &str| match text.len() {
            1..=NAME_BYTES_MAX => Ok(()),
            size => Err(SignalError::BadName { what, size }),
        };
        // No instance has such an id, and no store takes a write with it.
        if !(1..=NAME_BYTES_MAX).contains(&id.len()) {
            return Err(signal_unknown(id));
        }
        within("name", name)?;
        dedup_key
            .as_deref()
            .map_or(Ok(()), |key| within("deduplication key", key))?;
        let payload = payload::encode(*value).map_err(|error| SignalError::Value {
            name: name.clone(),
            reason: error.to_string(),
        })?;
        if engine.knows_signal(name) {
            let record = find(engine, id).map_err(|error| match error {
                RuntimeError::UnknownInstance { id } => signal_unknown(&id),
                other => SignalError::Runtime(other),
            })?;
            if let Some(reason) = engine.refuse_signal(&record.workflow, record.version, name, &payload.0) {
                let (workflow, name) = (record.workflow, name.clone());
                return Err(SignalError::OtherType { workflow, name, reason });
            }
        }
        Ok(Write::Signal {
            id: id.clone(),
            name: name.clone(),
            payload: payload.0,
            dedup_key: dedup_key.clone(),
            at: engine.now(),
        })
    }
}

async fn send(engine: Arc<Engine>, id: String, request: Write) -> Result<SignalAnswer, SignalError> {
    let Write::Signal { name, payload, at, .. } = request.clone() else {
        return Err(mismatch(&id).into());
    };
    let (written, delivered) = write(&engine, request, move |engine, written| match written {
        Written::Signal(Signalled::Buffered { sequence, record }) => engine.hand_signal(
            record,
            StoredSignal {
                sequence: *sequence,
                name,
                payload,
                at,
            },
        ),
        Written::Signal(_)
        | Written::Start(_)
        | Written::Turn(_)
        | Written::Cancel(_)
        | Written::Noted
        | Written::Refused { .. } => false,
    })
    .await?;
    match written {
        Written::Signal(Signalled::Buffered { .. }) if delivered => Ok(SignalAnswer::Delivered),
        Written::Signal(Signalled::Buffered { .. }) => Ok(SignalAnswer::Buffered),
        Written::Signal(Signalled::Duplicate { .. }) => Ok(SignalAnswer::Duplicate),
        Written::Signal(Signalled::Unknown) => Err(signal_unknown(&id)),
        Written::Signal(Signalled::Finished(status)) => Err(SignalError::AlreadyFinished { id, status }),
        Written::Start(_) | Written::Turn(_) | Written::Cancel(_) | Written::Noted | Written::Refused { .. } => {
            Err(mismatch(&id).into())
        }
    }
}

impl<'a, T: Serialize + ?Sized> IntoFuture for Signal<'a, T> {
    type Output = Result<SignalAnswer, SignalError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        // Encoded here, so that the future borrows nothing and can be spawned.
        let request = self.request();
        let Self { engine, id, .. } = self;
        Box::pin(async move { send(engine, id, request?).await })
    }
}
