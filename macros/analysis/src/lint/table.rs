//! The determinism rules: what each matches, why it matters, what to do instead.
//!
//! This table is the single source. A path matches however it is written: in full, through a `use`, or by its type
//! (`Instant::now`). A `*` at the end stands for any one name. Rules that need more than paths are modules of their own,
//! beside this one, and stand at the end of the list all the same.
//!
//! Absent on purpose: rules on names and on how checkpoints are written. Those cannot be allowed, and are `check`'s.

use crate::lint::{
    captured_cell, checkpoint_in_body, discarded_result, endless_loop, float_branch, guard_across_checkpoint,
    hash_order, not_awaited, stored_usize,
};
use crate::message::Message;

/// One rule.
pub struct Rule {
    /// What `#[allow_nondeterminism(…)]` calls it.
    pub id: &'static str,
    pub level: Level,
    /// What it matches, for the documentation.
    pub refuses: &'static str,
    /// What to write instead, for the documentation.
    pub instead: &'static str,
    /// Statements of an async function that break it, and nothing else.
    pub example: &'static str,
    /// Functions and values, by their full path.
    pub paths: &'static [&'static str],
    /// Macros, by their full path.
    pub macros: &'static [&'static str],
    /// `{0}` is the offending code as it is written.
    pub message: Message,
}

/// What happens to code that breaks a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// It does not compile.
    Error,
    /// It compiles with a warning: the rule cannot tell a mistake from what is meant.
    Warning,
}

/// How the calls of a rule are kept from giving a second error once they are reported; see `body::rewrite`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aftermath {
    /// It compiles as it is.
    Harmless,
    /// Its future is not durable, or its arguments are: it must go.
    Replace,
}

impl Rule {
    pub fn aftermath(&self) -> Aftermath {
        match self.id {
            "timer" | "spawn" | "foreign_join" | "foreign_select" => Aftermath::Replace,
            _ => Aftermath::Harmless,
        }
    }
}

pub const CLOCK: &Rule = &RULES[0];

