//! The determinism rules: what each matches, why it matters, what to do instead.
//!
//! This table is the single source. A path matches however it is written: in full or through a `use`. The lists of paths
//! are in `paths`, their syntax in `index`. Rules that need more than paths have their code in files of their own, and
//! their words here all the same.
//!
//! Absent on purpose: rules on names and on how checkpoints are written. Those cannot be allowed, and are `check`'s.

use crate::lint::paths;
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

/// How the calls of a rule are kept from giving a second error once they are reported; see `body::rewrite`. Worse ones last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aftermath {
    /// It compiles as it is.
    Harmless,
    /// It stays, and so does its type, but what it gives may be awaited, which is not durable.
    Awaitable,
    /// Its arguments are durable, where others are expected: it must go.
    Replace,
}

impl Rule {
    pub fn aftermath(&self) -> Aftermath {
        match self.id {
            "timer" | "spawn" | "foreign_join" | "foreign_select" | "blocking" => Aftermath::Replace,
            "sync_primitive" | "io" => Aftermath::Awaitable,
            _ => Aftermath::Harmless,
        }
    }
}

/// The rules that code asks for by name.
pub const GLOBAL_STATE: &Rule = by_id("global_state");
pub const ADDRESS_OR_HASH: &Rule = by_id("address_or_hash");
pub const UNSAFE_OR_EXIT: &Rule = by_id("unsafe_or_exit");

const fn by_id(id: &str) -> &'static Rule {
    let mut found = None;
    let mut at = 0;
    while at < RULES.len() {
        if same(RULES[at].id.as_bytes(), id.as_bytes()) {
            found = Some(&RULES[at]);
        }
        at += 1;
    }
    found.expect("the table has the rule")
}

const fn same(one: &[u8], other: &[u8]) -> bool {
    match (one, other) {
        ([], []) => true,
        ([first, rest @ ..], [start, end @ ..]) => *first == *start && same(rest, end),
        _ => false,
    }
}

