//! The shortest way through every primitive.
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use steadfast::prelude::*;
use steadfast::store::MemoryStore;
use steadfast::testing::VirtualClock;

#[derive(Default)]
struct Ledger {
    bodies: AtomicU32,
}

impl Ledger {
    async fn work(&self, value: u32) -> Result<u32, BoxError> {
        self.bodies.fetch_add(1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        Ok(value + 1)
    }
}

#[workflow]
async fn everything(first: u32, ledger: &Arc<Ledger>) -> Result<Vec<u32>, BoxError> {
    let one = step!("one", ledger.work(first)).await?;
    let (two, three) = join!(step!("two", ledger.work(one)), step!("three", ledger.work(one + 1))).await;
    sleep!("a month", days(30)).await;
    let items = vec![two?, three?, random!(0..10u32)];
    let many = map_concurrent(&items, 2, |item| async move { step!("many", ledger.work(*item)).await }).await?;
    let go: u32 = signal!("go").await;
    let late = signal!("late").timeout(hours(1)).await;
    let _: Result<u32, Elapsed> = late;
    let id = uuid!();
    assert_eq!(id.to_string().len(), 36);
    let raced = match race!(
        step!("slow", async { std::future::pending::<Result<u32, BoxError>>().await }),
        sleep!("short", secs(1))
    )
    .await
    {
        Race2::First(_) => 0,
        Race2::Second(()) => 1,
    };
    Ok([many, vec![go, raced]].concat())
}

#[tokio::test]
async fn one_workflow_uses_everything() {
    let clock = VirtualClock::default();
    let ledger = Arc::new(Ledger::default());
    let store = MemoryStore::new();
    let open = || {
        Runtime::builder()
            .workflow(everything)
            .state(ledger.clone())
            .clock(clock.clone())
            .store(store.clone())
            .start()
    };
    let runtime = open().await.unwrap();
    let handle = runtime.start(everything, 1).id("a").await.unwrap();
    let until = async |status: Status| {
        while runtime.status("a").await.unwrap().status != status {
            tokio::task::yield_now().await;
        }
    };
    until(Status::Waiting).await;
    println!("{:?}", runtime.status("a").await.unwrap());
    clock.advance(days(30));
    println!("{:?}", runtime.signal("a", "go", &7u32).await);
    loop {
        let status = runtime.status("a").await.unwrap();
        if status
            .waiting_for
            .iter()
            .any(|w| matches!(w, steadfast::WaitingFor::Signal { deadline: Some(_), .. }))
        {
            break;
        }
        tokio::task::yield_now().await;
    }
    clock.advance(hours(1));
    loop {
        let status = runtime.status("a").await.unwrap();
        if status
            .waiting_for
            .iter()
            .any(|w| matches!(w, steadfast::WaitingFor::Sleep { .. }))
        {
            break;
        }
        tokio::task::yield_now().await;
    }
    clock.advance(secs(1));
    println!("{:?}", handle.result().await);
    for line in runtime.history("a").await.unwrap() {
        println!("{line}");
    }
    assert_eq!(ledger.bodies.load(Ordering::SeqCst), 6);
    runtime.shutdown(secs(1)).await;
}
