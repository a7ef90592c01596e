//! The checker over small crates, written here as text: what it follows, what it leaves alone, what it says and how it
//! ends.

mod allowing;
mod following;
mod look_alikes;
mod program;
mod trouble;

use std::path::Path;
use steadfast::check::{Finding, Report, crate_at};
use tempfile::TempDir;

/// A crate on disk, gone with the value.
struct Crate(TempDir);

impl Crate {
    /// A package of these files, with a manifest if none is among them.
    fn of(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let manifest = "[package]\nname = \"shop\"\n[dependencies]\nsteadfast = \"0.1\"\n";
        write(folder.path(), "Cargo.toml", manifest);
        for (path, text) in files {
            write(folder.path(), path, text);
        }
        Self(folder)
    }

    /// A library of one file.
    fn library(text: &str) -> Self {
        Self::of(&[("src/lib.rs", text)])
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn check(&self) -> Report {
        crate_at(self.path())
    }

    /// What was found, each as `rule file:line way`, after making sure that all was read.
    fn findings(&self) -> Vec<String> {
        let report = self.check();
        assert_eq!(report.unread, [], "{report}");
        report.findings.iter().map(short).collect()
    }
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("there is room for a folder");
    std::fs::write(path, text).expect("there is room for a file");
}

fn short(finding: &Finding) -> String {
    let way: Vec<&str> = finding.chain.iter().map(|function| function.name.as_str()).collect();
    let place = &finding.place;
    format!("{} {}:{} {}", finding.rule, place.file, place.line, way.join(" → "))
}

/// A library whose workflow has this code, beside these items.
fn workflow(body: &str, items: &str) -> Crate {
    Crate::library(&format!(
        "use steadfast::prelude::*;\n#[workflow] async fn work(order: Order, shop: &Shop) -> Result<(), BoxError> {{\n{body}\nOk(()) }}\n{items}"
    ))
}

/// The ways to the findings, which are all of one rule.
fn ways(body: &str, items: &str) -> Vec<String> {
    let report = workflow(body, items).check();
    assert_eq!(report.unread, [], "{report}");
    let ways = report.findings.iter().map(|finding| {
        let way: Vec<&str> = finding.chain.iter().map(|function| function.name.as_str()).collect();
        way.join(" → ")
    });
    ways.collect()
}
