//! What bodies did, written down outside of the store, and the rules that every start of a body must keep.
//!
//! At the start of a body the ledger looks at the disk: the step has no recorded end, and everything that the workflow
//! awaited before it is recorded. It also knows which bodies run: never two of one step.

use crate::journal;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use steadfast::store::Store;
use steadfast::{Attempt, BoxError};

/// Which body of which instance, and which steps must be recorded before it begins.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The instance.
    pub id: &'a str,
    /// The checkpoint path of the step.
    pub step: &'static str,
    /// Steps that were awaited before.
    pub after: &'static [&'static str],
}

/// One line: a body began or ended, or a call was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A body began.
    Began {
        /// Of this instance,
        id: String,
        /// of this step,
        step: String,
        /// the attempt of this number,
        attempt: u32,
        /// with this idempotency key,
        key: String,
        /// after these steps.
        after: Vec<String>,
    },
    /// A body returned.
    Ended {
        /// Of this instance,
        id: String,
        /// of this step.
        step: String,
    },
    /// A call was answered: its effect is durable.
    Acknowledged(String),
}

impl Line {
    fn write(&self) -> String {
        match self {
            Line::Began {
                id,
                step,
                attempt,
                key,
                after,
            } => format!(
                "began {id} {} {attempt} {key} {}",
                closed(step),
                closed(&after.join(","))
            ),
            Line::Ended { id, step } => format!("ended {id} {}", closed(step)),
            Line::Acknowledged(what) => format!("acknowledged {what}"),
        }
    }

    /// Reads one line of a ledger on disk. `None` for one that a crash cut short.
    pub fn read(line: &str) -> Option<Line> {
        if let Some(what) = line.strip_prefix("acknowledged ") {
            return Some(Line::Acknowledged(what.to_owned()));
        }
        // A step's name may have blanks; they are written as `~`.
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["began", id, step, attempt, key, after] => Some(Line::Began {
                id: id.to_owned(),
                step: opened(step),
                attempt: attempt.parse().ok()?,
                key: key.to_owned(),
                after: opened(after)
                    .split(',')
                    .filter(|step| !step.is_empty())
                    .map(str::to_owned)
                    .collect(),
            }),
            ["ended", id, step] => Some(Line::Ended {
                id: id.to_owned(),
                step: opened(step),
            }),
            _ => None,
        }
    }
}

fn closed(name: &str) -> String {
    name.replace(' ', "~")
}

fn opened(name: &str) -> String {
    name.replace('~', " ")
}

#[derive(Default)]
struct Book {
    lines: Vec<Line>,
    running: BTreeSet<(String, String)>,
    keys: BTreeMap<(String, String), String>,
    attempts: BTreeMap<(String, String), u32>,
    acknowledged: BTreeSet<String>,
    violations: Vec<String>,
}

impl Book {
    /// Takes a line in, and gives what is wrong with it.
    fn enter(&mut self, line: Line) -> Vec<String> {
        let mut wrong = Vec::new();
        match &line {
            Line::Began {
                id, step, attempt, key, ..
            } => {
                let name = (id.clone(), step.clone());
                if self.keys.entry(name.clone()).or_insert_with(|| key.clone()) != key {
                    wrong.push(format!("the idempotency key of {name:?} changed"));
                }
                let before = self.attempts.insert(name.clone(), *attempt);
                if before.is_some_and(|before| before >= *attempt) {
                    wrong.push(format!("attempt {attempt} of {name:?} began after {before:?}"));
                }
            }
            Line::Ended { .. } => {}
            Line::Acknowledged(what) => {
                self.acknowledged.insert(what.clone());
            }
        }
        self.lines.push(line);
        wrong
    }
}

/// Clones are one and the same ledger.
#[derive(Clone)]
pub struct Ledger {
    book: Arc<Mutex<Book>>,
    disk: Option<Arc<dyn Store>>,
    file: Option<Arc<File>>,
}

impl Ledger {
    /// A ledger in memory. `disk` shows what is durable, without an engine.
    pub fn over(disk: impl Store) -> Self {
        Self {
            book: Arc::default(),
            disk: Some(Arc::new(disk)),
            file: None,
        }
    }

