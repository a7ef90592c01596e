//! Six kinds of trouble, never mixed up: step failure, workflow failure, cancellation, divergence (in `divergence.rs`), bad
//! data or missing code, store trouble (in `starting.rs`). Cancellation is in `cancelling.rs`. Requirements A11, D1, D5.

use serde::{Deserialize, Serialize};
use steadfast::prelude::*;
use steadfast::{Builder, Failure, StepFailureKind, WorkflowError};
use steadfast_tests::{Ask, Ledger, World};

fn failure(error: WorkflowError) -> Failure {
    match error {
        WorkflowError::Failed(failure) => failure,
        other => panic!("not a failure: {other:?}"),
    }
}

fn quarantine(error: WorkflowError) -> String {
    match error {
        WorkflowError::Quarantined { trouble } => trouble,
        other => panic!("not a quarantine: {other:?}"),
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
enum ZipError {
    #[error("the archive has {0} bytes, and 4 GiB are the limit")]
    TooLarge(u64),
    #[error("the archive is empty")]
    Empty,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
enum PageError {
    #[error("page {page} cannot be rendered: {reason}")]
    Broken { page: u32, reason: String },
}

#[derive(Debug, thiserror::Error)]
enum UploadError {
    #[error("the upload stopped")]
    Step(#[from] StepError),
}

#[workflow]
async fn zips(ledger: &Ledger) -> Result<u32, ZipError> {
    ledger.work("zips", ()).await_in_step()?;
    Err(ZipError::TooLarge(5_000_000_000))
}

#[workflow]
async fn zips_nothing() -> Result<u32, ZipError> {
    Err(ZipError::Empty)
}

#[workflow]
async fn renders() -> Result<u32, PageError> {
    step!("render", async { Err::<u32, BoxError>("no such colour".into()) })
        .retry(Retry::none())
        .await
        .map_err(|error| PageError::Broken {
            page: 7,
            reason: error.message().to_owned(),
        })
}

#[workflow]
async fn uploads() -> Result<u32, UploadError> {
    let bytes = step!("upload", async {
        let broken = std::io::Error::new(std::io::ErrorKind::BrokenPipe, "the pipe broke");
        Err::<u32, Sent>(Sent {
            part: 3,
            source: broken,
        })
    })
    .retry(Retry::fixed(secs(1)).max_attempts(3))
    .await?;
    Ok(bytes)
}

#[derive(Debug, thiserror::Error)]
#[error("part {part} was not sent")]
struct Sent {
    part: u32,
    source: std::io::Error,
}

/// Requirement A11.
#[tokio::test]
async fn three_error_enums_can_be_matched_after_a_restart() {
    let (world, ledger) = (World::new(), Ledger::default());
    let open = |runtime: Builder| {
        runtime
            .workflow(zips)
            .workflow(zips_nothing)
            .workflow(renders)
            .workflow(uploads)
            .state(ledger.clone())
    };
    let runtime = world.open(open).await;
    runtime.start(zips, ()).id("zip").await.unwrap();
    runtime.start(zips_nothing, ()).id("nothing").await.unwrap();
    runtime.start(renders, ()).id("page").await.unwrap();
    runtime.start(uploads, ()).id("upload").await.unwrap();
    let ids = ["zip", "nothing", "page", "upload"];
    world
        .advance_until(async || {
            for id in ids {
                if runtime.ask(id).await.status != Status::Failed {
                    return false;
                }
            }
            true
        })
        .await;
    drop(runtime);
    let runtime = world.open(open).await;

    let zip = failure(runtime.handle(zips, "zip").await.unwrap().result().await.unwrap_err());
    assert_eq!(zip.decode::<ZipError>(), Some(ZipError::TooLarge(5_000_000_000)));
    assert_eq!(zip.code(), Some("TooLarge"));
    assert_eq!(zip.decode::<PageError>(), None, "another type is not guessed at");
    let nothing = failure(
        runtime
            .handle(zips_nothing, "nothing")
            .await
            .unwrap()
            .result()
            .await
            .unwrap_err(),
    );
    assert_eq!(
        (nothing.decode(), nothing.code()),
        (Some(ZipError::Empty), Some("Empty"))
    );
    let page = failure(
        runtime
            .handle(renders, "page")
            .await
            .unwrap()
            .result()
            .await
            .unwrap_err(),
    );
    let broken = PageError::Broken {
        page: 7,
        reason: "no such colour".into(),
    };
    assert_eq!((page.decode(), page.code()), (Some(broken), Some("Broken")));
    assert_eq!(page.message(), "page 7 cannot be rendered: no such colour");
    let upload = failure(
        runtime
            .handle(uploads, "upload")
            .await
            .unwrap()
            .result()
            .await
            .unwrap_err(),
    );
    assert_eq!((upload.step(), upload.attempt()), (Some("upload"), Some(3)));
    assert_eq!(upload.message(), "the upload stopped");
    assert!(
        upload.causes()[0].contains("part 3 was not sent"),
        "{:?}",
        upload.causes()
    );
    assert!(upload.to_string().contains("the pipe broke"), "{upload}");
}

trait AwaitInStep<T> {
    fn await_in_step(self) -> Result<(), ZipError>;
}

impl<F: Future<Output = Result<(), BoxError>>> AwaitInStep<()> for F {
    fn await_in_step(self) -> Result<(), ZipError> {
        Ok(())
    }
}

/// Requirement A11: what the workflow sees of a step's error is the same on replay.
#[tokio::test]
async fn a_step_error_keeps_step_attempts_kind_code_and_causes_over_a_restart() {
    #[workflow]
    async fn looks(ledger: &Ledger) -> Result<String, BoxError> {
        let error = step!("charge", async {
            let source = std::io::Error::other("the bank said no");
            Err::<(), _>(permanent(Sent { part: 1, source }).code("declined"))
        })
        .await
        .unwrap_err();
        let seen = format!(
            "{} {} {:?} {:?} {} {:?}",
            error.step(),
            error.attempts(),
            error.kind(),
            error.code(),
            error.message(),
            error.causes()
        );
        step!("note", async { Ok::<_, BoxError>(ledger.note(&seen)) }).await?;
        sleep!("pause", secs(1)).await;
        step!("note again", async { Ok::<_, BoxError>(ledger.note(&seen)) }).await?;
        Ok(seen)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let open = |runtime: Builder| runtime.workflow(looks).state(ledger.clone());
    let runtime = world.open(open).await;
    runtime.start(looks, ()).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    drop(runtime);
    let runtime = world.open(open).await;
    world.clock.advance(secs(1));
    let seen = runtime.handle(looks, "a").await.unwrap().result().await.unwrap();
    assert_eq!(
        seen,
        r#"charge 1 Failed Some("declined") part 1 was not sent ["the bank said no"]"#
    );
    assert_eq!(ledger.entries(), [seen.clone(), seen]);
}

#[tokio::test]
async fn any_error_type_will_do_for_steps_and_workflows() {
    #[workflow]
    async fn with_anyhow() -> anyhow::Result<u32> {
        use anyhow::Context;
        let number = step!("parse", async { "x".parse::<u32>().context("a bad number") })
            .retry(Retry::none())
            .await
            .context("nothing to count")?;
        Ok(number)
    }
    #[workflow]
    async fn with_string() -> Result<u32, String> {
        step!("say", async { Err::<u32, String>("no".into()) })
            .retry(Retry::none())
            .await
            .map_err(|error| format!("said: {error}"))
    }
    #[workflow]
    async fn with_box() -> Result<u32, BoxError> {
        let number = step!("parse", {
            let number: u32 = "x".parse()?;
            Ok(number)
        })
        .retry(Retry::none())
        .await?;
        Ok(number)
    }
    let world = World::new();
    let runtime = world
        .open(|runtime| runtime.workflow(with_anyhow).workflow(with_string).workflow(with_box))
        .await;
    let error = failure(
        runtime
            .start(with_anyhow, ())
            .await
            .unwrap()
            .result()
            .await
            .unwrap_err(),
    );
    assert_eq!(error.message(), "nothing to count");
    assert_eq!(
        error.causes(),
        ["step `parse` failed: a bad number: invalid digit found in string"]
    );
    assert_eq!(error.step(), Some("parse"));
    let error = failure(runtime.start(with_box, ()).await.unwrap().result().await.unwrap_err());
    assert_eq!(error.message(), "step `parse` failed: invalid digit found in string");
    assert_eq!((error.step(), error.attempt()), (Some("parse"), Some(1)));
}

#[tokio::test]
async fn a_panicking_body_is_a_failed_attempt() {
    #[workflow]
    async fn panics(ledger: &Ledger) -> Result<u32, BoxError> {
        let healed = step!("heals", |attempt| async move {
            ledger.note("heals");
            assert!(attempt.number() > 1, "the first attempt panics");
            Ok::<u32, BoxError>(1)
        })
        .retry(Retry::fixed(secs(1)))
        .await?;
        let error = step!("never heals", |_| -> std::future::Ready<Result<u32, BoxError>> {
            panic!("before it is a future")
        })
        .retry(Retry::fixed(secs(1)).max_attempts(2))
        .await
        .unwrap_err();
        assert_eq!(error.kind(), StepFailureKind::Panicked);
        assert_eq!((error.attempts(), error.message()), (2, "before it is a future"));
        Ok(healed)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world
        .open(|runtime| runtime.workflow(panics).state(ledger.clone()))
        .await;
    let handle = runtime.start(panics, ()).id("a").await.unwrap();
    world
        .advance_until(async || runtime.ask("a").await.status.is_terminal())
        .await;
    assert_eq!(handle.result().await.unwrap(), 1);
    assert_eq!(ledger.count("heals"), 2);
}

#[tokio::test]
async fn a_panicking_workflow_is_quarantined_and_fixed_code_finishes_it_without_running_bodies_again() {
    #[workflow(name = "job")]
    async fn broken(ledger: &Ledger) -> Result<u32, BoxError> {
        let one = step!("one", ledger.work("one", 1u32)).await?;
        let none: Option<u32> = std::hint::black_box(None);
        Ok(one + none.expect("there is always a second one"))
    }
    #[workflow(name = "job")]
    async fn fixed(ledger: &Ledger) -> Result<u32, BoxError> {
        let one = step!("one", ledger.work("one", 1u32)).await?;
        Ok(one + 1)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world
        .open(|runtime| runtime.workflow(broken).state(ledger.clone()))
        .await;
    let handle = runtime.start(broken, ()).id("a").await.unwrap();
    let trouble = quarantine(handle.result().await.unwrap_err());
    assert!(
        trouble.contains("the workflow panicked: there is always a second one"),
        "{trouble}"
    );
    let loads = world.store.counts().loads;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.store.counts().loads, loads, "it is not tried in a loop");
    // Other instances do not notice.
    let other = runtime.start(broken, ()).id("b").await.unwrap();
    quarantine(other.result().await.unwrap_err());
    drop(runtime);
    let runtime = world
        .open(|runtime| runtime.workflow(fixed).state(ledger.clone()))
        .await;
    for id in ["a", "b"] {
        assert_eq!(runtime.handle(fixed, id).await.unwrap().result().await.unwrap(), 2);
    }
    assert_eq!(ledger.count("one"), 2);
    assert_eq!(runtime.ask("a").await.trouble, None);
}

#[tokio::test]
async fn a_workflow_that_panics_before_its_first_checkpoint_is_quarantined() {
    #[workflow]
    async fn divides(number: u32) -> Result<u32, BoxError> {
        Ok(100 / number)
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(divides)).await;
    let handle = runtime.start(divides, 0).id("a").await.unwrap();
    let trouble = quarantine(handle.result().await.unwrap_err());
    assert!(trouble.contains("divide by zero"), "{trouble}");
    assert_eq!(runtime.start(divides, 5).await.unwrap().result().await.unwrap(), 20);
}

/// Requirement D1.
#[tokio::test]
async fn a_recorded_result_of_another_type_is_quarantined_and_names_the_step() {
    #[workflow(name = "counts")]
    async fn old(ledger: &Ledger) -> Result<u64, BoxError> {
        let total = step!("total", ledger.work("total", 300u64)).await?;
        sleep!("pause", secs(1)).await;
        Ok(total)
    }
    #[workflow(name = "counts")]
    async fn changed(ledger: &Ledger) -> Result<u64, BoxError> {
        let total: String = step!("total", ledger.work("total", "300".to_owned())).await?;
        sleep!("pause", secs(1)).await;
        Ok(total.len() as u64)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| runtime.workflow(old).state(ledger.clone())).await;
    runtime.start(old, ()).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    drop(runtime);
    world.clock.advance(secs(1));
    let runtime = world
        .open(|runtime| runtime.workflow(changed).state(ledger.clone()))
        .await;
    let trouble = quarantine(runtime.handle(changed, "a").await.unwrap().result().await.unwrap_err());
    assert!(
        trouble.contains("the result of step `total` cannot be read"),
        "{trouble}"
    );
    assert!(trouble.contains("String"), "{trouble}");
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(old).state(ledger.clone())).await;
    assert_eq!(runtime.handle(old, "a").await.unwrap().result().await.unwrap(), 300);
    assert_eq!(ledger.count("total"), 1);
}

#[tokio::test]
async fn an_input_of_another_type_is_quarantined_and_the_old_code_goes_on() {
    #[workflow(name = "greets")]
    async fn old(name: String) -> Result<String, BoxError> {
        let _: u32 = signal!("go").await;
        Ok(name)
    }
    #[workflow(name = "greets")]
    async fn changed(name: String, times: u32) -> Result<String, BoxError> {
        let _: u32 = signal!("go").await;
        Ok(name.repeat(times as usize))
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(old)).await;
    runtime.start(old, "Ada".to_owned()).id("a").await.unwrap();
    runtime.until_status("a", Status::Waiting).await;
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(changed)).await;
    runtime.signal("a", "go", &1u32).await.unwrap();
    let trouble = quarantine(runtime.handle(changed, "a").await.unwrap().result().await.unwrap_err());
    assert!(trouble.contains("the input cannot be read"), "{trouble}");
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(old)).await;
    assert_eq!(runtime.handle(old, "a").await.unwrap().result().await.unwrap(), "Ada");
}

#[tokio::test]
async fn an_output_of_another_type_is_said_to_be_unreadable() {
    #[workflow(name = "gives")]
    async fn old() -> Result<String, BoxError> {
        Ok("many words".into())
    }
    #[workflow(name = "gives")]
    async fn changed() -> Result<u8, BoxError> {
        Ok(1)
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(old)).await;
    runtime.start(old, ()).id("a").await.unwrap().result().await.unwrap();
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(changed)).await;
    let error = runtime.handle(changed, "a").await.unwrap().result().await.unwrap_err();
    assert!(matches!(error, WorkflowError::Undecodable { .. }), "{error:?}");
}

#[tokio::test]
async fn without_its_workflow_an_instance_waits_for_code_quietly_and_goes_on_when_it_is_there() {
    #[workflow]
    async fn other() -> Result<u32, BoxError> {
        Ok(1)
    }
    #[workflow]
    async fn mine(ledger: &Ledger) -> Result<u32, BoxError> {
        let one = step!("one", ledger.work("one", 1u32)).await?;
        sleep!("pause", days(1)).await;
        let two: u32 = signal!("two").await;
        Ok(one + two)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world.open(|runtime| runtime.workflow(mine).state(ledger.clone())).await;
    for place in 0..20 {
        runtime.start(mine, ()).id(format!("{place}")).await.unwrap();
    }
    for place in 0..20 {
        runtime.until_status(&format!("{place}"), Status::Waiting).await;
    }
    drop(runtime);
    world.clock.advance(days(1));
    let runtime = world.open(|runtime| runtime.workflow(other)).await;
    for place in 0..20 {
        let seen = runtime.until_status(&format!("{place}"), Status::WaitingForCode).await;
        let trouble = seen.trouble.unwrap();
        assert!(trouble.contains("`mine`") && trouble.contains("version 1"), "{trouble}");
    }
    let error = runtime.handle(mine, "0").await.unwrap().result().await.unwrap_err();
    assert!(matches!(error, WorkflowError::WaitingForCode { .. }), "{error:?}");
    assert_eq!(
        runtime
            .list()
            .status(Status::WaitingForCode)
            .await
            .unwrap()
            .instances
            .len(),
        20
    );
    let counts = world.store.counts();
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    world.clock.advance(days(100));
    assert_eq!(world.store.counts(), counts, "nothing is read or written for them");
    for place in 0..20 {
        runtime.signal(&format!("{place}"), "two", &2u32).await.unwrap();
    }
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(mine).state(ledger.clone())).await;
    for place in 0..20 {
        assert_eq!(
            runtime
                .handle(mine, &format!("{place}"))
                .await
                .unwrap()
                .result()
                .await
                .unwrap(),
            3
        );
    }
    assert_eq!(ledger.count("one"), 20);
}

#[tokio::test]
async fn an_instance_keeps_the_version_it_was_started_with() {
    #[workflow(name = "versioned")]
    async fn first() -> Result<u32, BoxError> {
        let _: u32 = signal!("go").await;
        Ok(1)
    }
    #[workflow(name = "versioned", version = 2)]
    async fn second() -> Result<u32, BoxError> {
        sleep!("more", secs(1)).await;
        let _: u32 = signal!("go").await;
        Ok(2)
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(first)).await;
    runtime.start(first, ()).id("old").await.unwrap();
    runtime.until_status("old", Status::Waiting).await;
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(second)).await;
    runtime.start(second, ()).id("new").await.unwrap();
    runtime.signal("old", "go", &1u32).await.unwrap();
    runtime.until_status("old", Status::WaitingForCode).await;
    drop(runtime);
    let runtime = world.open(|runtime| runtime.workflow(first).workflow(second)).await;
    assert_eq!(runtime.handle(first, "old").await.unwrap().result().await.unwrap(), 1);
    runtime.signal("new", "go", &1u32).await.unwrap();
    world
        .advance_until(async || runtime.ask("new").await.status.is_terminal())
        .await;
    assert_eq!(runtime.handle(second, "new").await.unwrap().result().await.unwrap(), 2);
}

/// Requirement D5.
#[tokio::test]
async fn a_key_used_twice_in_one_scope_stops_the_instance_and_names_both_places() {
    #[workflow]
    async fn packs(ledger: &Ledger) -> Result<u32, BoxError> {
        let mut total = 0;
        for line in ["a", "b", "a"] {
            total += step!("pack", ledger.work(line, 1u32)).key(line).await?;
        }
        Ok(total)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world
        .open(|runtime| runtime.workflow(packs).state(ledger.clone()))
        .await;
    let handle = runtime.start(packs, ()).id("a").await.unwrap();
    let trouble = quarantine(handle.result().await.unwrap_err());
    assert!(trouble.contains("`pack(a)`"), "{trouble}");
    assert_eq!(trouble.matches("failures.rs:").count(), 2, "{trouble}");
    assert_eq!(ledger.entries(), ["a", "b"]);
}

#[tokio::test]
async fn one_key_in_different_scopes_and_under_different_names_is_no_conflict() {
    #[workflow]
    async fn packs(ledger: &Ledger) -> Result<u32, BoxError> {
        let one = step!("pack", ledger.work("one", 1u32)).key("k").await?;
        let two = step!("ship", ledger.work("two", 1u32)).key("k").await?;
        let three = async { step!("pay", ledger.work("three", 1u32)).key("k").await }.await?;
        let more = map_concurrent(0..2, 2, |_| async move {
            step!("load", ledger.work("load", 1u32)).key("k").await
        })
        .await?;
        Ok(one + two + three + more.len() as u32)
    }
    let (world, ledger) = (World::new(), Ledger::default());
    let runtime = world
        .open(|runtime| runtime.workflow(packs).state(ledger.clone()))
        .await;
    assert_eq!(runtime.start(packs, ()).await.unwrap().result().await.unwrap(), 5);
}

#[tokio::test]
async fn a_lossy_type_shows_itself_on_the_first_run() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Lossy {
        kept: u32,
        #[serde(skip)]
        skipped: u32,
    }
    #[workflow]
    async fn loses() -> Result<(u32, u32), BoxError> {
        let lossy = step!("make", async { Ok::<_, BoxError>(Lossy { kept: 1, skipped: 2 }) }).await?;
        Ok((lossy.kept, lossy.skipped))
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(loses)).await;
    assert_eq!(runtime.start(loses, ()).await.unwrap().result().await.unwrap(), (1, 0));
}

#[tokio::test]
async fn a_panic_in_what_belongs_to_a_body_is_a_failed_attempt_too() {
    #[derive(Debug)]
    struct Touchy;
    impl std::fmt::Display for Touchy {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("do not print me")
        }
    }
    impl std::error::Error for Touchy {}
    struct Unwritable;
    impl Serialize for Unwritable {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("do not store me")
        }
    }
    impl<'de> Deserialize<'de> for Unwritable {
        fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
            Ok(Self)
        }
    }
    #[workflow]
    async fn touches(what: u32) -> Result<u32, BoxError> {
        let error = match what {
            0 => step!("prints", async { Err::<u32, Touchy>(Touchy) })
                .retry(Retry::none())
                .await
                .err(),
            1 => step!("stores", async { Ok::<Unwritable, BoxError>(Unwritable) })
                .retry(Retry::none())
                .await
                .err(),
            _ => step!("asks", async { Err::<u32, BoxError>("no".into()) })
                .retry_if(|_| panic!("do not ask me"))
                .retry(Retry::none())
                .await
                .err(),
        };
        match error.map(|error| error.kind()) {
            Some(StepFailureKind::Panicked) => Ok(what),
            other => Err(format!("{other:?}").into()),
        }
    }
    let world = World::new();
    let runtime = world.open(|runtime| runtime.workflow(touches)).await;
    for what in 0..3 {
        assert_eq!(
            runtime.start(touches, what).await.unwrap().result().await.unwrap(),
            what
        );
    }
}
