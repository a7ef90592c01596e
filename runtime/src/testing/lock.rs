//! The shape lock: a committed file of the shapes that instances in flight were started under, and the test that compares
//! the code with it. Absent on purpose: what a change means, which `shape` decides.

use crate::shape::{Change, Shape, heading};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Compares the shapes of workflows with a committed file, so that a change which would quarantine instances in flight
/// fails in your tests, before it is deployed. One line in a test does it:
///
/// ```no_run
/// # use steadfast::prelude::*;
/// # #[workflow]
/// # async fn fulfil() -> Result<(), BoxError> { Ok(()) }
/// # #[workflow]
/// # async fn export() -> Result<(), BoxError> { Ok(()) }
/// # let test = "
/// #[test]
/// # ";
/// fn instances_in_flight_can_go_on() {
///     steadfast::testing::shape_lock!("steadfast.lock", [fulfil, export]);
/// }
/// ```
///
/// The file stands beside the Cargo.toml of the crate, and belongs under version control. It has one block for each
/// workflow and version, in the order of their names, and is made to be read in a diff. List every version that is still
/// registered. One file is for one call.
///
/// | the code and the file | the test |
/// |---|---|
/// | are the same | passes |
/// | there is no file | writes it, and fails once: look at it, and commit it |
/// | differ, and instances in flight go on: something new after the last checkpoint, behind `patched!`, `removed!` in the place of a checkpoint, a new workflow or version | fails, says what is different, and asks for an update |
/// | differ, and instances in flight would be quarantined | fails, with the reason and the ways out |
/// | the file has a workflow or a version that the list has not | fails: its instances would wait for code |
///
/// With `STEADFAST_UPDATE_LOCK=1` in the environment it writes the file anew and passes, whatever the difference. Do that
/// after a change that instances in flight survive, or when none is in flight any more; the difference is then in the
/// commit, for whoever reviews it.
///
/// What a shape holds, and what it does not, is at [`Shape`](crate::Shape); how to deploy a change is told in
/// [`guide::changing`](crate::guide::changing).
///
/// # Panics
/// When the test fails, as above, and when the file cannot be read or written.
#[macro_export]
#[doc(hidden)]
macro_rules! __shape_lock {
    ($file:expr, [$($workflow:ty),* $(,)?] $(,)?) => {
        $crate::testing::assert_locked(
            ::core::env!("CARGO_MANIFEST_DIR"),
            $file,
            &[$(<$workflow as $crate::testing::Workflow>::shape()),*],
        )
    };
}

/// The environment variable that has the file written anew.
const UPDATE: &str = "STEADFAST_UPDATE_LOCK";

const HEAD: &str =
    "# What instances in flight depend on, for steadfast::testing::shape_lock!. Commit this file with the code.\n";

/// Called by [`shape_lock!`](crate::testing::shape_lock).
#[doc(hidden)]
#[track_caller]
pub fn assert_locked(folder: &str, file: &str, shapes: &[Shape]) {
    let path = Path::new(folder).join(file);
    let update = std::env::var_os(UPDATE).is_some_and(|value| !value.is_empty() && value != "0");
    let verdict = check(&path, shapes, update);
    assert!(verdict.is_ok(), "{}", verdict.err().unwrap_or_default());
}

fn check(path: &Path, shapes: &[Shape], update: bool) -> Result<(), String> {
    let current = written(shapes)?;
    let shown = path.display();
    let write = || std::fs::write(path, &current).map_err(|error| format!("{shown} cannot be written: {error}"));
    let locked = match std::fs::read_to_string(path) {
        Ok(locked) => locked,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            write()?;
            let news = format!(
                "{shown} was not there and is written now\nlook at it and commit it; this test passes from now on"
            );
            return if update { Ok(()) } else { Err(news) };
        }
        Err(error) => return Err(format!("{shown} cannot be read: {error}")),
    };
    if update {
        return write();
    }
    let differences = differences(&locked, shapes).map_err(|line| {
        format!("{shown} cannot be understood at `{line}`\nmend it, or write it anew with {UPDATE}=1 and look at the difference")
    })?;
    differences.verdict(&shown.to_string())
}

