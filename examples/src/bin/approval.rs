//! A request waits up to 48 hours for a decision, through any number of kills and restarts of this program.
//!
//!     cargo run --bin approval                   asks, and waits
//!     cargo run --bin approval -- --decide yes   decides: in a second terminal, or while nobody waits
//!
//! A store belongs to one process, so the second terminal drops its decision into a file, and whoever waits delivers it.

use clap::{Parser, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use steadfast::prelude::*;

#[derive(Clone, Copy, Debug, Serialize, Deserialize, ValueEnum)]
enum Decision {
    Yes,
    No,
}

#[workflow]
async fn purchase(item: String) -> Result<String, StepError> {
    step!("ask", {
        println!("Shall we buy {item}? Say so within 48 hours, in a second terminal: approval --decide yes");
        Ok(())
    })
    .await?;

    match signal!("decision").timeout(hours(48)).await {
        Ok(Decision::Yes) => Ok(format!("We bought {item}.")),
        Ok(Decision::No) => Ok(format!("We did not buy {item}.")),
        Err(Elapsed) => Ok(format!("Nobody decided, so we did not buy {item}.")),
    }
}

/// Asks for a purchase and waits for the decision, up to 48 hours, even if it is killed meanwhile.
#[derive(Parser)]
struct Arguments {
    /// Decide a request instead of making it
    #[arg(long)]
    decide: Option<Decision>,
    /// Which request
    #[arg(long, default_value_t = 1)]
    request: u32,
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let arguments = Arguments::parse();
    let folder = Path::new("target/approval");
    let id = format!("request-{}", arguments.request);
    let drop_box = folder.join(&id);
    if let Some(decision) = arguments.decide {
        std::fs::create_dir_all(folder)?;
        std::fs::write(drop_box, format!("{decision:?}"))?;
        return Ok(());
    }

    let runtime = Runtime::builder().workflow(purchase).open(folder.join("store")).await?;
    let request = runtime.start(purchase, "a lighthouse".to_owned()).id(&id).await?;
    if !request.created() {
        println!("{id} was made earlier.");
    }
    tokio::select! {
        outcome = request.result() => println!("{}", outcome?),
        trouble = deliver(&runtime, &id, drop_box) => trouble?,
    }
    Ok(())
}

/// Delivers what is dropped into the file. If this program dies before it has removed the file, it delivers again; the
/// de-duplication key makes one signal of the two.
async fn deliver(runtime: &Runtime, id: &str, drop_box: PathBuf) -> Result<(), BoxError> {
    loop {
        let dropped = std::fs::read_to_string(&drop_box).unwrap_or_default();
        if let Ok(decision) = Decision::from_str(&dropped, true) {
            runtime.signal(id, "decision", &decision).dedup_key("dropped").await?;
            std::fs::remove_file(&drop_box)?;
        }
        tokio::time::sleep(millis(200)).await;
    }
}
