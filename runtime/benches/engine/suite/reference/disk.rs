//! Writes to a plain file, each of them followed by fdatasync, one after the other.

use crate::suite::Fault;
use crate::suite::bed::folder;
use crate::suite::measured::Measured;
use crate::suite::meter::Meter;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Instant;

/// Over space that the file has already: the cheapest that a durable write can be.
pub(crate) async fn overwrite(bytes: usize, n: u64) -> Result<Measured, Fault> {
    let places = (4_usize << 20).div_ceil(bytes).min(64) as u64;
    tokio::task::spawn_blocking(move || written(bytes, n, places)).await?
}

/// At the end of a file that grows, as every store must that keeps what it is given: the file system allocates space and
/// writes the new length, too.
pub(crate) async fn append(bytes: usize, n: u64) -> Result<Measured, Fault> {
    tokio::task::spawn_blocking(move || written(bytes, n, 0)).await?
}

/// The first `places` blocks of the file are there before, and are written in turn; without any, the file grows.
fn written(bytes: usize, n: u64, places: u64) -> Result<Measured, Fault> {
    let folder = folder()?;
    let file = File::create(folder.path().join("raw"))?;
    let block = vec![7; bytes];
    for place in 0..places {
        file.write_all_at(&block, place * bytes as u64)?;
    }
    file.sync_all()?;
    let mut latencies = Vec::new();
    let meter = Meter::start();
    for round in 0..n {
        let begun = Instant::now();
        let place = round.checked_rem(places).unwrap_or(round);
        file.write_all_at(&block, place * bytes as u64)?;
        file.sync_data()?;
        latencies.push(begun.elapsed());
    }
    let mut measured = meter.stop(n, latencies);
    measured.flushes = n;
    Ok(measured)
}
