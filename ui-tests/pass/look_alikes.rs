//! Names that look like clocks, files, locks and the like, and are not. None of the rules may fire here.
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
    tracing::info!("{text}");
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
    #[allow_nondeterminism(printing, reason = "printing twice does no harm")]
    println!("{:?} {:?}", started, std::time::Instant::now());
    #[allow_nondeterminism(spawn, reason = "a heartbeat that nobody waits for")]
    std::thread::spawn(|| {});
    Ok(())
}

/// Own modules, types and macros with the names of the standard library and of well-known crates.
mod own {
    pub mod fs {
        pub fn read(_: &str) -> u32 {
            1
        }
        pub struct File;
        impl File {
            pub fn open(_: &str) -> u32 {
                1
            }
        }
    }
    pub mod env {
        pub fn var(_: &str) -> u32 {
            1
        }
        pub fn args() -> u32 {
            1
        }
    }
    pub mod process {
        pub fn exit(_: u32) -> u32 {
            1
        }
        pub fn id() -> u32 {
            1
        }
        #[derive(Default)]
        pub struct Command;
        impl Command {
            pub fn new(_: &str) -> Self {
                Self
            }
            pub fn spawn(&self) -> u32 {
                1
            }
            pub fn status(&self) -> u32 {
                1
            }
        }
    }
    pub mod sync {
        pub struct Mutex(pub u32);
        impl Mutex {
            pub fn new(inner: u32) -> Self {
                Self(inner)
            }
            pub fn lock(&self) -> u32 {
                self.0
            }
            pub fn blocking_lock(&self) -> u32 {
                self.0
            }
        }
        pub mod mpsc {
            pub fn channel() -> u32 {
                1
            }
        }
        pub struct AtomicU32;
        impl AtomicU32 {
            pub const fn new(_: u32) -> Self {
                Self
            }
            pub fn load(&self) -> u32 {
                1
            }
        }
        pub struct OnceLock;
        impl OnceLock {
            pub fn new() -> u32 {
                1
            }
        }
    }
    pub mod hash {
        pub struct DefaultHasher;
        impl DefaultHasher {
            pub fn new() -> u32 {
                1
            }
        }
        pub struct TypeId;
        impl TypeId {
            pub fn of<T>() -> u32 {
                1
            }
        }
    }
    pub mod reqwest {
        pub fn get(_: &str) -> u32 {
            1
        }
        pub struct Client;
        impl Client {
            pub fn new() -> u32 {
                1
            }
        }
    }
    pub fn block_on(_: u32) -> u32 {
        1
    }
    pub fn catch_unwind(_: u32) -> u32 {
        1
    }
    pub fn join_all(_: u32) -> u32 {
        1
    }
    pub fn available_parallelism() -> u32 {
        1
    }
    /// Its parts can be taken by a glob, too.
    pub mod prelude {
        pub use super::sync::Mutex;
        pub fn stdout() -> u32 {
            1
        }
        pub fn abort() -> u32 {
            1
        }
    }
    macro_rules! println {
        ($text:literal) => {
            1
        };
    }
    pub(crate) use println;
    macro_rules! info {
        ($($any:tt)*) => {
            1
        };
    }
    pub(crate) use info as log_info;
}

mod owner {
    use super::own::prelude::*;
    use super::own::process::Command;
    use super::own::sync::{AtomicU32, OnceLock};
    use super::own::{env, fs, hash, process, println, reqwest, sync};
    use steadfast::prelude::{BoxError, workflow};

    static COUNT: AtomicU32 = AtomicU32::new(0);
    static LIMITS: &[u32] = &[1, 2];
    const SELECT: u32 = 1;

    macro_rules! thread_local {
        ($number:expr) => {
            $number
        };
    }

