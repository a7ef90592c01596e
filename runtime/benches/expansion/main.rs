//! What Steadfast costs at compile time: `cargo check` of a workflow of 1,000 lines and 200 steps, beside that of the same
//! plain async code.
//!
//! One JSON line on standard output. Both crates are written below the target directory, where their dependencies are built
//! once; nothing is fetched. Absent on purpose: incremental compilation, which would measure what did not change.

mod source;

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// Whatever stops it.
type Fault = Box<dyn Error + Send + Sync>;

const DURABLE: &str = "durable";
const PLAIN: &str = "plain";

fn main() -> ExitCode {
    // `cargo bench` says `--bench`; anything else only wants to know that it works.
    let rounds = if std::env::args().any(|argument| argument == "--bench") {
        7
    } else {
        1
    };
    match measure(rounds) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(fault) => {
            eprintln!("the benchmark stopped: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn measure(rounds: usize) -> Result<String, Fault> {
    let crates = Crates::write()?;
    // The dependencies, once.
    crates.check(DURABLE)?;
    crates.check(PLAIN)?;
    let (mut durable, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        durable.push(crates.check_again(DURABLE, &source::durable())?);
        plain.push(crates.check_again(PLAIN, &source::plain())?);
    }
    let (durable, plain) = (median(durable), median(plain));
    Ok(format!(
        r#"{{"case":"expansion","lines":{},"steps":{},"rounds":{rounds},"durable_ms":{},"plain_ms":{},"ratio":{:.2}}}"#,
        source::lines(),
        source::STEPS,
        durable.as_millis(),
        plain.as_millis(),
        durable.as_secs_f64() / plain.as_secs_f64(),
    ))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The throw-away workspace.
struct Crates {
    folder: PathBuf,
    target: PathBuf,
}

impl Crates {
    fn write() -> Result<Self, Fault> {
        let target = target()?;
        let folder = target.join("expansion");
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR"));
        let workspace = "[workspace]\nresolver = \"3\"\nmembers = [\"durable\", \"plain\"]\n";
        write(&folder.join("Cargo.toml"), workspace)?;
        // The same versions as here, so that nothing has to be fetched.
        write(
            &folder.join("Cargo.lock"),
            &fs::read_to_string(runtime.join("../Cargo.lock"))?,
        )?;
        let steadfast = format!("steadfast = {{ path = {:?} }}\n", runtime.display().to_string());
        for (name, dependency, code) in [
            (DURABLE, steadfast.as_str(), source::durable()),
            (PLAIN, "", source::plain()),
        ] {
            let manifest = format!(
                "[package]\nname = \"expansion-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nserde = {{ version = \"1\", features = [\"derive\"] }}\n{dependency}"
            );
            write(&folder.join(name).join("Cargo.toml"), &manifest)?;
            write(&folder.join(name).join("src/lib.rs"), &code)?;
        }
        Ok(Self { folder, target })
    }

    /// Writes the file again, which cargo takes for a change, and measures.
    fn check_again(&self, name: &str, code: &str) -> Result<Duration, Fault> {
        write(&self.folder.join(name).join("src/lib.rs"), code)?;
        let started = Instant::now();
        self.check(name)?;
        Ok(started.elapsed())
    }

    fn check(&self, name: &str) -> Result<(), Fault> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let status = Command::new(cargo)
            .args(["check", "--offline", "--quiet", "--package"])
            .arg(format!("expansion-{name}"))
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", "0")
            .status()?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("`cargo check` of the {name} crate failed").into())
        }
    }
}

/// The target directory that this benchmark was built in: `target/release/deps/expansion-…` is three below it.
fn target() -> Result<PathBuf, Fault> {
    let here = std::env::current_exe()?;
    here.ancestors()
        .nth(3)
        .map(Path::to_owned)
        .ok_or_else(|| "the benchmark is not below a target directory".into())
}

fn write(path: &Path, text: &str) -> Result<(), Fault> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(path, text)?)
}
