//! What the engine costs, always beside what the disk costs in the same run.
//!
//! One JSON line for each case and setting on standard output, a table on standard error. `runtime/benches/README.md`
//! explains the cases and keeps a measured table. Absent on purpose: thresholds. Machines differ; read the ratios.

mod arguments;
mod bed;
mod cases;
mod reference;
mod report;
mod workflows;

use arguments::Arguments;
use report::Report;
use std::error::Error;
use std::process::ExitCode;

/// Whatever stops a case.
type Fault = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(reports) => {
            report::table(&reports);
            ExitCode::SUCCESS
        }
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
            for report in tokio.block_on(case(arguments))? {
                println!("{}", report.json());
                reports.push(report);
            }
        }
    }
    Ok(reports)
}
