//! What the sled store has acknowledged survives a power cut.
//!
//! A process commits a seed's series of groups, dies twice on the way and goes on, while a preloaded library
//! (`power_cut/shim.c`) writes down every write and every sync. Then the power is cut at random places of that trace: only
//! what fsync or fdatasync covered is there for certain, and each other page of 4 KiB with a probability of 0, 30, 70 or 95
//! per cent; so is a file or folder whose own folder was not synced since it was made. The store that is left must open, hold
//! every acknowledged group whole, hold the one that was under way whole or not at all, and take the next commit. This is a
//! model, not a proof: renames, deletions and truncations count as durable at once. It is Linux's idea of a disk, so it runs
//! there only, and it needs a C compiler, `cc`.
//!
//! - `STEADFAST_POWER_CUTS=2000` makes that many cuts instead of 60. Every 20 cuts have a seed and a trace of their own.
//! - `STEADFAST_POWER_SEED=7` begins with that seed.
//! - `STEADFAST_POWER_TRACE=FILE` cuts a trace that a failure has left, with its seed, exactly as then.

#![cfg(target_os = "linux")]

#[path = "power_cut/disk.rs"]
mod disk;

use disk::{Disk, Entry};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use steadfast::store::{SledStore, Store};
use steadfast_tests::groups::{Chance, Groups, difference};

const CUTS_PER_TRACE: u64 = 20;
/// Where the process dies and where the series ends.
const ENDINGS: [u64; 4] = [0, 40, 70, 100];

fn number(variable: &str, default: u64) -> u64 {
    let text = std::env::var(variable).ok();
    text.map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is not a number: {text}"))
    })
}

fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("power-cut-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path.canonicalize().unwrap()
}

/// Compiles the library that writes the trace.
fn shim(folder: &Path) -> PathBuf {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/power_cut/shim.c");
    let library = folder.join("shim.so");
    let mut compiler = Command::new("cc");
    compiler
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .arg(&library)
        .args([source, "-ldl", "-pthread"]);
    match compiler.status() {
        Ok(status) if status.success() => library,
        Ok(status) => panic!("`cc` could not compile {source}: {status}"),
        Err(error) => panic!("the power-cut test needs a C compiler named `cc`, which could not be started: {error}"),
    }
}

/// A run on a disk, written down.
struct Trace {
    seed: u64,
    traced: PathBuf,
    file: PathBuf,
    entries: Vec<Entry>,
}

impl Trace {
    fn record(folder: &Path, seed: u64, sync: &str) -> Self {
        let library = shim(folder);
        let traced = folder.join("traced");
        fs::create_dir_all(&traced).unwrap();
        let file = folder.join("trace");
        for (part, ends) in ENDINGS.windows(2).enumerate() {
            let ending = if part + 2 == ENDINGS.len() { "close" } else { "kill" };
            let status = Command::new(env!("CARGO_BIN_EXE_store_writer"))
                .arg(&traced)
                .args([seed, ends[0], ends[1]].map(|number| number.to_string()))
                .args([ending, sync])
                .env("LD_PRELOAD", &library)
                .env("STEADFAST_TRACE", &file)
                .env("STEADFAST_TRACED", &traced)
                .stdout(Stdio::null())
                .status();
            let status = status.expect("the writing process starts");
            assert!(status.success(), "seed {seed}: the writing process failed: {status}");
        }
        Self::read(seed, traced, file)
    }

    fn read(seed: u64, traced: PathBuf, file: PathBuf) -> Self {
        let entries = disk::parse(&fs::read(&file).unwrap());
        let acknowledged = entries.iter().filter_map(Entry::acknowledged).next_back();
        assert_eq!(acknowledged, ENDINGS.last().copied(), "the whole run is in the trace");
        Self {
            seed,
            traced,
            file,
            entries,
        }
    }

    /// Where the power goes in each cut, earliest first: half of them right behind an acknowledgement.
    fn places(&self, count: u64) -> Vec<(u64, usize)> {
        let acks = (1..)
            .zip(&self.entries)
            .filter(|(_, entry)| entry.acknowledged().is_some());
        let acks: Vec<usize> = acks.map(|(place, _)| place).collect();
        let place = |cut| {
            let mut chance = self.chance(cut);
            if chance.below(2) == 0 {
                chance.of(&acks)
            } else {
                chance.below(self.entries.len() as u64 + 1) as usize
            }
        };
        let mut places: Vec<_> = (0..count).map(|cut| (cut, place(cut))).collect();
        places.sort_by_key(|(_, place)| *place);
        places
    }

