//! The command line.

use crate::suite::cases;
use std::str::FromStr;

/// Which store is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreKind {
    Sled,
    Memory,
}

impl StoreKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            StoreKind::Sled => "sled",
            StoreKind::Memory => "memory",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Arguments {
    cases: Vec<String>,
    in_flight: Option<usize>,
    n: Option<u64>,
    bytes: Option<u64>,
    pub(crate) quick: bool,
    pub(crate) store: StoreKind,
}

const USAGE: &str = "usage: cargo bench -p steadfast --bench engine -- \
     [CASE…] [--in-flight N] [--n N] [--bytes N] [--quick] [--store sled|memory]";

impl Arguments {
    /// `cargo bench` adds `--bench`. Whoever runs the target otherwise (`cargo test --all-targets`) wants to know that it
    /// works, not how fast it is.
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Self {
            cases: Vec::new(),
            in_flight: None,
            n: None,
            bytes: None,
            quick: false,
            store: StoreKind::Sled,
        };
        let mut is_bench = false;
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("`{word}` needs a value\n{USAGE}"));
            match word.as_str() {
                "--bench" => is_bench = true,
                "--quick" => arguments.quick = true,
                "--in-flight" => arguments.in_flight = Some(count(&word, &value()?)?),
                "--n" => arguments.n = Some(count(&word, &value()?)?),
                "--bytes" => arguments.bytes = Some(result_size(count(&word, &value()?)?)?),
                "--store" => {
                    arguments.store = match value()?.as_str() {
                        "sled" => StoreKind::Sled,
                        "memory" => StoreKind::Memory,
                        other => return Err(format!("no store `{other}`\n{USAGE}")),
                    }
                }
                case if cases::ALL.iter().any(|(name, _)| *name == case) => arguments.cases.push(word),
                other => {
                    let names: Vec<&str> = cases::ALL.iter().map(|(name, _)| *name).collect();
                    return Err(format!("no case `{other}`; there are {}\n{USAGE}", names.join(", ")));
                }
            }
        }
        arguments.quick |= !is_bench;
        Ok(arguments)
    }

    pub(crate) fn wants(&self, case: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|wanted| wanted == case)
    }

    /// How many times a case is measured together with its references.
    pub(crate) fn rounds(&self) -> usize {
        if self.quick { 1 } else { 3 }
    }

    /// As many, but fewer when it is quick.
    pub(crate) fn usual<T>(&self, usual: T, quick: T) -> T {
        if self.quick { quick } else { usual }
    }

    /// How much work one round of a case does.
    pub(crate) fn amount(&self, usual: u64, quick: u64) -> u64 {
        self.n.unwrap_or(if self.quick { quick } else { usual })
    }

    /// How many are in flight at once.
    pub(crate) fn in_flight(&self, usual: &[usize]) -> Vec<usize> {
        match self.in_flight {
            Some(in_flight) => vec![in_flight],
            None => usual.to_vec(),
        }
    }

    /// How large results are, in a case that varies that.
    pub(crate) fn bytes(&self, usual: &[u64], quick: &[u64]) -> Vec<u64> {
        match self.bytes {
            Some(bytes) => vec![bytes],
            None => self.usual(usual, quick).to_vec(),
        }
    }

    /// The settings of a case that grows.
    pub(crate) fn sizes(&self, usual: &[u64], quick: &[u64]) -> Vec<u64> {
        match self.n {
            Some(n) => vec![n],
            None if self.quick => quick.to_vec(),
            None => usual.to_vec(),
        }
    }
}

/// Of nothing there is no time and no ratio.
fn count<T: FromStr + PartialOrd + From<u8>>(option: &str, word: &str) -> Result<T, String> {
    let count = word.parse().ok().filter(|count| *count >= T::from(1));
    count.ok_or_else(|| format!("`{option}` takes a whole number of at least 1, not `{word}`\n{USAGE}"))
}

fn result_size(bytes: u64) -> Result<u64, String> {
    match bytes <= cases::LARGEST_RESULT {
        true => Ok(bytes),
        false => Err(format!(
            "`--bytes` takes at most {}, which fits into a payload, not `{bytes}`\n{USAGE}",
            cases::LARGEST_RESULT
        )),
    }
}
