//! What is seen from outside through `tracing`: spans for instance, step and attempt with stable fields, and workflow code that
//! is silent on replay. A program of its own, because it has one subscriber for all threads, as a service has.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use steadfast::prelude::*;
use steadfast::{Builder, is_replaying};
use steadfast_tests::{Ask, Ledger, World};
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// Every span and event, as text, by the thread of the test that it belongs to: all tasks of a test run on its thread.
static SEEN: LazyLock<Mutex<HashMap<ThreadId, Vec<String>>>> = LazyLock::new(|| {
    let subscriber = tracing_subscriber::registry().with(Collect);
    tracing::subscriber::set_global_default(subscriber).expect("it is the only one");
    Mutex::default()
});

fn seen() -> MutexGuard<'static, HashMap<ThreadId, Vec<String>>> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What this test's thread has seen since it asked last.
fn take() -> Vec<String> {
    seen().remove(&thread::current().id()).unwrap_or_default()
}

fn add(line: String) {
    seen().entry(thread::current().id()).or_default().push(line);
}

struct Collect;

#[derive(Default)]
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0.push_str(&format!(" {value:?}"));
        } else {
            self.0.push_str(&format!(" {}={value:?}", field.name()));
        }
    }
}

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Collect {
    fn on_new_span(&self, attributes: &tracing::span::Attributes<'_>, _: &tracing::Id, _: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        add(format!("span {}{}", attributes.metadata().name(), fields.0));
    }

    fn on_event(&self, event: &tracing::Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let spans = context
            .event_scope(event)
            .into_iter()
            .flat_map(|scope| scope.from_root());
        let spans: Vec<&str> = spans.map(|span| span.name()).collect();
        let whose = if event.metadata().target().contains("logging") {
            "user"
        } else {
            "engine"
        };
        add(format!("{whose} [{}]{}", spans.join("/"), fields.0));
    }
}

#[workflow]
async fn talks(ledger: &Ledger) -> Result<u32, BoxError> {
    tracing::info!("begin");
    ledger.note(format!("begin, replaying: {}", is_replaying()));
    step!("work", |attempt| async move {
        tracing::info!(attempt = attempt.number(), "in the body");
        if attempt.number() == 1 {
            return Err(BoxError::from("no"));
        }
        Ok(is_replaying())
    })
    .retry(Retry::fixed(secs(1)))
    .await?;
    tracing::info!("worked");
    sleep!("rest", hours(1)).await;
    ledger.note(format!("rested, replaying: {}", is_replaying()));
    tracing::info!("rested");
    let _: u32 = signal!("go").await;
    tracing::info!("end");
    Ok(1)
}

