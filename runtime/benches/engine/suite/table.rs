//! The table for people, at the end of a run: what was measured, and whether what was to be reached is reached.

use crate::suite::arguments::StoreKind;
use crate::suite::meter::is_counting;
use crate::suite::report::{Goal, Limit, Report, Round, Verdict};

pub(crate) fn table(reports: &[Report], is_quick: bool) {
    let mut lines = vec![format!(
        "\n{:<14} {:>18} {:>11} {:>11} {:>11} {:>8} {:>7}  ratios (lowest to highest of the first); figures; goals",
        "case", "setting", "rate/s", "p50 us", "p99 us", "flushes", "allocs"
    )];
    for report in reports {
        lines.push(row(report));
        lines.extend(notes(report));
    }
    if reports.iter().any(|report| report.store != StoreKind::Sled.name()) {
        lines.push("goals are for sled: a store in memory has none".to_owned());
    }
    if is_quick {
        lines.push("a quick run checks that everything works; its numbers mean nothing".to_owned());
    }
    eprintln!("{}", lines.join("\n"));
}

fn row(report: &Report) -> String {
    let round = report.median();
    let own = &round.own;
    let (name, value) = report.setting;
    let spread = match report.spread() {
        (low, high) if low.is_finite() && high.is_finite() => format!(" ({low:.3} to {high:.3})"),
        _ => String::new(),
    };
    let allocations = match is_counting() {
        true => format!("{:.1}", own.allocations as f64 / own.n as f64),
        false => "-".to_owned(),
    };
    let case = format!("{} {}", report.case, report.aspect);
    format!(
        "{:<14} {:>18} {:>11.0} {:>11.0} {:>11.0} {:>8} {:>7}  {}{spread}",
        case.trim_end(),
        format!("{value} {name}"),
        own.rate(),
        own.p50(),
        own.p99(),
        own.flushes,
        allocations,
        named(&round.ratios),
    )
}

fn notes(report: &Report) -> Vec<String> {
    let round = report.median();
    let mut notes = Vec::new();
    let is_judged = |name: &str| report.goals.iter().any(|goal| goal.of == name);
    let figures = round.figures.iter().copied();
    let figures = named(&figures.filter(|(name, _)| !is_judged(name)).collect::<Vec<_>>());
    if !figures.is_empty() {
        notes.push(figures);
    }
    let goals = report.goals.iter();
    notes.extend(goals.map(|goal| words(*goal, round)));
    notes.iter().map(|note| format!("{:>34}{note}", "")).collect()
}

fn words(goal: Goal, round: &Round) -> String {
    let (words, limit) = match goal.limit {
        Limit::AtLeast(limit) => ("at least", limit),
        Limit::AtMost(limit) => ("at most", limit),
    };
    let value = match round.named(goal.of) {
        value if value.is_finite() => format!("{value:.3}, "),
        _ => String::new(),
    };
    let verdict = match goal.verdict(round) {
        Verdict::Reached => "reached".to_owned(),
        Verdict::NotReached => "not reached".to_owned(),
        Verdict::NotKnown(reason) => format!("not known: {reason}"),
    };
    format!("{}: {value}to be {words} {limit}: {verdict}", goal.of)
}

/// Those that are known.
fn named(values: &[(&'static str, f64)]) -> String {
    let values: Vec<String> = values
        .iter()
        .filter(|(_, value)| value.is_finite())
        .map(|(name, value)| format!("{name} {value:.3}"))
        .collect();
    values.join(", ")
}
