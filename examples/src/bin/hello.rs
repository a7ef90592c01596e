//! The smallest complete program: kill it during the pause, start it again, and it goes on where it was.
//!
//!     cargo run --bin hello

use steadfast::prelude::*;

#[workflow]
async fn hello(name: String) -> Result<String, StepError> {
    // Runs once, unless the process dies before the result is on disk.
    let greeting = step!("greet", {
        println!("making the greeting");
        Ok(format!("Hello, {name}!"))
    })
    .await?;

    // Ends ten seconds after it was first reached, however often the process dies meanwhile.
    sleep!("pause", secs(10)).await;
    Ok(greeting)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let runtime = Runtime::builder().workflow(hello).open("target/hello").await?;
    let handle = runtime.start(hello, "world".to_owned()).id("hello-1").await?;
    println!("{}", handle.result().await?);
    Ok(())
}
