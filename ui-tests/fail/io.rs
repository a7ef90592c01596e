//! Files, the network, processes, standard streams.
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;
use steadfast::prelude::*;

#[workflow]
async fn workflow(name: String) -> Result<(), BoxError> {
    let text = fs::read_to_string(&name)?;
    let file = File::open(&name)?;
    let listing = ["a", "b"].map(std::fs::read_dir);
    let path = Path::new(&name);
    if path.exists() || Path::new("other").is_file() {
        Command::new("ls").arg(path).status()?;
    }
    let socket = std::net::TcpStream::connect("localhost:80")?;
    let other = tokio::net::TcpStream::connect("localhost:80").await?;
    writeln!(io::stdout(), "done")?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    drop((text, file, listing, socket, other));
    Ok(())
}

fn main() {}
