//! Names that look like clocks, chance, timers and spawns, and are not. None of the rules may fire here.
#![deny(warnings)]
#![allow(dead_code)]

use look::{Instant, Utc, Uuid, rand, select, spawn, thread, tokio};
use steadfast::prelude::{BoxError, join, now, random, sleep, step, workflow};

mod look {
    #[derive(Clone, Copy)]
    pub struct Instant;
    impl Instant {
        pub fn now() -> u32 {
            1
        }
        pub fn elapsed(self) -> u32 {
            1
        }
    }
    pub struct Utc;
    impl Utc {
        pub fn now() -> u32 {
            1
        }
    }
    pub struct Uuid;
    impl Uuid {
        pub fn new_v4() -> u32 {
            1
        }
    }
    pub mod rand {
        pub fn random() -> u32 {
            1
        }
        pub fn thread_rng() -> u32 {
            1
        }
    }
    pub mod thread {
        pub fn sleep(_: u32) {}
        pub fn spawn(_: u32) {}
    }
    pub mod tokio {
        pub fn spawn(_: u32) {}
        pub mod time {
            pub fn sleep(_: u32) {}
        }
        macro_rules! join {
            ($($any:tt)*) => { 1 };
        }
        pub(crate) use join as joined;
    }
    pub fn spawn(_: u32) {}
    macro_rules! select {
        ($($any:tt)*) => { 1 };
    }
    pub(crate) use select;
}

struct Dice;

impl Dice {
    fn random(&self) -> u32 {
        4
    }
    fn now(&self) -> u32 {
        4
    }
    fn spawn(&self) -> u32 {
        4
    }
    fn elapsed(&self) -> u32 {
        4
    }
    fn sleep(&self) -> u32 {
        4
    }
    fn select(&self) -> u32 {
        4
    }
}

fn thread_rng() -> u32 {
    4
}

#[workflow]
async fn innocent(started: u32) -> Result<u32, BoxError> {
    fn uuid() -> u32 {
        1
    }
    let dice = Dice;
    let env = dice.random() + dice.now() + dice.spawn() + dice.elapsed() + dice.sleep() + dice.select();
    let time = Instant::now() + Instant.elapsed() + Utc::now() + Uuid::new_v4();
    let chance = rand::random() + rand::thread_rng() + thread_rng() + uuid();
    thread::sleep(1);
    thread::spawn(1);
    tokio::spawn(1);
    tokio::time::sleep(1);
    spawn(1);
    let selected = select! { nothing => else };
    let joined = look::tokio::joined!(a, b);
    let random = || 1;
    let now = random() + time + chance + env + selected + joined;
    // SystemTime::now(), rand::random(), Uuid::new_v4(), tokio::spawn(…)
    let text = "SystemTime::now() rand::random() Uuid::new_v4() tokio::spawn() std::thread::sleep()";
    println!("{text}");
    let recorded = now!();
    let _: u32 = random!(0..1);
    sleep!("rand::random()", recorded).await;
    join!(async {}, async {}).await;
    Ok(step!("in a body everything is allowed", {
        let started = std::time::Instant::now();
        let taken = started.elapsed().as_secs() + std::time::SystemTime::now().elapsed()?.as_secs();
        std::thread::sleep(std::time::Duration::ZERO);
        ::tokio::task::yield_now().await;
        let (_, _) = ::tokio::join!(async {}, async {});
        ::tokio::select! {
            _ = async {} => {}
            _ = async {} => {}
        }
        Ok(u32::try_from(taken)?)
    })
    .await?
        + now
        + started)
}

#[workflow]
async fn allowed() -> Result<(), BoxError> {
    #[allow_nondeterminism(clock, reason = "only printed, never decides anything")]
    let started = std::time::Instant::now();
    #[allow_nondeterminism(clock, reason = "only printed")]
    println!("{:?} {:?}", started, std::time::Instant::now());
    #[allow_nondeterminism(spawn, reason = "a heartbeat that nobody waits for")]
    std::thread::spawn(|| {});
    Ok(())
}

fn main() {}