pub const RULES: &[Rule] = &[
    Rule {
        id: "clock",
        level: Level::Error,
        refuses: "`SystemTime::now`, `Instant::now`, `.elapsed()`, the clocks of chrono, time, jiff, tokio",
        instead: "`now!()`",
        example: "let now = std::time::SystemTime::now();",
        paths: &[
            "std::time::SystemTime::now",
            "std::time::Instant::now",
            "tokio::time::Instant::now",
            "chrono::Utc::now",
            "chrono::Local::now",
            "chrono::offset::Utc::now",
            "chrono::offset::Local::now",
            "time::OffsetDateTime::now_utc",
            "time::OffsetDateTime::now_local",
            "time::UtcDateTime::now",
            "jiff::Timestamp::now",
            "jiff::Zoned::now",
            "web_time::SystemTime::now",
            "web_time::Instant::now",
            "quanta::Instant::now",
            "quanta::Clock::new",
            "coarsetime::Instant::now",
            "coarsetime::Clock::now_since_epoch",
            "minstant::Instant::now",
            "humantime::Timestamp::now",
            "prost_types::Timestamp::now",
        ],
        macros: &[],
        message: Message {
            text: "workflow code cannot read the clock: `{0}`",
            reason: "replay runs this line again at another time, and could take another path",
            remedy: "use `now!()`, which is the recorded time; or read the clock in a step, if the exact time matters",
        },
    },
    Rule {
        id: "randomness",
        level: Level::Error,
        refuses: "rand, fastrand, getrandom, `RandomState`",
        instead: "`random!()`",
        example: "let dice: u8 = rand::random();",
        paths: &[
            "rand::random",
            "rand::random_bool",
            "rand::random_iter",
            "rand::random_range",
            "rand::random_ratio",
            "rand::fill",
            "rand::rng",
            "rand::thread_rng",
            "rand::make_rng",
            "rand::rngs::ThreadRng::default",
            "rand::rngs::OsRng",
            "rand::rngs::SysRng",
            "rand::rngs::StdRng::from_os_rng",
            "rand::rngs::StdRng::from_entropy",
            "rand::rngs::SmallRng::from_os_rng",
            "rand::rngs::SmallRng::from_entropy",
            "rand_core::OsRng",
            "fastrand::*",
            "fastrand::Rng::new",
            "fastrand::Rng::default",
            "getrandom::*",
            "nanorand::tls_rng",
            "oorandom::Rand32::new",
            "std::hash::RandomState::new",
            "std::hash::RandomState::default",
            "std::collections::hash_map::RandomState::new",
            "std::collections::hash_map::RandomState::default",
            "ahash::RandomState::new",
        ],
        macros: &[],
        message: Message {
            text: "workflow code cannot draw its own randomness: `{0}`",
            reason: "replay would draw another value, and could take another path",
            remedy: "use `random!()` or `random!(low..high)`, which draw the same on replay; or draw in a step",
        },
    },
    Rule {
        id: "fresh_id",
        level: Level::Error,
        refuses: "`Uuid::new_v4` and its like, ulid, nanoid, cuid",
        instead: "`uuid!()`",
        example: "let id = uuid::Uuid::new_v4();",
        paths: &[
            "uuid::Uuid::new_v1",
            "uuid::Uuid::new_v4",
            "uuid::Uuid::new_v6",
            "uuid::Uuid::new_v7",
            "uuid::Uuid::now_v1",
            "uuid::Uuid::now_v6",
            "uuid::Uuid::now_v7",
            "uuid::Timestamp::now",
            "ulid::Ulid::new",
            "ulid::Ulid::generate",
            "ulid::Generator::new",
            "ksuid::Ksuid::generate",
            "svix_ksuid::Ksuid::new",
            "cuid::cuid",
            "cuid::cuid1",
            "cuid::cuid2",
            "cuid2::create_id",
            "cuid2::cuid",
            "xid::new",
            "bson::oid::ObjectId::new",
            "mongodb::bson::oid::ObjectId::new",
        ],
        macros: &["nanoid::nanoid"],
        message: Message {
            text: "workflow code cannot make its own ids: `{0}`",
            reason: "replay would make another one, and whoever got the first would never be found again",
            remedy: "use `uuid!()`, which makes the same one on replay; or make it in a step",
        },
    },
    Rule {
        id: "timer",
        level: Level::Error,
        refuses: "sleeps, timeouts and intervals of any runtime",
        instead: "`sleep!`, `.timeout(…)`",
        example: "tokio::time::sleep(delay).await;",
        paths: &[
            "tokio::time::sleep",
            "tokio::time::sleep_until",
            "tokio::time::timeout",
            "tokio::time::timeout_at",
            "tokio::time::interval",
            "tokio::time::interval_at",
            "std::thread::sleep",
            "std::thread::sleep_ms",
            "async_std::task::sleep",
            "async_std::future::timeout",
            "smol::Timer::after",
            "smol::Timer::at",
            "smol::Timer::interval",
            "async_io::Timer::after",
            "async_io::Timer::at",
            "async_io::Timer::interval",
            "futures_timer::Delay::new",
            "gloo_timers::future::sleep",
        ],
        macros: &[],
        message: Message {
            text: "workflow code cannot wait on a timer of its own: `{0}`",
            reason: "it is forgotten when the process stops, and starts over on replay",
            remedy: "use `sleep!(\"name\", duration)`; for a time limit, `.timeout(duration)` of a step or signal, or `race!` against a sleep",
        },
    },
    Rule {
        id: "spawn",
        level: Level::Error,
        refuses: "tasks and threads",
        instead: "a step, `join!`, `map_concurrent`",
        example: "tokio::spawn(work());",
        paths: &[
            "tokio::spawn",
            "tokio::task::spawn",
            "tokio::task::spawn_blocking",
            "tokio::task::spawn_local",
            "tokio::task::block_in_place",
            "tokio::task::JoinSet::new",
            "tokio::task::JoinSet::spawn",
            "std::thread::spawn",
            "std::thread::scope",
            "std::thread::Builder::new",
            "rayon::spawn",
            "rayon::join",
            "rayon::scope",
            "async_std::task::spawn",
            "async_std::task::spawn_blocking",
            "smol::spawn",
            "smol::unblock",
            "blocking::unblock",
        ],
        macros: &[],
        message: Message {
            text: "workflow code cannot start tasks or threads: `{0}`",
            reason: "they run on their own, so their effects would be neither recorded nor replayed",
            remedy: "do it in a step; to do several things at once, use `join!`, `join_all` or `map_concurrent`",
        },
    },
    Rule {
        id: "foreign_join",
        level: Level::Error,
        refuses: "`tokio::join!`, `futures::future::join_all` and their like",
        instead: "`join!`, `join_all`",
        example: "tokio::join!(first, second);",
        paths: &[
            "futures::future::join",
            "futures::future::join3",
            "futures::future::join4",
            "futures::future::join5",
            "futures::future::join_all",
            "futures::future::try_join",
            "futures::future::try_join3",
            "futures::future::try_join4",
            "futures::future::try_join5",
            "futures::future::try_join_all",
            "futures_util::future::join",
            "futures_util::future::join_all",
            "futures_util::future::try_join",
            "futures_util::future::try_join_all",
            "futures_lite::future::zip",
            "futures_lite::future::try_zip",
        ],
        macros: &[
            "tokio::join",
            "tokio::try_join",
            "futures::join",
            "futures::try_join",
            "futures::future::join",
            "futures_util::join",
            "futures_util::try_join",
            "std::future::join",
        ],
        message: Message {
            text: "`{0}` does not know durable futures",
            reason: "it would poll its branches in an order of its own, which replay cannot repeat",
            remedy: "use Steadfast's own `join!`, `try_join!`, `join_all` or `try_join_all`",
        },
    },
    Rule {
        id: "foreign_select",
        level: Level::Error,
        refuses: "`tokio::select!`, `FuturesUnordered` and their like",
        instead: "`race!`, `map_concurrent`",
        example: "futures::future::select(first, second).await;",
        paths: &[
            "futures::future::select",
            "futures::future::select_all",
            "futures::future::select_ok",
            "futures::future::try_select",
            "futures::stream::FuturesUnordered::new",
            "futures::stream::FuturesOrdered::new",
            "futures::stream::select",
            "futures::stream::select_all",
            "futures_util::future::select",
            "futures_util::future::select_all",
            "futures_util::future::select_ok",
            "futures_util::stream::FuturesUnordered::new",
            "futures_util::stream::FuturesOrdered::new",
            "futures_lite::future::or",
            "futures_lite::future::race",
        ],
        macros: &[
            "tokio::select",
            "futures::select",
            "futures::select_biased",
            "futures_util::select",
            "futures_util::select_biased",
        ],
        message: Message {
            text: "`{0}` does not know durable futures",
            reason: "which branch wins depends on chance and speed, and replay must see the same one win",
            remedy: "use `race!(first, second)` and match on the answer; for many of one kind, `map_concurrent`",
        },
    },
    hash_order::RULE,
    checkpoint_in_body::RULE,
    captured_cell::RULE,
    not_awaited::RULE,
    endless_loop::RULE,
    float_branch::RULE,
    stored_usize::RULE,
    guard_across_checkpoint::RULE,
    discarded_result::RULE,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_found_by_its_own_id() {
        assert_eq!(CLOCK.id, "clock");
        for (index, rule) in RULES.iter().enumerate() {
            assert!(
                RULES.iter().skip(index + 1).all(|other| other.id != rule.id),
                "two rules `{}`",
                rule.id
            );
        }
    }

    #[test]
    fn the_documentation_lists_every_rule() {
        let documentation = include_str!("../../../src/lib.rs");
        for rule in RULES {
            let Rule {
                id, refuses, instead, ..
            } = rule;
            let row = format!("/// | `{id}` | {refuses} | {instead} |");
            assert!(documentation.contains(&row), "{row}");
        }
    }

    #[test]
    fn every_message_ends_without_a_full_stop_and_shows_what_was_found() {
        for rule in RULES {
            let message = &rule.message;
            assert!(message.text.contains("{0}"), "`{}`", rule.id);
            for part in [message.text, message.reason, message.remedy] {
                assert!(!part.ends_with('.'), "{part}");
            }
        }
    }
}