/// The file for these shapes.
fn written(shapes: &[Shape]) -> Result<String, String> {
    let mut blocks = BTreeMap::new();
    for shape in shapes {
        if blocks.insert((shape.name(), shape.version()), shape.text()).is_some() {
            return Err(format!(
                "`{}` is in the list twice with version {}; give one of them another name or version",
                shape.name(),
                shape.version()
            ));
        }
    }
    let blocks: Vec<&str> = blocks.into_values().collect();
    Ok(format!("{HEAD}\n{}", blocks.join("\n")))
}

/// The blocks of a file by name and version; the line that cannot be read.
fn blocks(locked: &str) -> Result<BTreeMap<(String, u32), String>, String> {
    let mut blocks: BTreeMap<(String, u32), String> = BTreeMap::new();
    let mut under_way: Option<((String, u32), String)> = None;
    for line in locked.lines().map(str::trim_end) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with(' ') {
            let (_, text) = under_way.as_mut().ok_or(line)?;
            let _ = writeln!(text, "{line}");
        } else {
            blocks.extend(under_way.take());
            let head = heading(line).filter(|head| !blocks.contains_key(head)).ok_or(line)?;
            under_way = Some((head, format!("{line}\n")));
        }
    }
    blocks.extend(under_way);
    Ok(blocks)
}

#[derive(Default)]
struct Differences {
    breaking: Vec<String>,
    gone: Vec<String>,
    compatible: Vec<String>,
}

fn differences(locked: &str, shapes: &[Shape]) -> Result<Differences, String> {
    let mut blocks = blocks(locked)?;
    let mut found = Differences::default();
    for shape in shapes {
        let (name, version) = (shape.name(), shape.version());
        let Some(recorded) = blocks.remove(&(name.to_owned(), version)) else {
            found.compatible.push(format!("`{name}` version {version} is new"));
            continue;
        };
        match shape.compare(&recorded).map_err(|error| error.line().to_owned())? {
            Change::Same => {}
            Change::Compatible(notes) if notes.is_empty() => {
                found
                    .compatible
                    .push(format!("`{name}` version {version} is written otherwise"));
            }
            Change::Compatible(notes) => {
                let notes = notes.iter().map(|note| format!("`{name}` version {version}: {note}"));
                found.compatible.extend(notes);
            }
            Change::Breaking(reason) => found.breaking.push(format!("`{name}` version {version}: {reason}")),
        }
    }
    let gone = blocks
        .into_keys()
        .map(|(name, version)| format!("`{name}` version {version}"));
    found.gone = gone.collect();
    Ok(found)
}

