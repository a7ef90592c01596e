//! `cargo run --release --bin image-export -- --help`

use clap::Parser;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use steadfast_examples::image_export::{Arguments, Stop, run};
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // RUST_LOG=steadfast_examples=debug shows each page, RUST_LOG=steadfast=debug the engine.
    let log = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal());
    log.with_env_filter(EnvFilter::from_default_env()).init();
    match run(&arguments).await {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(Stop { sentence, exit_code }) => {
            eprintln!("{sentence}");
            ExitCode::from(exit_code)
        }
    }
}
