//! The program `steadfast`: the checker for the command line and for CI.
//! Absent on purpose: anything that the library's `check` does not do.

use std::io::Write;
use std::process::ExitCode;

const USAGE: &str = "\
Finds what would be different on replay in the plain functions that workflows call.

usage: steadfast check [FOLDER] [--json]

  FOLDER   the folder of a Cargo.toml; of a workspace, all members are checked [default: .]
  --json   print one JSON object instead of text

It ends with 0 if nothing was found (warnings do not count), 1 if something was, 2 if something could not be read.";

fn main() -> ExitCode {
    match Command::parse(std::env::args().skip(1)) {
        Ok(Command::Check { folder, is_json }) => check(&folder, is_json),
        Ok(Command::Help) => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        Ok(Command::Version) => {
            println!("steadfast {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

enum Command {
    Check { folder: String, is_json: bool },
    Help,
    Version,
}

impl Command {
    fn parse(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let words: Vec<String> = words.collect();
        if words.iter().any(|word| word == "--help" || word == "-h") {
            return Ok(Self::Help);
        }
        if words.iter().any(|word| word == "--version" || word == "-V") {
            return Ok(Self::Version);
        }
        let Some((first, rest)) = words.split_first() else {
            return Err("say what to do".to_owned());
        };
        if first != "check" {
            return Err(format!("there is no `{first}`"));
        }
        let (mut folder, mut is_json) = (None, false);
        for word in rest {
            match word.as_str() {
                "--json" => is_json = true,
                option if option.starts_with('-') => return Err(format!("there is no option `{option}`")),
                _ if folder.is_some() => return Err(format!("`{word}` is a folder too many")),
                _ => folder = Some(word.clone()),
            }
        }
        let folder = folder.unwrap_or_else(|| ".".to_owned());
        Ok(Self::Check { folder, is_json })
    }
}

fn check(folder: &str, is_json: bool) -> ExitCode {
    let report = steadfast::check::crate_at(folder);
    let text = if is_json { report.json() } else { report.to_string() };
    // Whoever reads it may have seen enough, and the exit code still tells.
    let _ = writeln!(std::io::stdout(), "{text}");
    if !report.unread.is_empty() {
        ExitCode::from(2)
    } else if report.is_clean() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
