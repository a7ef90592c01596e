//! The suite: a command line, cases, what they are compared with, and what is told of them.
//!
//! One JSON line for each case and setting on standard output, a table on standard error. `runtime/benches/README.md`
//! explains the cases and keeps a measured table. Absent on purpose: thresholds that fail. Machines differ; read the
//! ratios.

mod arguments;
mod bed;
mod cases;
mod measured;
mod meter;
mod parking;
mod reference;
mod report;
mod table;
mod watch;
mod workflows;

use arguments::Arguments;
use report::Report;
use std::error::Error;
use std::process::ExitCode;

/// Whatever stops a case.
type Fault = Box<dyn Error + Send + Sync>;

pub(crate) fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match cases::recovery::as_child(&words) {
        Some(lived) => lived,
        None => match Arguments::parse(words.into_iter()) {
            Ok(arguments) => run(&arguments).map(|reports| table::table(&reports, arguments.quick)),
            Err(message) => {
                eprintln!("{message}");
                return ExitCode::from(2);
            }
        },
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("the benchmark stopped: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<Vec<Report>, Fault> {
    let tokio = tokio::runtime::Runtime::new()?;
    let mut reports = Vec::new();
    for (name, case) in cases::ALL {
        if arguments.wants(name) {
            reports.extend(tokio.block_on(case(arguments))?.into_inner());
        }
    }
    Ok(reports)
}
