//! What the checker found, for people and for programs.

use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

/// What was found in a crate. Printed, it is what people read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// In the order of the source.
    pub findings: Vec<Finding>,
    /// What could not be read, so that nothing is known about it.
    pub unread: Vec<Unread>,
    /// How many workflows there are.
    pub workflows: usize,
    /// How many functions were looked into, workflows included.
    pub functions: usize,
    /// How many files were read.
    pub files: usize,
    /// How many lines these have.
    pub lines: usize,
}

/// Code that breaks a rule.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// What `#[allow_nondeterminism(…)]` calls the rule.
    pub rule: String,
    /// The rule cannot tell a mistake from what is meant, and does not make a report unclean.
    pub is_warning: bool,
    /// The mistake, and on lines of their own why it is one, and what to do.
    pub message: String,
    /// Where the code is.
    pub place: Place,
    /// The shortest way to it: first a workflow, last the function that the code is in.
    pub chain: Vec<Function>,
    /// How many more workflows come to it, by any way.
    pub other_workflows: usize,
}

/// A place in the source. Lines and columns count from 1; a column of 0 means the whole line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Place {
    /// The file, from the checked folder on.
    pub file: String,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// A function on the way to a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Function {
    /// `workflow`, `durable`, `deterministic` or, for a plain function, `fn`.
    pub kind: &'static str,
    /// Its name, with its type if it has one: `Cart::total`.
    pub name: String,
    /// Where it is declared.
    pub place: Place,
}

/// A file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Unread {
    /// The file.
    pub file: String,
    /// The line and column, from 1, if the trouble has a place.
    pub at: Option<(usize, usize)>,
    /// What the trouble is.
    pub reason: String,
}

impl Report {
    /// Whether everything could be read and nothing breaks a rule. Warnings do not count.
    pub fn is_clean(&self) -> bool {
        self.unread.is_empty() && self.findings.iter().all(|finding| finding.is_warning)
    }

    /// The report as one JSON object: `findings`, `unread`, `workflows`, `functions`, `files`, `lines`, each as the field
    /// of that name.
    pub fn json(&self) -> String {
        let findings: Vec<String> = self.findings.iter().map(Finding::json).collect();
        let unread: Vec<String> = self.unread.iter().map(Unread::json).collect();
        format!(
            "{{\"findings\":[{}],\"unread\":[{}],\"workflows\":{},\"functions\":{},\"files\":{},\"lines\":{}}}",
            findings.join(","),
            unread.join(","),
            self.workflows,
            self.functions,
            self.files,
            self.lines,
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for unread in &self.unread {
            writeln!(f, "{unread}\n")?;
        }
        for finding in &self.findings {
            writeln!(f, "{finding}\n")?;
        }
        let errors = self.findings.iter().filter(|finding| !finding.is_warning).count();
        let warnings = self.findings.len() - errors;
        write!(
            f,
            "{errors} found, {warnings} warned of, {} not read; {} looked into from {}, in {} of {}",
            self.unread.len(),
            counted(self.functions, "function"),
            counted(self.workflows, "workflow"),
            counted(self.files, "file"),
            counted(self.lines, "line"),
        )
    }
}

fn counted(number: usize, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {what}{ending}")
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = if self.is_warning { "warning" } else { "error" };
        let (mistake, advice) = self.message.split_once('\n').unwrap_or((&self.message, ""));
        writeln!(f, "{level}[{}]: {mistake}", self.rule)?;
        writeln!(f, "  at:  {}", self.place)?;
        write!(f, "  way: ")?;
        for (index, function) in self.chain.iter().enumerate() {
            let arrow = if index == 0 { "" } else { " → " };
            write!(f, "{arrow}{function}")?;
        }
        match self.other_workflows {
            0 => writeln!(f)?,
            others => writeln!(f, ", and from {}", counted(others, "other workflow"))?,
        }
        write!(f, "{advice}")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.column {
            0 => Ok(()),
            column => write!(f, ":{column}"),
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind != "fn" {
            write!(f, "{} ", self.kind)?;
        }
        write!(f, "{} ({})", self.name, self.place)
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not read: {}", self.file)?;
        if let Some((line, column)) = self.at {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl Unread {
    pub(super) fn file(path: PathBuf, reason: String) -> Self {
        let file = path.display().to_string();
        Self { file, at: None, reason }
    }

    pub(super) fn at(path: PathBuf, line: usize, column: usize, reason: String) -> Self {
        Self {
            at: Some((line, column)),
            ..Self::file(path, reason)
        }
    }

    pub(super) fn labelled(self, label: impl Fn(&Path) -> String) -> Self {
        Self {
            file: label(Path::new(&self.file)),
            ..self
        }
    }

    fn json(&self) -> String {
        let (line, column) = self.at.unwrap_or_default();
        let (file, reason) = (quoted(&self.file), quoted(&self.reason));
        format!("{{\"file\":{file},\"line\":{line},\"column\":{column},\"reason\":{reason}}}")
    }
}

impl Finding {
    fn json(&self) -> String {
        let chain: Vec<String> = self.chain.iter().map(Function::json).collect();
        format!(
            "{{\"rule\":{},\"is_warning\":{},\"message\":{},\"place\":{},\"chain\":[{}],\"other_workflows\":{}}}",
            quoted(&self.rule),
            self.is_warning,
            quoted(&self.message),
            self.place.json(),
            chain.join(","),
            self.other_workflows,
        )
    }
}

impl Place {
    fn json(&self) -> String {
        let Self { file, line, column } = self;
        format!("{{\"file\":{},\"line\":{line},\"column\":{column}}}", quoted(file))
    }
}

impl Function {
    fn json(&self) -> String {
        let (kind, name, place) = (quoted(self.kind), quoted(&self.name), self.place.json());
        format!("{{\"kind\":{kind},\"name\":{name},\"place\":{place}}}")
    }
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            control if control.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
