//! What a case found: a JSON line for programs, a table row for people.

use crate::bed::Measured;
use std::fmt::Write;

/// One setting of one case.
pub(crate) struct Report {
    pub(crate) case: &'static str,
    /// What was varied, and to what.
    pub(crate) setting: (&'static str, u64),
    pub(crate) store: &'static str,
    /// What `n` and `rate` count.
    pub(crate) unit: &'static str,
    /// What `p50` and `p99` are the times of.
    pub(crate) wait: &'static str,
    /// At least one.
    pub(crate) rounds: Vec<Round>,
}

/// The case and what it is compared with, measured one right after the other.
pub(crate) struct Round {
    pub(crate) own: Measured,
    pub(crate) references: Vec<(&'static str, Measured)>,
    /// Named comparisons. The first one is what the case is judged by.
    pub(crate) ratios: Vec<(&'static str, f64)>,
}

impl Report {
    /// The round that is the median by its first ratio.
    fn median(&self) -> &Round {
        let mut rounds: Vec<&Round> = self.rounds.iter().collect();
        rounds.sort_by(|a, b| a.ratio(0).total_cmp(&b.ratio(0)));
        rounds[rounds.len() / 2]
    }

    fn spread(&self) -> (f64, f64) {
        let ratios = self.rounds.iter().map(|round| round.ratio(0));
        ratios.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), ratio| {
            (low.min(ratio), high.max(ratio))
        })
    }

    /// The median round, and how far the rounds were apart.
    pub(crate) fn json(&self) -> String {
        let Round {
            own,
            references,
            ratios,
        } = self.median();
        let (name, value) = self.setting;
        let mut line = format!(
            "{{\"case\":\"{}\",\"{name}\":{value},\"store\":\"{}\",\"unit\":\"{}\",\"wait\":\"{}\",{},\
             \"commits\":{},\"writes\":{},\"peak_memory_bytes\":{}",
            self.case,
            self.store,
            self.unit,
            self.wait,
            times(own),
            own.commits,
            own.writes,
            peak_memory_bytes(),
        );
        let listed = references
            .iter()
            .map(|(name, measured)| format!("\"{name}\":{{{}}}", times(measured)));
        put(&mut line, "references", listed);
        put(
            &mut line,
            "ratios",
            ratios.iter().map(|(name, ratio)| format!("\"{name}\":{ratio:.4}")),
        );
        let (low, high) = self.spread();
        let rounds = self.rounds.len();
        line + &format!(",\"rounds\":{rounds},\"ratio_low\":{low:.4},\"ratio_high\":{high:.4}}}")
    }
}

impl Round {
    fn ratio(&self, place: usize) -> f64 {
        self.ratios.get(place).map_or(f64::NAN, |(_, ratio)| *ratio)
    }
}

fn put(line: &mut String, name: &str, fields: impl Iterator<Item = String>) {
    let fields: Vec<String> = fields.collect();
    line.push_str(&format!(",\"{name}\":{{{}}}", fields.join(",")));
}

fn times(measured: &Measured) -> String {
    format!(
        "\"n\":{},\"seconds\":{:.4},\"rate\":{:.1},\"p50_us\":{:.1},\"p99_us\":{:.1}",
        measured.n,
        measured.elapsed.as_secs_f64(),
        measured.rate(),
        measured.percentile(0.5),
        measured.percentile(0.99),
    )
}

/// The most memory that this process has had so far; 0 where the system does not tell.
fn peak_memory_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

/// The table for people.
pub(crate) fn table(reports: &[Report]) {
    let mut text = format!(
        "\n{:<8} {:>18} {:>12} {:>11} {:>11} {:>8}  ratios (lowest to highest of the first)\n",
        "case", "setting", "rate/s", "p50 us", "p99 us", "commits"
    );
    for report in reports {
        let round = report.median();
        let (name, value) = report.setting;
        let ratios: Vec<String> = round
            .ratios
            .iter()
            .map(|(name, ratio)| format!("{name} {ratio:.3}"))
            .collect();
        let (low, high) = report.spread();
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{:<8} {:>18} {:>12.0} {:>11.0} {:>11.0} {:>8}  {} ({low:.3} to {high:.3})",
            report.case,
            format!("{value} {name}"),
            round.own.rate(),
            round.own.percentile(0.5),
            round.own.percentile(0.99),
            round.own.commits,
            ratios.join(", "),
        );
    }
    eprint!("{text}");
}