    /// Cuts do not depend on how many there are.
    fn chance(&self, cut: u64) -> Chance {
        Chance::new(self.seed.wrapping_mul(1_000_003).wrapping_add(cut))
    }

    /// Cuts the power and returns what was wrong with each cut.
    fn cut(&self, folder: &Path, count: u64, keeps: &[u64]) -> Vec<String> {
        let mut disk = Disk::default();
        let mut played = 0;
        let mut acknowledged = 0;
        let mut wrong = Vec::new();
        for (cut, place) in self.places(count) {
            for entry in &self.entries[played..place] {
                disk.play(entry);
                acknowledged = entry.acknowledged().unwrap_or(acknowledged);
            }
            played = place;
            let mut chance = self.chance(cut);
            chance.below(1 << 20);
            let keep = chance.of(keeps);
            let left = folder.join("left");
            let _ = fs::remove_dir_all(&left);
            disk.cut(&mut chance, keep, &self.traced, &left);
            if let Err(problem) = check(self.seed, acknowledged, &left.join("store")) {
                wrong.push(format!(
                    "seed {}, cut {cut} at entry {place} of {}, {acknowledged} groups acknowledged, {keep} per cent kept: {problem}",
                    self.seed,
                    self.entries.len()
                ));
            }
        }
        wrong
    }
}

/// Opens what is left, compares it with what was acknowledged, and goes on with it.
fn check(seed: u64, acknowledged: u64, folder: &Path) -> Result<(), String> {
    let mut groups = Groups::new(seed);
    for _ in 0..acknowledged {
        groups.advance();
    }
    let store = SledStore::open(folder).map_err(|error| error.to_string())?;
    if let Some(problem) = difference(&store, groups.model()) {
        groups.advance();
        if let Some(other) = difference(&store, groups.model()) {
            return Err(format!("{problem}; and it is not the next group either: {other}"));
        }
    }
    let epoch = store.claim().map_err(|error| error.to_string())?;
    let (group, expected) = groups.advance();
    let answers = store.commit(epoch, &group).map_err(|error| error.to_string())?;
    if answers != expected {
        return Err("the next commit was answered otherwise".to_owned());
    }
    store.close().map_err(|error| error.to_string())?;
    let store = SledStore::open(folder).map_err(|error| format!("the second time: {error}"))?;
    if let Some(problem) = difference(&store, groups.model()) {
        return Err(format!("after the next commit: {problem}"));
    }
    let blobs = fs::read_dir(folder.join("sled/blobs")).map_err(|error| error.to_string())?;
    if blobs.count() > 0 {
        Err("sled has made a blob file, which it never syncs".to_owned())
    } else {
        Ok(())
    }
}

#[test]
fn acknowledged_commits_survive_power_cuts() {
    let cuts = number("STEADFAST_POWER_CUTS", 60);
    let first = number("STEADFAST_POWER_SEED", 1);
    let folder = scratch("clean");
    if let Ok(file) = std::env::var("STEADFAST_POWER_TRACE") {
        let file = PathBuf::from(file);
        let traced = file.parent().unwrap().join("traced");
        let wrong = Trace::read(first, traced, file).cut(&folder, cuts, &[0, 30, 70, 95]);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        return;
    }
    for seed in first..first + cuts.div_ceil(CUTS_PER_TRACE) {
        let folder = folder.join(seed.to_string());
        fs::create_dir_all(&folder).unwrap();
        println!("power cuts: seed {seed}");
        let trace = Trace::record(&folder, seed, "sync");
        let wrong = trace.cut(&folder, CUTS_PER_TRACE, &[0, 30, 70, 95]);
        assert!(
            wrong.is_empty(),
            "{}\nto see it again: STEADFAST_POWER_SEED={seed} STEADFAST_POWER_CUTS={CUTS_PER_TRACE} STEADFAST_POWER_TRACE={}",
            wrong.join("\n"),
            trace.file.display(),
        );
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn without_our_sync_a_power_cut_loses_what_was_acknowledged() {
    let folder = scratch("teeth");
    let trace = Trace::record(&folder, 1, "no-sync");
    let wrong = trace.cut(&folder, CUTS_PER_TRACE, &[0, 30]);
    assert!(!wrong.is_empty(), "no cut was noticed: the simulation has no teeth");
    println!(
        "without our sync {} of {CUTS_PER_TRACE} cuts are not clean; the first: {}",
        wrong.len(),
        wrong[0]
    );
    fs::remove_dir_all(&folder).unwrap();
}
