//! What is elsewhere another: the environment, the process, the machine, the build.
use std::env;
use steadfast::prelude::*;

#[workflow]
async fn workflow() -> Result<(), BoxError> {
    let home = env::var("HOME")?;
    let first = std::env::args().next();
    let here = env::current_dir()?;
    let process = std::process::id();
    let thread = std::thread::current().id();
    let width = std::thread::available_parallelism()?;
    let version = env!("CARGO_PKG_VERSION");
    let text = format!("{:?} {home}", option_env!("STAGE"));
    let all: Vec<Option<String>> = ["A", "B"].map(env::var).map(Result::ok).into();
    drop((first, here, process, thread, width, version, text, all));
    Ok(())
}

fn main() {}
