//! Finds the rule that an item breaks: the entries of the table, taken apart once for all functions.
//!
//! An entry is a path. `{a,b}` stands for either, `*` for any one name or the rest of one, and `**` at the end for anything
//! below.
//! Absent on purpose: what a written path means, which `names` tells.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::lint::table::{RULES, Rule};
use crate::names::{Meaning, Names};

static PATHS: LazyLock<Index> = LazyLock::new(|| Index::of(|rule| rule.paths));
static MACROS: LazyLock<Index> = LazyLock::new(|| Index::of(|rule| rule.macros));

/// Types and modules that everybody means when they write nothing else. Only where the file around a function cannot be
/// read: its `use` is then out of sight, and so are types of the author's that have the same name.
const TELLING: &[&str] = &[
    "FuturesOrdered",
    "FuturesUnordered",
    "Instant",
    "JoinSet",
    "Local",
    "OffsetDateTime",
    "OsRng",
    "RandomState",
    "SystemTime",
    "TcpListener",
    "TcpStream",
    "ThreadRng",
    "UdpSocket",
    "Ulid",
    "Utc",
    "Uuid",
    "Zoned",
    "thread",
];

/// Macros that are there without a `use`.
const PRELUDE_MACROS: &[&str] = &[
    "dbg",
    "env",
    "eprint",
    "eprintln",
    "option_env",
    "print",
    "println",
    "thread_local",
];

/// The rule that a function or value breaks.
pub fn rule_of(meaning: &Meaning, names: &Names) -> Option<&'static Rule> {
    let rule = match meaning {
        Meaning::Own => None,
        Meaning::Foreign(path) => PATHS.full(path),
        Meaning::Unknown(path) => PATHS
            .full(path)
            .or_else(|| names.through_globs(path).find_map(|path| PATHS.full(&path)))
            .or_else(|| PATHS.by_head(path).filter(|_| !names.is_whole())),
    };
    rule.or_else(|| thread_rng(meaning, names))
}

/// The rule that a macro breaks.
pub fn rule_of_macro(meaning: &Meaning, names: &Names) -> Option<&'static Rule> {
    match meaning {
        Meaning::Own => None,
        Meaning::Foreign(path) => MACROS.full(path),
        Meaning::Unknown(path) => MACROS
            .full(path)
            .or_else(|| names.through_globs(path).find_map(|path| MACROS.full(&path)))
            .or_else(|| match path.as_slice() {
                [only] if PRELUDE_MACROS.contains(&only.as_str()) => MACROS.full(&["std".to_owned(), only.clone()]),
                _ => None,
            }),
    }
}

/// The one function that everybody calls without a path.
fn thread_rng(meaning: &Meaning, names: &Names) -> Option<&'static Rule> {
    match meaning {
        Meaning::Unknown(path) if !names.is_whole() && path.as_slice() == ["thread_rng"] => {
            PATHS.full(&["rand".to_owned(), "thread_rng".to_owned()])
        }
        _ => None,
    }
}

/// One entry without braces, and its rule.
struct Entry {
    path: Vec<&'static str>,
    rule: &'static Rule,
}

#[derive(Default)]
struct Index {
    /// By the last name, which most entries have.
    named: BTreeMap<&'static str, Vec<Entry>>,
    /// Those that end in a star.
    open: Vec<Entry>,
}

impl Index {
    fn of(entries: impl Fn(&Rule) -> &'static [&'static str]) -> Self {
        let mut index = Self::default();
        for rule in RULES {
            for entry in entries(rule) {
                for path in alternatives(entry) {
                    match path.last() {
                        Some(last) if !last.ends_with('*') => {
                            index.named.entry(last).or_default().push(Entry { path, rule });
                        }
                        _ => index.open.push(Entry { path, rule }),
                    }
                }
            }
        }
        index
    }

    fn candidates<'i>(&'i self, path: &[String]) -> impl Iterator<Item = &'i Entry> {
        let named = path.last().and_then(|last| self.named.get(last.as_str()));
        named.into_iter().flatten().chain(&self.open)
    }

    /// By the whole path. What is named goes before what a star stands for.
    fn full(&self, path: &[String]) -> Option<&'static Rule> {
        let path = usual(path);
        self.candidates(&path)
            .find(|entry| fits(&entry.path, &path))
            .map(|entry| entry.rule)
    }

    /// By what follows a telling type or module.
    fn by_head(&self, path: &[String]) -> Option<&'static Rule> {
        let telling = path.len() > 1 && path.first().is_some_and(|first| TELLING.contains(&first.as_str()));
        let ends = |entry: &&Entry| {
            let skipped = entry.path.len().checked_sub(path.len());
            skipped
                .and_then(|skipped| entry.path.get(skipped..))
                .is_some_and(|tail| fits(tail, path))
        };
        let found = telling.then(|| self.candidates(path).find(ends)).flatten();
        found.map(|entry| entry.rule)
    }
}