    #[workflow]
    async fn owner() -> Result<u32, BoxError> {
        let files = fs::read("name") + fs::File::open("name");
        let surroundings = env::var("HOME") + env::args() + process::id() + process::exit(1);
        let child = Command::new("ls");
        let command = child.spawn() + child.status() + process::Command::new("ls").status();
        let lock = Mutex::new(1);
        let locked = lock.lock() + lock.blocking_lock() + sync::Mutex::new(2).lock() + sync::mpsc::channel();
        let hashed = hash::DefaultHasher::new() + hash::TypeId::of::<u8>() + reqwest::get("page") + reqwest::Client::new();
        let blocked = super::own::block_on(1) + super::own::catch_unwind(1) + super::own::join_all(1);
        let globals = COUNT.load() + LIMITS[0] + SELECT + OnceLock::new() + thread_local!(1) + stdout() + abort();
        let printed = println!("printed") + super::own::log_info!(Instant::now) + crate::own::available_parallelism();
        Ok(files + surroundings + command + locked + hashed + blocked + globals + printed)
    }
}

/// Standard items that only describe.
mod harmless {
    use steadfast::prelude::*;
    use std::collections::BTreeMap;
    use std::net::IpAddr;
    use std::path::{Path, PathBuf};
    use std::process::ExitCode;
    use std::sync::Arc;
    use std::time::{Duration, Instant, SystemTime};

    type Shared = std::sync::Arc<std::sync::Mutex<u32>>;

    fn described(_: Option<std::fs::Metadata>, _: Option<std::process::Command>) -> u32 {
        1
    }

    /// Types of state, and of what is handed around.
    #[workflow]
    async fn types(
        lock: &std::sync::Mutex<u32>,
        news: &tokio::sync::Notify,
        since: Duration,
    ) -> Result<(), BoxError> {
        let none: Option<Instant> = None::<std::time::Instant>;
        let list = Vec::<std::sync::atomic::AtomicU32>::new();
        let size = size_of::<std::fs::File>() + size_of::<tokio::sync::Semaphore>();
        let shared = (Arc::new(1), Arc::clone(&Arc::new(2)), None::<Shared>);
        let both = (lock, news);
        drop((none, list, size, shared, both, described(None, None), since));
        Ok(())
    }

    #[workflow]
    async fn values(name: String) -> Result<u32, BoxError> {
        let epoch = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        let between = epoch.duration_since(std::time::UNIX_EPOCH)?;
        let path = Path::new("a").join(&name).with_extension("txt");
        let other = PathBuf::from("/x");
        let address: IpAddr = "127.0.0.1".parse()?;
        let local = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
        let code = ExitCode::SUCCESS;
        let error = std::io::Error::other("no such order");
        let kind = std::io::ErrorKind::NotFound;
        let missing = std::env::VarError::NotPresent;
        let closed = tokio::sync::mpsc::error::TryRecvError::Empty;
        let order = 1.cmp(&2) == std::cmp::Ordering::Less;
        let relaxed = std::sync::atomic::Ordering::Relaxed;
        let buffer: Result<Vec<u8>, std::io::Error> = Ok(Vec::new());
        let map: BTreeMap<u32, u32> = BTreeMap::new();
        let separator = std::path::MAIN_SEPARATOR;
        let slice = name.as_bytes().as_ptr().is_aligned();
        let number = 1u8 as u32 + 'a' as u32 + name.len() as u32;
        let text = format!("{name:?} {:>p$} {{:p}} {}", 1, "{:p}", p = 3);
        let shape = std::mem::size_of::<u32>() + std::mem::align_of::<u32>();
        drop((between, path, other, address, local, code, error, kind, missing, closed, order));
        drop((relaxed, buffer, map, separator, slice, text, shape));
        Ok(number)
    }
}

/// Names in every place where a name can stand.
mod places {
    use steadfast::prelude::{BoxError, durable, secs, workflow};
    use std::time::Instant;
    use tokio::time::{interval, sleep as pause, timeout};

    enum Mode {
        Mutex,
        Command { env: u32, fs: u32 },
        Instant(u32),
    }

