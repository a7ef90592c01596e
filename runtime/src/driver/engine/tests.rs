//! What an engine keeps of instances that are not in memory: nothing. Everything else of it is tested from outside.

use super::{Engine, Parts};
use crate::api::durable::guard;
use crate::api::wait::{signal, sleep};
use crate::driver::code::{Code, Ended, Run, StateType, States};
use crate::driver::seams::{Clock, Entropy};
use crate::ids::InstanceNumber;
use crate::machine::{self, encode_batch};
use crate::payload::{DecodeError, Payload, encode};
use crate::store::{MemoryStore, Signalled, Store, StoredSignal, Write, Written};
use crate::time::{Timestamp, days};
use std::collections::BTreeMap;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const INSTANCES: u64 = 10_000;

/// Waits for a signal, sleeps for a day and ends.
struct Waits;

impl Code for Waits {
    fn name(&self) -> &'static str {
        "waits"
    }
    fn version(&self) -> u32 {
        1
    }
    fn states(&self) -> Vec<StateType> {
        Vec::new()
    }
    fn shape(&self) -> String {
        String::new()
    }
    fn run<'a>(&self, _: &[u8], _: &'a States) -> Result<Run<'a>, DecodeError> {
        Ok(Box::pin(async {
            let value: u32 = guard(signal("go")).await;
            guard(sleep("rest", days(1))).await;
            Ended(Ok(encode(&value).unwrap()))
        }))
    }
}

/// Stands where it was set; whoever waits is woken by what else happens.
#[derive(Default)]
struct Still(AtomicU64);

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
    fn wait_until(&self, _: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(pending())
    }
}

impl Entropy for Still {
    fn draw(&self) -> u64 {
        7
    }
}

fn start(number: u64) -> Write {
    let at = Timestamp::from_micros(0);
    Write::Start {
        id: number.to_string(),
        workflow: "waits".to_owned(),
        version: 1,
        input_digest: [0; 32],
        batch: encode_batch(&machine::start(at, Payload::default(), [0; 16])),
        at,
    }
}

/// Instances that are recorded and not begun, and an engine over them that parks at once.
fn open(clock: &Arc<Still>) -> Arc<Engine> {
    let store = Arc::new(MemoryStore::new());
    let epoch = store.claim().unwrap();
    let starts: Vec<Write> = (1..=INSTANCES).map(start).collect();
    store.commit(epoch, &starts).unwrap();
    let code: Arc<dyn Code> = Arc::new(Waits);
    Engine::start(Parts {
        store,
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        entropy: Arc::clone(clock) as Arc<dyn Entropy>,
        states: Arc::default(),
        codes: BTreeMap::from([(("waits", 1), code)]),
        park_after: Duration::ZERO,
        epoch,
        note: None,
    })
    .unwrap()
}

/// The signal that an instance waits for, and its delivery.
fn go(instance: InstanceNumber, at: Timestamp) -> (Write, impl FnOnce(&Arc<Engine>, &Written) + Send + 'static) {
    let payload = encode(&1u32).unwrap().0;
    let signal = StoredSignal {
        sequence: 0,
        name: "go".to_owned(),
        payload: payload.clone(),
        at,
    };
    let deliver = move |engine: &Arc<Engine>, written: &Written| match written {
        Written::Signal(Signalled::Buffered { sequence: 0, record }) => assert!(engine.hand_signal(record, signal)),
        other => panic!("{other:?}"),
    };
    let send = Write::Signal {
        id: instance.0.to_string(),
        name: "go".to_owned(),
        payload,
        dedup_key: None,
        at,
    };
    (send, deliver)
}

fn all() -> impl Iterator<Item = InstanceNumber> {
    (1..=INSTANCES).map(InstanceNumber)
}

/// Waits until nothing is in memory, and looks whether that is so.
async fn holds_nothing(engine: &Arc<Engine>, when: &str) {
    engine.until_empty().await;
    // Tasks that have left give back what they hold when they are polled last.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(engine.lock_live().len(), 0, "{when}");
    assert_eq!(super::lock(&engine.waiters).len(), 0, "{when}");
    assert_eq!(super::lock(&engine.unreadable).len(), 0, "{when}");
    assert_eq!(engine.alarms.count(), 0, "{when}");
    assert!(
        super::lock(&engine.signal_types).len() <= 1,
        "one for each wait of the code"
    );
    // Every task of an instance holds the engine.
    assert_eq!(Arc::strong_count(engine), 1, "{when}");
}

#[tokio::test]
async fn ten_thousand_instances_that_wait_sleep_or_have_ended_leave_no_entry_in_memory() {
    let clock = Arc::new(Still::default());
    let engine = open(&clock);
    holds_nothing(&engine, "waiting").await;

    for instance in all() {
        // Somebody asks for the end and goes away again.
        let mut outcome = Box::pin(engine.outcome(instance));
        let polled = outcome.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(polled, Poll::Pending));
    }
    holds_nothing(&engine, "asked about").await;

    let answers = engine.call_all(all().map(|instance| go(instance, clock.now())).collect());
    assert_eq!(answers.await.unwrap().len(), INSTANCES as usize);
    holds_nothing(&engine, "asleep").await;
    assert_eq!(
        engine.store.due(Timestamp::MAX, None, usize::MAX).unwrap().len(),
        INSTANCES as usize
    );

    clock.0.store(days(1).as_micros() as u64, Ordering::SeqCst);
    engine.alarms.look_again();
    let last = engine.outcome(InstanceNumber(INSTANCES)).await.unwrap();
    assert!(matches!(last, Some(super::Outcome::Completed(_))));
    holds_nothing(&engine, "ended").await;
    assert!(engine.store.due(Timestamp::MAX, None, usize::MAX).unwrap().is_empty());
}
