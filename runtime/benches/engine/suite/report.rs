//! What a case found: a JSON line for programs, and the round that people are shown.

use crate::suite::arguments::StoreKind;
use crate::suite::measured::Measured;
use crate::suite::meter::is_counting;

/// What was found so far. A line is printed as soon as it is known: some take minutes.
#[derive(Default)]
pub(crate) struct Reports(Vec<Report>);

impl Reports {
    pub(crate) fn push(&mut self, mut report: Report) {
        if report.store != StoreKind::Sled.name() {
            report.goals.clear();
        }
        println!("{}", report.json());
        self.0.push(report);
    }

    pub(crate) fn into_inner(self) -> Vec<Report> {
        self.0
    }
}

/// One setting of one case.
pub(crate) struct Report {
    pub(crate) case: &'static str,
    /// Which of several things the case looks at, or nothing.
    pub(crate) aspect: &'static str,
    /// What was varied, and to what.
    pub(crate) setting: (&'static str, u64),
    pub(crate) store: &'static str,
    /// What `n` and `rate` count.
    pub(crate) unit: &'static str,
    /// What `p50` and `p99` are the times of.
    pub(crate) wait: &'static str,
    /// What is to be reached on sled; another store has no goals.
    pub(crate) goals: Vec<Goal>,
    /// At least one.
    pub(crate) rounds: Vec<Round>,
}

/// The case and what it is compared with, measured one right after the other.
pub(crate) struct Round {
    pub(crate) own: Measured,
    pub(crate) references: Vec<(&'static str, Measured)>,
    /// Named comparisons. The first one is what the case is judged by.
    pub(crate) ratios: Vec<(&'static str, f64)>,
    /// Whatever else there is to know, with its unit in its name.
    pub(crate) figures: Vec<(&'static str, f64)>,
}

/// What a ratio or figure is to be. Data for the table: nothing fails because of it.
#[derive(Clone, Copy)]
pub(crate) struct Goal {
    pub(crate) of: &'static str,
    pub(crate) limit: Limit,
    is_counted: bool,
    ends: Option<(&'static str, &'static str)>,
}

/// Whether a goal is reached, or why nobody can tell.
pub(crate) enum Verdict {
    Reached,
    NotReached,
    NotKnown(&'static str),
}

#[derive(Clone, Copy)]
pub(crate) enum Limit {
    AtLeast(f64),
    AtMost(f64),
}

impl Goal {
    pub(crate) const fn at_least(of: &'static str, limit: f64) -> Self {
        Self::new(of, Limit::AtLeast(limit))
    }

    pub(crate) const fn at_most(of: &'static str, limit: f64) -> Self {
        Self::new(of, Limit::AtMost(limit))
    }

    const fn new(of: &'static str, limit: Limit) -> Self {
        Self {
            of,
            limit,
            is_counted: false,
            ends: None,
        }
    }

    /// Only a program whose allocator counts can tell.
    pub(crate) const fn counted(mut self) -> Self {
        self.is_counted = true;
        self
    }

    /// The figures that say between which values it came out. It is a difference of large amounts: where its sign or
    /// its side of the limit changes from one time to the next, that is noise.
    pub(crate) const fn between(mut self, lowest: &'static str, highest: &'static str) -> Self {
        self.ends = Some((lowest, highest));
        self
    }

    pub(crate) fn verdict(self, round: &Round) -> Verdict {
        let value = round.named(self.of);
        if !value.is_finite() {
            return Verdict::NotKnown(match self.is_counted && !is_counting() {
                true => "see `--bench allocations`",
                false => "it could not be measured",
            });
        }
        let (low, high) = self.ends.map_or((value, value), |(lowest, highest)| {
            (round.named(lowest), round.named(highest))
        });
        let is_noise = self.ends.is_some() && low < -self.limit.value();
        match (self.limit.holds(low), self.limit.holds(high)) {
            _ if is_noise => Verdict::NotKnown("the noise is larger than the limit"),
            (true, true) => Verdict::Reached,
            (false, false) => Verdict::NotReached,
            _ => Verdict::NotKnown("it came out on both sides of the limit"),
        }
    }
}

impl Limit {
    fn value(self) -> f64 {
        match self {
            Limit::AtLeast(limit) | Limit::AtMost(limit) => limit,
        }
    }

    fn holds(self, value: f64) -> bool {
        match self {
            Limit::AtLeast(limit) => value >= limit,
            Limit::AtMost(limit) => value <= limit,
        }
    }
}

impl Report {
    /// The round that is the median by its first ratio.
    pub(crate) fn median(&self) -> &Round {
        let mut rounds: Vec<&Round> = self.rounds.iter().collect();
        rounds.sort_by(|a, b| a.judged().total_cmp(&b.judged()));
        rounds[rounds.len() / 2]
    }

    /// How far the rounds were apart.
    pub(crate) fn spread(&self) -> (f64, f64) {
        let ratios = self.rounds.iter().map(Round::judged);
        ratios.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), ratio| {
            (low.min(ratio), high.max(ratio))
        })
    }

    /// The median round, and how far the rounds were apart.
    pub(crate) fn json(&self) -> String {
        let round = self.median();
        let (name, value) = self.setting;
        let (low, high) = self.spread();
        let references = round
            .references
            .iter()
            .map(|(name, measured)| format!("\"{name}\":{{{}}}", fields(measured)));
        let goals = self.goals.iter().map(|goal| {
            let (words, limit) = match goal.limit {
                Limit::AtLeast(limit) => ("at_least", limit),
                Limit::AtMost(limit) => ("at_most", limit),
            };
            let reached = match goal.verdict(round) {
                Verdict::Reached => "true".to_owned(),
                Verdict::NotReached => "false".to_owned(),
                Verdict::NotKnown(reason) => format!("null,\"reason\":\"{reason}\""),
            };
            format!("\"{}\":{{\"{words}\":{limit},\"reached\":{reached}}}", goal.of)
        });
        let parts = [
            format!("\"case\":\"{}\",\"aspect\":\"{}\"", self.case, self.aspect),
            format!("\"{name}\":{value},\"store\":\"{}\"", self.store),
            format!("\"counts_allocations\":{}", is_counting()),
            format!("\"unit\":\"{}\",\"wait\":\"{}\"", self.unit, self.wait),
            fields(&round.own),
            object("references", references),
            object("ratios", round.ratios.iter().map(figure)),
            object("figures", round.figures.iter().map(figure)),
            object("goals", goals),
            format!("\"rounds\":{}", self.rounds.len()),
            format!("\"ratio_low\":{},\"ratio_high\":{}", number(low), number(high)),
        ];
        format!("{{{}}}", parts.join(","))
    }
}

impl Round {
    fn judged(&self) -> f64 {
        self.ratios.first().map_or(f64::NAN, |(_, ratio)| *ratio)
    }

    /// The ratio or figure of this name.
    pub(crate) fn named(&self, name: &str) -> f64 {
        let mut all = self.ratios.iter().chain(&self.figures);
        all.find(|(other, _)| *other == name)
            .map_or(f64::NAN, |(_, value)| *value)
    }
}

fn object(name: &str, fields: impl Iterator<Item = String>) -> String {
    let fields: Vec<String> = fields.collect();
    format!("\"{name}\":{{{}}}", fields.join(","))
}

fn figure((name, value): &(&'static str, f64)) -> String {
    format!("\"{name}\":{}", number(*value))
}

/// JSON has no infinities.
fn number(value: f64) -> String {
    match value.is_finite() {
        true => format!("{value:.4}"),
        false => "null".to_owned(),
    }
}

fn fields(measured: &Measured) -> String {
    let each = |count: u64| match is_counting() {
        true => number(count as f64 / measured.n as f64),
        false => "null".to_owned(),
    };
    let numbers = [
        ("n", measured.n.to_string()),
        ("seconds", number(measured.elapsed.as_secs_f64())),
        ("rate", number(measured.rate())),
        ("p50_us", number(measured.p50())),
        ("p99_us", number(measured.p99())),
        ("peak_memory_bytes", measured.peak_memory_bytes.to_string()),
        ("flushes", measured.flushes.to_string()),
        ("writes", measured.writes.to_string()),
        ("allocations_each", each(measured.allocations)),
        ("allocated_bytes_each", each(measured.allocated_bytes)),
    ];
    let numbers = numbers.map(|(name, number)| format!("\"{name}\":{number}"));
    numbers.join(",")
}
