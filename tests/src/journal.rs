//! Journals as a store has them, read without an engine, in the words that people see.

use std::collections::BTreeSet;
use steadfast::store::Store;
use steadfast::testing;

/// The lines of an instance's journal; empty if it does not exist.
pub fn lines(store: &dyn Store, id: &str) -> Vec<String> {
    let entries = testing::history(store, id).expect("the journal can be read");
    entries.into_iter().map(|entry| entry.what).collect()
}

/// The steps that have ended in a journal, for good or ill.
pub fn ended_steps(lines: &[String]) -> BTreeSet<String> {
    let ended = |line: &&String| line.contains("` succeeded on") || line.contains("` failed for good");
    lines.iter().filter(ended).filter_map(|line| step(line)).collect()
}

/// The checkpoint path between the backticks.
pub fn step(line: &str) -> Option<String> {
    line.split('`').nth(1).map(str::to_owned)
}

/// A journal without what a crash or another seed may change: interrupted attempts, attempt numbers, instants, sizes; how often `flaky` failed
/// (a failure that was not recorded is repeated); and whether `once` was interrupted.
pub fn comparable(lines: &[String]) -> Vec<String> {
    lines.iter().filter_map(|line| comparable_line(line)).collect()
}

/// The first line at which a journal differs from what an undisturbed run gave (as [`comparable`]): found, expected.
pub fn difference(lines: &[String], expected: &[String]) -> Option<(String, String)> {
    let found = comparable(lines);
    let longer = found.len().max(expected.len());
    let line = |of: &[String], place: usize| of.get(place).cloned().unwrap_or_default();
    let mut pairs = (0..longer).map(|place| (line(&found, place), line(expected, place)));
    pairs.find(|(found, expected)| found != expected)
}

fn comparable_line(line: &str) -> Option<String> {
    let path = step(line).unwrap_or_default();
    let is_attempt = line.contains(" attempt ") && (line.contains(" failed, next at ") || line.ends_with(" began"));
    if line.contains("` was interrupted")
        || line.contains(" was interrupted; attempt ")
        || path.ends_with("flaky") && is_attempt
    {
        return None;
    }
    if path.ends_with("once") {
        return Some("step `once` ended".to_owned());
    }
    let line = line.split(", until ").next().unwrap_or_default();
    // Chance is encoded in more or fewer bytes.
    let line = line.split_once(" with ").map_or(line, |(before, _)| before);
    let mut words: Vec<&str> = Vec::new();
    for word in line.split(' ') {
        let is_number = matches!(words.last(), Some(&"attempt"));
        words.push(if is_number { "_" } else { word });
    }
    let line = words.join(" ");
    match line.split_once(", next at ") {
        // `2026-01-01 00:00:00.000 UTC: message`
        Some((before, after)) => {
            let message = after.split_once("UTC: ").map_or("", |(_, message)| message);
            Some(format!("{before}: {message}"))
        }
        None => Some(line),
    }
}

/// What is wrong with a journal on its own, whatever ran it: a step that ends twice, or attempts that run backwards.
pub fn defects(lines: &[String]) -> Vec<String> {
    let mut defects = Vec::new();
    let mut ended = BTreeSet::new();
    for line in lines {
        let Some(path) = step(line).filter(|_| line.starts_with("step ")) else {
            continue;
        };
        if ended.contains(&path) {
            defects.push(format!("after its end: {line}"));
        }
        if line.contains("` succeeded on") || line.contains("` failed for good") || line.ends_with("` was dropped") {
            ended.insert(path);
        }
    }
    defects
}