    /// A ledger in a file, which a crash of the process leaves as it was and the next process goes on with. Every line goes
    /// to the standard output too.
    pub fn in_file(path: &Path) -> Self {
        let mut book = Book::default();
        for line in read_lines(path) {
            book.enter(line);
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        Self {
            book: Arc::new(Mutex::new(book)),
            disk: None,
            file: Some(Arc::new(file.expect("the ledger can be opened"))),
        }
    }

    /// Writes down that a call was answered. Whether this is the first time.
    pub fn acknowledge(&self, what: &str) -> bool {
        let mut book = self.book();
        let is_new = !book.acknowledged.contains(what);
        if is_new {
            self.write(&mut book, Line::Acknowledged(what.to_owned()));
        }
        is_new
    }

    /// Runs a body: writes down that it begins, lets others run for a while, and writes down that it ends.
    ///
    /// # Errors
    /// The error of `result`.
    pub async fn body<T, E: Into<BoxError>>(
        &self,
        place: Place<'_>,
        attempt: Attempt,
        result: Result<T, E>,
    ) -> Result<T, BoxError> {
        let running = self.begin(place, &attempt);
        for _ in 0..2 {
            tokio::task::yield_now().await;
        }
        running.end();
        result.map_err(Into::into)
    }

    /// A body that never returns.
    pub async fn stuck<T>(&self, place: Place<'_>, attempt: Attempt) -> Result<T, BoxError> {
        let _running = self.begin(place, &attempt);
        std::future::pending().await
    }

    /// Whether the body of the step runs.
    pub fn is_running(&self, id: &str, step: &str) -> bool {
        self.book().running.contains(&(id.to_owned(), step.to_owned()))
    }

    /// How often the body of the step began.
    pub fn began(&self, id: &str, step: &str) -> usize {
        let is_it = |line: &&Line| matches!(line, Line::Began { id: of, step: name, .. } if of == id && name == step);
        self.book().lines.iter().filter(is_it).count()
    }

    /// How often the body of the step returned.
    pub fn ended(&self, id: &str, step: &str) -> usize {
        let is_it = |line: &&Line| matches!(line, Line::Ended { id: of, step: name } if of == id && name == step);
        self.book().lines.iter().filter(is_it).count()
    }

    /// Everything so far.
    pub fn lines(&self) -> Vec<Line> {
        self.book().lines.clone()
    }

    /// Which rules were broken so far.
    pub fn violations(&self) -> Vec<String> {
        self.book().violations.clone()
    }

    fn begin(&self, place: Place<'_>, attempt: &Attempt) -> Running {
        let found = self
            .disk
            .as_ref()
            .map(|disk| check(disk.as_ref(), place))
            .unwrap_or_default();
        let name = (place.id.to_owned(), place.step.to_owned());
        let mut book = self.book();
        book.violations.extend(found);
        if !book.running.insert(name.clone()) {
            book.violations.push(format!("two bodies of {name:?} run at once"));
        }
        let line = Line::Began {
            id: place.id.to_owned(),
            step: place.step.to_owned(),
            attempt: attempt.number(),
            key: attempt.idempotency_key(),
            after: place.after.iter().map(|step| (*step).to_owned()).collect(),
        };
        self.write(&mut book, line);
        Running {
            ledger: self.clone(),
            name,
        }
    }

    fn write(&self, book: &mut Book, line: Line) {
        if let Some(mut file) = self.file.as_deref() {
            let text = format!("{}\n", line.write());
            // One write each, so that a line is there or is not.
            file.write_all(text.as_bytes()).expect("the ledger can be written");
            // The parent may have closed its end.
            let _ = std::io::stdout().lock().write_all(text.as_bytes());
        }
        let wrong = book.enter(line);
        book.violations.extend(wrong);
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("nothing panics while the ledger is open")
    }
}

/// The lines of a ledger in a file; none if it does not exist.
pub fn read_lines(path: &Path) -> Vec<Line> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(Line::read).collect()
}

/// What is wrong with a body that begins here, by what is on disk.
fn check(disk: &dyn Store, place: Place<'_>) -> Vec<String> {
    let journal = journal::lines(disk, place.id);
    let mut found = Vec::new();
    if journal.is_empty() {
        found.push(format!("{place:?} began before its instance was durable"));
    }
    let ended = journal::ended_steps(&journal);
    if ended.contains(place.step) {
        found.push(format!("{place:?} began although its end is recorded"));
    }
    for step in place.after.iter().filter(|step| !ended.contains(**step)) {
        found.push(format!("{place:?} began before {step} was durable"));
    }
    found
}

struct Running {
    ledger: Ledger,
    name: (String, String),
}

impl Running {
    fn end(&self) {
        let (id, step) = self.name.clone();
        let mut book = self.ledger.book();
        self.ledger.write(&mut book, Line::Ended { id, step });
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.ledger.book().running.remove(&self.name);
    }
}
