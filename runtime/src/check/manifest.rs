//! Which files a package is built from: its `Cargo.toml`, those of the members of a workspace, and where Cargo looks for
//! targets by itself. Absent on purpose: integration tests, benchmarks and build scripts, which run no workflows for keeps.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::Unread;

/// One crate: the file that its modules begin in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) root: PathBuf,
    /// The name by which other crates know it, if it is a library.
    pub(super) library: Option<String>,
}

/// What was found below one folder.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) targets: Vec<Target>,
    /// The names under which the packages know Steadfast.
    pub(super) steadfast: BTreeSet<String>,
    pub(super) unread: Vec<Unread>,
}

/// Reads the manifest in `folder`, and those of its members if it is a workspace.
pub(super) fn layout(folder: &Path) -> Layout {
    let mut layout = Layout::default();
    layout.steadfast.insert("steadfast".to_owned());
    let Some(manifest) = layout.manifest(folder) else {
        return layout;
    };
    if manifest.contains_key("package") {
        layout.package(folder, &manifest);
    }
    let Some(workspace) = table(&manifest, "workspace") else {
        return layout;
    };
    layout.rename(workspace);
    let excluded: BTreeSet<PathBuf> = strings(workspace, "exclude").map(|path| folder.join(path)).collect();
    let members: BTreeSet<PathBuf> = strings(workspace, "members")
        .flat_map(|pattern| expand(folder, pattern))
        .filter(|member| !excluded.contains(member))
        .collect();
    for member in members {
        if let Some(manifest) = layout.manifest(&member) {
            layout.package(&member, &manifest);
        }
    }
    layout
}

impl Layout {
    fn manifest(&mut self, folder: &Path) -> Option<Table> {
        let path = folder.join("Cargo.toml");
        let read = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        match read.and_then(|text| text.parse::<Table>().map_err(|error| error.message().to_owned())) {
            Ok(manifest) => Some(manifest),
            Err(reason) => {
                self.unread.push(Unread::file(path, reason));
                None
            }
        }
    }

    fn package(&mut self, folder: &Path, manifest: &Table) {
        self.rename(manifest);
        let package = table(manifest, "package");
        let text = |key: &str| package.and_then(|package| package.get(key)?.as_str());
        let name = text("name").unwrap_or_default().replace('-', "_");
        self.library(folder, table(manifest, "lib"), &name);
        let automatic = |key: &str| {
            let says = package.and_then(|package| package.get(key)?.as_bool());
            says.unwrap_or(true)
        };
        let mut roots = BTreeSet::new();
        if automatic("autobins") {
            roots.extend(existing(folder.join("src/main.rs")));
            roots.extend(beside(&folder.join("src/bin")));
        }
        if automatic("autoexamples") {
            roots.extend(beside(&folder.join("examples")));
        }
        for (key, usual) in [("bin", "src/bin"), ("example", "examples")] {
            let declared = manifest.get(key).and_then(Value::as_array).into_iter().flatten();
            for target in declared.filter_map(Value::as_table) {
                self.declared(folder, target, usual, &mut roots);
            }
        }
        let targets = roots.into_iter().map(|root| Target { root, library: None });
        self.targets.extend(targets);
    }

    fn library(&mut self, folder: &Path, lib: Option<&Table>, package: &str) {
        let text = |key: &str| lib.and_then(|lib| lib.get(key)?.as_str());
        let root = folder.join(text("path").unwrap_or("src/lib.rs"));
        if root.is_file() {
            let library = Some(text("name").unwrap_or(package).replace('-', "_"));
            self.targets.push(Target { root, library });
        } else if lib.is_some() {
            self.unread.push(Unread::file(root, "no such file".to_owned()));
        }
    }

    fn declared(&mut self, folder: &Path, target: &Table, usual: &str, roots: &mut BTreeSet<PathBuf>) {
        let text = |key: &str| target.get(key).and_then(Value::as_str);
        if let Some(path) = text("path") {
            let root = folder.join(path);
            if root.is_file() {
                roots.insert(root);
            } else {
                self.unread.push(Unread::file(root, "no such file".to_owned()));
            }
        } else if let Some(name) = text("name") {
            let usual = folder.join(usual);
            let candidates = [usual.join(format!("{name}.rs")), usual.join(name).join("main.rs")];
            roots.extend(candidates.into_iter().filter(|path| path.is_file()));
        }
    }

    /// Takes the names of dependencies that are Steadfast under another name.
    fn rename(&mut self, manifest: &Table) {
        for (key, value) in manifest {
            let Some(table) = value.as_table() else { continue };
            if key.ends_with("dependencies") {
                let renamed = table.iter().filter(|(_, dependency)| {
                    let package = dependency.get("package").and_then(Value::as_str);
                    package == Some("steadfast")
                });
                self.steadfast.extend(renamed.map(|(name, _)| name.replace('-', "_")));
            } else if key == "target" {
                let platforms = table.values().filter_map(Value::as_table);
                platforms.for_each(|platform| self.rename(platform));
            }
        }
    }
}

fn table<'t>(table: &'t Table, key: &str) -> Option<&'t Table> {
    table.get(key)?.as_table()
}

fn strings<'t>(table: &'t Table, key: &str) -> impl Iterator<Item = &'t str> {
    let list = table.get(key).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str)
}

/// The folders that a member of a workspace stands for: one, or all of a folder (`crates/*`).
fn expand(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else {
        return vec![folder.join(pattern)];
    };
    let Ok(entries) = std::fs::read_dir(folder.join(before)) else {
        return Vec::new();
    };
    let after = after.trim_start_matches(['*', '/']);
    let found = entries.flatten().map(|entry| entry.path().join(after));
    found.filter(|path| path.join("Cargo.toml").is_file()).collect()
}

fn existing(path: PathBuf) -> Option<PathBuf> {
    path.is_file().then_some(path)
}

/// The targets that Cargo finds in a folder: `name.rs` and `name/main.rs`.
fn beside(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let targets = entries.filter_map(|entry| {
        let path = entry.path();
        if path.is_dir() {
            existing(path.join("main.rs"))
        } else {
            path.extension().is_some_and(|ending| ending == "rs").then_some(path)
        }
    });
    targets.collect()
}