/// The path under which the table knows an item that is exported at several places.
fn usual(path: &[String]) -> Vec<String> {
    let name = |name: &String| match name.as_str() {
        "futures_util" | "futures_channel" | "futures_executor" => "futures".to_owned(),
        _ => name.clone(),
    };
    let mut usual: Vec<String> = path.iter().map(name).collect();
    let channel = path.first().is_some_and(|first| first == "futures_channel");
    if channel || path.first().is_some_and(|first| first == "futures_executor") {
        usual.insert(1, if channel { "channel" } else { "executor" }.to_owned());
    }
    // `std::sync::nonpoison::Mutex`, `chrono::prelude::Utc`
    let last = usual.len().saturating_sub(1);
    let mut at = 0;
    usual.retain(|name| {
        at += 1;
        at == 1 || at > last || !matches!(name.as_str(), "nonpoison" | "poison" | "prelude" | "v1")
    });
    usual
}

fn fits(entry: &[&str], path: &[String]) -> bool {
    let same = |entry: &[&str], path: &[String]| {
        let mut pairs = entry.iter().zip(path);
        pairs.all(|(entry, name)| match entry.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => entry == name,
        })
    };
    match entry.split_last() {
        Some((&"**", start)) => path.len() > start.len() && same(start, path),
        _ => entry.len() == path.len() && same(entry, path),
    }
}

/// `a::{b,c::d}` → `a::b`, `a::c::d`
fn alternatives(entry: &'static str) -> Vec<Vec<&'static str>> {
    let split = |text: &'static str| text.split("::").filter(|name| !name.is_empty());
    let Some((start, rest)) = entry.split_once('{') else {
        return vec![split(entry).collect()];
    };
    let (choices, end) = rest.split_once('}').unwrap_or((rest, ""));
    let ends = alternatives(end);
    let choices = choices.split(',').map(str::trim);
    choices
        .flat_map(|choice| {
            ends.iter()
                .map(move |end| split(start).chain(split(choice)).chain(end.iter().copied()).collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str) -> Vec<String> {
        path.split("::").map(str::to_owned).collect()
    }

    #[test]
    fn braces_stand_for_each_of_their_parts() {
        assert_eq!(
            alternatives("a::{b,c::d}::{e, f}"),
            [
                vec!["a", "b", "e"],
                vec!["a", "b", "f"],
                vec!["a", "c", "d", "e"],
                vec!["a", "c", "d", "f"]
            ]
        );
        assert_eq!(alternatives("a::b"), [["a", "b"]]);
    }

    #[test]
    fn one_star_is_one_name_and_two_are_any_number() {
        let one = &["std", "fs", "*"];
        assert!(fits(one, &path("std::fs::read")));
        assert!(!fits(one, &path("std::fs::File::open")) && !fits(one, &path("std::fs")));
        let inner = &["std", "*", "now"];
        assert!(fits(inner, &path("std::time::now")) && !fits(inner, &path("std::now")));
        assert!(fits(&["aws_sdk_*", "new"], &path("aws_sdk_s3::new")));
        let two = &["tokio", "net", "**"];
        assert!(fits(two, &path("tokio::net::TcpStream::connect")) && fits(two, &path("tokio::net::lookup_host")));
        assert!(!fits(two, &path("tokio::net")) && !fits(two, &path("tokio::time::sleep")));
    }

    #[test]
    fn an_item_is_found_wherever_it_is_exported() {
        assert_eq!(
            usual(&path("std::sync::nonpoison::Mutex::new")),
            path("std::sync::Mutex::new")
        );
        assert_eq!(
            usual(&path("futures_util::future::join")),
            path("futures::future::join")
        );
        assert_eq!(
            usual(&path("futures_channel::mpsc::channel")),
            path("futures::channel::mpsc::channel")
        );
        assert_eq!(usual(&path("chrono::prelude::Utc::now")), path("chrono::Utc::now"));
    }

    #[test]
    fn no_entry_is_in_two_rules() {
        for index in [&PATHS, &MACROS] {
            for (last, entries) in &index.named {
                for (at, entry) in entries.iter().enumerate() {
                    let twice = entries.iter().skip(at + 1).find(|other| other.path == entry.path);
                    assert!(twice.is_none(), "{:?} ends in {last} and is there twice", entry.path);
                }
            }
        }
    }
}