impl Differences {
    fn verdict(self, file: &str) -> Result<(), String> {
        let Self {
            breaking,
            gone,
            compatible,
        } = self;
        let mut parts = Vec::new();
        if !breaking.is_empty() {
            parts.push(format!(
                "this change would quarantine instances in flight:\n  {}\nthree ways out:\n  \
                 - keep the old code for them: `if patched!(\"…\")` around what changed, or `removed!` in the place of what is gone\n  \
                 - give the new code a new `version`, and keep the old function registered and in this list\n  \
                 - let them end first (drain), then write the lock anew with {UPDATE}=1",
                breaking.join("\n  ")
            ));
        }
        if !gone.is_empty() {
            parts.push(format!(
                "the lock has what the list has not, and instances in flight of it would wait for code:\n  {}\n\
                 list it again, with its code; or, when its last instance has ended, write the lock anew with {UPDATE}=1",
                gone.join("\n  ")
            ));
        }
        if !compatible.is_empty() {
            parts.push(format!(
                "this is new, and instances in flight can go on with it{}:\n  {}{}",
                if compatible.iter().any(|note| note.contains("make sure")) {
                    ", if what you are asked to make sure of holds"
                } else {
                    ""
                },
                compatible.join("\n  "),
                if parts.is_empty() {
                    format!("\nwrite the lock anew with {UPDATE}=1, and commit it with the code")
                } else {
                    String::new()
                }
            ));
        }
        if parts.is_empty() {
            return Ok(());
        }
        parts.push(format!("the lock is {file}"));
        Err(parts.join("\n\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::shape;

    const A: &str = "workflow \"a\" version 1\n  input ()\n  output ()\n  step \"x\"\n";
    const A2: &str = "workflow \"a\" version 2\n  input ()\n  output ()\n  step \"y\"\n";
    const A_MORE: &str = "workflow \"a\" version 1\n  input ()\n  output ()\n  step \"x\"\n  step \"z\"\n";
    const A_OTHER: &str = "workflow \"a\" version 1\n  input ()\n  output ()\n  step \"z\"\n";

    struct Lock(tempfile::TempDir);

    impl Lock {
        fn of(shapes: &[Shape]) -> Self {
            let lock = Self(tempfile::tempdir().unwrap());
            lock.check(shapes, true).unwrap();
            lock
        }

        fn check(&self, shapes: &[Shape], update: bool) -> Result<(), String> {
            check(&self.0.path().join("x.lock"), shapes, update)
        }

        fn text(&self) -> String {
            std::fs::read_to_string(self.0.path().join("x.lock")).unwrap()
        }
    }

    fn refuses(lock: &Lock, shapes: &[Shape], says: &[&str]) {
        let before = lock.text();
        let message = lock.check(shapes, false).unwrap_err();
        for part in says {
            assert!(message.contains(part), "{message}\n  should say {part}");
        }
        assert_eq!(lock.text(), before, "only an update writes");
        lock.check(shapes, true).unwrap();
        lock.check(shapes, false).unwrap();
    }

    #[test]
    fn a_file_that_is_not_there_is_written_and_the_test_fails_once() {
        let lock = Lock(tempfile::tempdir().unwrap());
        let shapes = [shape("a", 2, A2), shape("a", 1, A)];
        let message = lock.check(&shapes, false).unwrap_err();
        assert!(message.contains("was not there and is written now"), "{message}");
        lock.check(&shapes, false).unwrap();
        assert_eq!(
            lock.text(),
            format!("{HEAD}\n{A}\n{A2}"),
            "in the order of names and versions"
        );
    }

    #[test]
    fn a_change_that_instances_survive_asks_for_an_update() {
        let lock = Lock::of(&[shape("a", 1, A)]);
        refuses(
            &lock,
            &[shape("a", 1, A_MORE)],
            &[
                "can go on with it",
                "`a` version 1: step `z` is new, after",
                "STEADFAST_UPDATE_LOCK=1",
            ],
        );
        let lock = Lock::of(&[shape("a", 1, A)]);
        refuses(&lock, &[shape("a", 1, A), shape("a", 2, A2)], &["`a` version 2 is new"]);
    }

    #[test]
    fn a_change_that_breaks_them_names_the_reason_and_the_ways_out() {
        let lock = Lock::of(&[shape("a", 1, A)]);
        refuses(
            &lock,
            &[shape("a", 1, A_OTHER), shape("a", 2, A2)],
            &[
                "would quarantine",
                "`a` version 1: step `z` stands where step `x` stood",
                "patched!",
                "`version`",
                "drain",
                "`a` version 2 is new",
            ],
        );
    }

    #[test]
    fn a_version_that_is_gone_is_missed() {
        let lock = Lock::of(&[shape("a", 1, A)]);
        refuses(
            &lock,
            &[shape("a", 2, A2)],
            &["would wait for code", "  `a` version 1\n", "`a` version 2 is new"],
        );
    }

    #[test]
    fn a_file_that_cannot_be_read_says_where() {
        let lock = Lock::of(&[shape("a", 1, A)]);
        for line in ["<<<<<<< HEAD", "jump", "workflow \"a\" version 1"] {
            std::fs::write(lock.0.path().join("x.lock"), format!("{}{line}\n", lock.text())).unwrap();
            let message = lock.check(&[shape("a", 1, A)], false).unwrap_err();
            assert!(
                message.contains(&format!("cannot be understood at `{line}`")),
                "{message}"
            );
            lock.check(&[shape("a", 1, A)], true).unwrap();
        }
        assert!(
            lock.check(&[shape("a", 1, A), shape("a", 1, A)], false)
                .unwrap_err()
                .contains("twice")
        );
        // Windows line ends, and a comment, are no difference.
        std::fs::write(
            lock.0.path().join("x.lock"),
            format!("# mine\n{A}").replace('\n', "\r\n"),
        )
        .unwrap();
        lock.check(&[shape("a", 1, A)], false).unwrap();
    }
}