#[tokio::test]
async fn workflow_code_is_silent_on_replay_and_spans_carry_workflow_instance_step_and_attempt() {
    take();
    let (world, ledger) = (World::new(), Ledger::default());
    let open = |runtime: Builder| runtime.workflow(talks).state(ledger.clone());
    let runtime = world.open(open).await;
    runtime.start(talks, ()).id("a").await.unwrap();
    let is_sleep = |wait: &steadfast::WaitingFor| matches!(wait, steadfast::WaitingFor::Sleep { .. });
    let is_retry = |wait: &steadfast::WaitingFor| matches!(wait, steadfast::WaitingFor::Retry { .. });
    runtime.until_waiting_for("a", is_retry).await;
    world.clock.advance(secs(1));
    runtime.until_waiting_for("a", is_sleep).await;
    drop(runtime);
    let first = take();
    let spans: Vec<&String> = first.iter().filter(|line| line.starts_with("span ")).collect();
    assert!(
        spans[0].starts_with("span instance")
            && spans[0].contains("workflow=\"talks\"")
            && spans[0].contains("instance=\"a\""),
        "{spans:?}"
    );
    let bodies: Vec<&str> = spans.iter().skip(1).map(|span| span.as_str()).collect();
    let attempts = [
        "span step step=\"work\"",
        "span attempt attempt=1",
        "span attempt attempt=2",
    ];
    assert_eq!(bodies, attempts);
    let user: Vec<&String> = first.iter().filter(|line| line.starts_with("user ")).collect();
    let expected = [
        "user [instance] begin",
        "user [instance/step/attempt] in the body attempt=1",
        "user [instance/step/attempt] in the body attempt=2",
        "user [instance] worked",
    ];
    assert_eq!(user, expected, "{first:#?}");

    let runtime = world.open(open).await;
    world.clock.advance(hours(1));
    runtime
        .until_waiting_for("a", |wait| matches!(wait, steadfast::WaitingFor::Signal { .. }))
        .await;
    let second: Vec<String> = take().into_iter().filter(|line| line.starts_with("user ")).collect();
    assert_eq!(second, ["user [instance] rested"]);
    drop(runtime);
    let runtime = world.open(open).await;
    runtime.signal("a", "go", &1u32).await.unwrap();
    runtime.handle(talks, "a").await.unwrap().result().await.unwrap();
    let third = take();
    let user: Vec<&String> = third.iter().filter(|line| line.starts_with("user ")).collect();
    assert_eq!(user, ["user [instance] end"]);
    assert!(
        !third.iter().any(|line| line.contains("span step")),
        "no body ran: {third:#?}"
    );
    assert!(
        !third
            .iter()
            .any(|line| line.starts_with("engine") && line.contains("`work`")),
        "{third:#?}"
    );
    let noted = ledger.entries();
    assert_eq!(
        noted,
        [
            "begin, replaying: false",
            "begin, replaying: true",
            "rested, replaying: false",
            "begin, replaying: true",
            "rested, replaying: true",
        ]
    );
    assert!(!is_replaying(), "outside of workflow code");
}

#[tokio::test]
async fn a_quarantine_is_an_error_in_the_log_with_its_kind_once() {
    #[workflow]
    async fn breaks() -> Result<u32, BoxError> {
        let number: Option<u32> = std::hint::black_box(None);
        Ok(number.expect("there is one"))
    }
    take();
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(breaks)).await;
    runtime
        .start(breaks, ())
        .id("a")
        .await
        .unwrap()
        .result()
        .await
        .unwrap_err();
    let quarantined = |line: &String| line.starts_with("engine [instance]") && line.contains("quarantined");
    let lines: Vec<String> = take().into_iter().filter(quarantined).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("kind=\"defect\"") && lines[0].contains("there is one"),
        "{lines:?}"
    );
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(breaks)).await;
    runtime.until_status("a", Status::Quarantined).await;
    let lines: Vec<String> = take().into_iter().filter(quarantined).collect();
    assert_eq!(lines, Vec::<String>::new(), "it was said before");
}

#[tokio::test]
async fn a_line_that_is_reached_for_the_first_time_on_replay_is_logged_when_it_is_reached_live() {
    #[workflow(name = "lines")]
    async fn before() -> Result<u32, BoxError> {
        let _: u32 = signal!("go").await;
        sleep!("rest", hours(1)).await;
        Ok(1)
    }
    #[workflow(name = "lines")]
    async fn after() -> Result<u32, BoxError> {
        let _: u32 = signal!("go").await;
        tracing::info!("a new line");
        sleep!("rest", hours(1)).await;
        Ok(1)
    }
    take();
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(before)).await;
    runtime.start(before, ()).id("old").await.unwrap();
    runtime.signal("old", "go", &1u32).await.unwrap();
    let is_sleep = |wait: &steadfast::WaitingFor| matches!(wait, steadfast::WaitingFor::Sleep { .. });
    runtime.until_waiting_for("old", is_sleep).await;
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(after)).await;
    world.clock.advance(hours(1));
    runtime.handle(after, "old").await.unwrap().result().await.unwrap();
    let new_line = |line: &String| line.ends_with("a new line");
    assert_eq!(take().into_iter().filter(new_line).count(), 0, "on replay");
    runtime.start(after, ()).id("new").await.unwrap();
    runtime.signal("new", "go", &1u32).await.unwrap();
    runtime.until_waiting_for("new", is_sleep).await;
    assert_eq!(take().into_iter().filter(new_line).count(), 1, "live");
}