pub const RULES: &[Rule] = &[
    Rule {
        id: "clock",
        level: Level::Error,
        refuses: "`SystemTime::now`, `Instant::now`, `.elapsed()`, the clocks of chrono, time, jiff, tokio",
        instead: "`now!()`",
        example: "let now = std::time::SystemTime::now();",
        paths: paths::CLOCK,
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
        paths: paths::RANDOMNESS,
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
        paths: paths::FRESH_ID,
        macros: paths::FRESH_ID_MACROS,
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
        paths: paths::TIMER,
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
        paths: paths::SPAWN,
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
        paths: paths::FOREIGN_JOIN,
        macros: paths::FOREIGN_JOIN_MACROS,
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
        paths: paths::FOREIGN_SELECT,
        macros: paths::FOREIGN_SELECT_MACROS,
        message: Message {
            text: "`{0}` does not know durable futures",
            reason: "which branch wins depends on chance and speed, and replay must see the same one win",
            remedy: "use `race!(first, second)` and match on the answer; for many of one kind, `map_concurrent`",
        },
    },
    Rule {
        id: "sync_primitive",
        level: Level::Error,
        refuses: "channels, locks, notifies, barriers, semaphores: making them, and their methods",
        instead: "variables of the workflow, `signal!`, or a step",
        example: "let (sender, receiver) = std::sync::mpsc::channel::<u8>();",
        paths: paths::SYNC_PRIMITIVE,
        macros: &[],
        message: Message {
            text: "workflow code cannot use channels or locks: `{0}`",
            reason: "what others put into them is not recorded, and replay would find something else there",
            remedy: "keep state in variables of the workflow; for news from outside, wait with `signal!`; use a lock in a step",
        },
    },
    Rule {
        id: "io",
        level: Level::Error,
        refuses: "files, network, processes, standard streams, HTTP clients, databases",
        instead: "a step",
        example: "let text = std::fs::read_to_string(path);",
        paths: paths::IO,
        macros: &[],
        message: Message {
            text: "workflow code cannot reach outside: `{0}`",
            reason: "every replay would do it again, and get another answer",
            remedy: "do it in a step, whose result is recorded: `step!(\"name\", { … }).await?`; a client that is shared is state",
        },
    },
    Rule {
        id: "environment",
        level: Level::Error,
        refuses: "environment variables, arguments, directories, process and thread ids, host and user names, number of processors, local time zone; `env!` too, since another build has other values",
        instead: "an input, state, or a step",
        example: "let home = std::env::var(\"HOME\");",
        paths: paths::ENVIRONMENT,
        macros: paths::ENVIRONMENT_MACROS,
        message: Message {
            text: "workflow code cannot read its surroundings: `{0}`",
            reason: "replay may happen on another machine, or in another process or build, where the answer is another one",
            remedy: "take it as an input of the workflow, or read it in a step, whose result is recorded",
        },
    },
    Rule {
        id: "global_state",
        level: Level::Error,
        refuses: "`static mut`, statics that can change, `thread_local!`, `OnceLock`, `LazyLock`, atomics",
        instead: "variables of the workflow, or state",
        example: "let counter = std::sync::atomic::AtomicU32::new(0);",
        paths: paths::GLOBAL_STATE,
        macros: paths::GLOBAL_STATE_MACROS,
        message: Message {
            text: "workflow code cannot use what lives outside of the instance and changes: `{0}`",
            reason: "other instances and steps change it too, and a restart resets it: replay would find another value",
            remedy: "use a variable of the workflow; what is shared belongs into state, and is read and changed in steps",
        },
    },
    Rule {
        id: "address_or_hash",
        level: Level::Error,
        refuses: "addresses as data (pointer casts, `{:p}`, `ptr_eq`), `DefaultHasher`, `TypeId`, `type_name`",
        instead: "an id of your own, a hash that is specified",
        example: "let name = std::any::type_name::<u8>();",
        paths: paths::ADDRESS_OR_HASH,
        macros: paths::ADDRESS_OR_HASH_MACROS,
        message: Message {
            text: "workflow code cannot use addresses or unspecified hashes: `{0}`",
            reason: "they differ from process to process, or from one release of Rust to the next",
            remedy: "compare by value or by an id of your own; for a hash, use one that is specified, such as SHA-256",
        },
    },
    Rule {
        id: "printing",
        level: Level::Warning,
        refuses: "`println!` and its like, the macros of log, slog, defmt",
        instead: "`tracing`, which is silent on replay",
        example: "println!(\"shipped\");",
        paths: &[],
        macros: paths::PRINTING_MACROS,
        message: Message {
            text: "`{0}` in workflow code prints again on every replay",
            reason: "workflow code runs again whenever the instance is replayed",
            remedy: "use `tracing::info!` and its like, which are silent on replay; or print in a step",
        },
    },
    Rule {
        id: "blocking",
        level: Level::Error,
        refuses: "`block_on`, blocking receives and locks, `thread::park`, joining threads, spinning",
        instead: "`.await` of something durable, or a step",
        example: "futures::executor::block_on(work());",
        paths: paths::BLOCKING,
        macros: &[],
        message: Message {
            text: "workflow code cannot block its thread: `{0}`",
            reason: "other instances run on the same thread, and what it waits for is not recorded",
            remedy: "await something durable; if it must block, do it in a step, through `tokio::task::spawn_blocking`",
        },
    },
    Rule {
        id: "unsafe_or_exit",
        level: Level::Error,
        refuses: "`unsafe`, inline assembly, `process::exit`, `abort`, `catch_unwind`, panic hooks",
        instead: "a step, or `return Err(…)`",
        example: "std::process::exit(1);",
        paths: paths::UNSAFE_OR_EXIT,
        macros: paths::UNSAFE_OR_EXIT_MACROS,
        message: Message {
            text: "workflow code cannot use `{0}`",
            reason: "it goes around what makes replay safe: it may change memory or end the process, and a panic must reach the engine",
            remedy: "put it into a step; to end the workflow, `return Err(…)`",
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
mod tests;