    struct Flags {
        now: u32,
        random: u32,
        spawn: u32,
        stdin: u32,
        exit: u32,
    }

    trait Clock {
        fn now() -> u32;
        fn elapsed(&self) -> u32;
        fn block_on(&self) -> u32;
        fn exists(&self) -> u32;
        fn recv(&self) -> u32;
        fn buffer_unordered(&self) -> u32;
    }

    impl Clock for Flags {
        fn now() -> u32 {
            1
        }
        fn elapsed(&self) -> u32 {
            1
        }
        fn block_on(&self) -> u32 {
            1
        }
        fn exists(&self) -> u32 {
            1
        }
        fn recv(&self) -> u32 {
            1
        }
        fn buffer_unordered(&self) -> u32 {
            1
        }
    }

    macro_rules! race {
        ($one:expr) => {
            $one
        };
    }

    macro_rules! named {
        ($($any:tt)*) => {
            stringify!($($any)*)
        };
    }

    /// The generic parameter hides the type of the file.
    #[durable]
    async fn generic<Instant: Clock>(value: Instant) -> u32 {
        Instant::now() + value.elapsed() + <Instant as Clock>::now() + value.recv()
    }

    #[workflow]
    async fn places(timeout: u32) -> Result<u32, BoxError> {
        let flags = Flags { now: 1, random: 2, spawn: 3, stdin: 4, exit: 5 };
        let Flags { now, random, spawn, stdin, exit } = &flags;
        let mode = [Mode::Mutex, Mode::Command { env: 1, fs: 2 }, Mode::Instant(*now)];
        let mut sum = random + spawn + stdin + exit + flags.now;
        for interval in &mode {
            sum += match interval {
                Mode::Mutex => 1,
                Mode::Command { env, fs } => env + fs,
                Mode::Instant(elapsed) => *elapsed,
            };
        }
        if let Some(pause) = Some(1) {
            sum += pause + timeout;
        }
        'sleep: loop {
            break 'sleep;
        }
        let own = |interval: fn(u32) -> u32| interval(1);
        sum += own(|number| number) + flags.elapsed() + flags.block_on() + flags.exists() + flags.buffer_unordered();
        sum += race!(1);
        let texts = [named!("Instant::now()"), named!(now, x.now(), spawn), stringify!(Instant::now())];
        // Instant::now(), std::fs::read("x"), unsafe { }, println!("x"), static mut X
        Ok(sum + texts.len() as u32 + generic(flags).await)
    }

    /// Outside of workflow code everything stays allowed, and uses the imports.
    fn outside() -> impl Sized {
        (Instant::now(), pause(secs(1)), timeout(secs(1), async {}), interval as fn(_) -> _)
    }
}

/// Seeds and hashes that are given.
mod given {
    use steadfast::prelude::{BoxError, deterministic, workflow};

    struct StdRng;
    impl StdRng {
        fn seed_from_u64(seed: u64) -> u64 {
            seed
        }
    }
    struct Uuid;
    impl Uuid {
        fn from_bytes(_: [u8; 16]) -> u32 {
            1
        }
        fn new_v5() -> u32 {
            1
        }
    }

    #[workflow]
    async fn seeded(seed: u64) -> Result<u64, BoxError> {
        Ok(StdRng::seed_from_u64(seed) + u64::from(Uuid::from_bytes([0; 16]) + Uuid::new_v5() + helper(1)))
    }

    #[deterministic]
    const fn helper(number: u32) -> u32 {
        number + 1
    }

    impl Uuid {
        /// A method, generic, with an allowance inside.
        #[deterministic]
        fn describe<T: std::fmt::Debug>(&self, value: &T) -> String {
            #[allow_nondeterminism(clock, reason = "only shown")]
            let now = std::time::SystemTime::now();
            format!("{value:?} {now:?}")
        }
    }
}

fn main() {}
