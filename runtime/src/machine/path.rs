//! The identity of a checkpoint: the path of its scope, its name, and a key or an ordinal.
//!
//! A path reads like `charge`, `pack#2` (the third `pack` of its scope), `pack(line-7)` (with a key) or
//! `map[5]/{0}/pack` (in the first block of the sixth item of a `map_concurrent`). It is claimed when the checkpoint is
//! constructed, so it does not depend on which of two branches runs first.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A checkpoint's path within its instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Path(Arc<str>);

impl Path {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The checkpoint's own name, without scope, key and ordinal.
    pub(crate) fn name(&self) -> String {
        let (mut name, mut is_escaped, mut is_over) = (String::new(), false, false);
        for character in self.0.chars() {
            match character {
                '\\' if !is_escaped => {
                    is_escaped = true;
                    continue;
                }
                '/' if !is_escaped => (name, is_over) = (String::new(), false),
                '#' | '(' if !is_escaped => is_over = true,
                _ if !is_over => name.push(character),
                _ => {}
            }
            is_escaped = false;
        }
        name
    }
}

impl From<&str> for Path {
    fn from(text: &str) -> Self {
        Path(text.into())
    }
}

impl From<String> for Path {
    fn from(text: String) -> Self {
        Path(text.into())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Path {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Path {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Path::from)
    }
}

/// Where a checkpoint stands in the user's source.
pub(crate) type Location = &'static std::panic::Location<'static>;

/// A key was used twice for the same name in one scope.
#[derive(Debug)]
pub(crate) struct DuplicateKey {
    pub(crate) path: Path,
    pub(crate) first: Location,
}

/// A namespace of checkpoints: it counts names, so that the same name in a loop gives `pack`, `pack#1`, `pack#2`.
#[derive(Debug, Default)]
pub(crate) struct ScopeNames {
    prefix: String,
    depth: u16,
    ordinals: BTreeMap<&'static str, u32>,
    keys: BTreeMap<Path, Location>,
}

impl ScopeNames {
    /// The path of the next checkpoint called `name`.
    pub(crate) fn claim(&mut self, name: &'static str) -> Path {
        let mut path = self.begin(name);
        let ordinal = self.ordinal(name);
        push_ordinal(&mut path, ordinal);
        path.into()
    }

    /// The path of the checkpoint called `name` with this key.
    pub(crate) fn claim_key(
        &mut self,
        name: &'static str,
        key: &str,
        location: Location,
    ) -> Result<Path, DuplicateKey> {
        let mut path = self.begin(name);
        path.push('(');
        push_escaped(&mut path, key, &[')', '\\']);
        path.push(')');
        let path = Path::from(path);
        match self.keys.insert(path.clone(), location) {
            None => Ok(path),
            Some(first) => Err(DuplicateKey { path, first }),
        }
    }

    /// The next inner scope for a block (no name) or a named helper or combinator.
    pub(crate) fn inner(&mut self, name: &'static str) -> ScopeNames {
        let mut prefix = self.prefix.clone();
        let ordinal = self.ordinal(if name.is_empty() { "{" } else { name });
        if name.is_empty() {
            prefix.push_str(&format!("{{{ordinal}}}"));
        } else {
            push_escaped(&mut prefix, name, &SPECIAL);
            push_ordinal(&mut prefix, ordinal);
        }
        prefix.push('/');
        ScopeNames {
            prefix,
            depth: self.depth.saturating_add(1),
            ..ScopeNames::default()
        }
    }

    /// Whether there are more scopes in each other than a thread's stack may bear.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.depth > DEPTH_MAX
    }

    /// The scope of one item of this combinator's scope.
    pub(crate) fn branch(&self, index: usize) -> ScopeNames {
        let prefix = format!("{}[{index}]/", self.prefix.trim_end_matches('/'));
        ScopeNames {
            prefix,
            depth: self.depth,
            ..ScopeNames::default()
        }
    }

    fn begin(&self, name: &'static str) -> String {
        let mut path = String::with_capacity(self.prefix.len() + name.len() + 4);
        path.push_str(&self.prefix);
        push_escaped(&mut path, name, &SPECIAL);
        path
    }

    fn ordinal(&mut self, name: &'static str) -> u32 {
        let next = self.ordinals.entry(name).or_default();
        let ordinal = *next;
        *next = next.saturating_add(1);
        ordinal
    }
}

/// Scopes are polled inside each other. A `#[durable]` function that calls itself without end must stop its instance before
/// it exhausts the stack, which would end the process.
const DEPTH_MAX: u16 = 128;

/// Characters with a meaning in a path.
const SPECIAL: [char; 6] = ['/', '#', '(', '[', '{', '\\'];

fn push_ordinal(path: &mut String, ordinal: u32) {
    if ordinal > 0 {
        path.push('#');
        path.push_str(&ordinal.to_string());
    }
}

fn push_escaped(path: &mut String, text: &str, special: &[char]) {
    if !text.contains(special) {
        path.push_str(text);
        return;
    }
    for character in text.chars() {
        if special.contains(&character) {
            path.push('\\');
        }
        path.push(character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_counted_within_their_scope() {
        let mut root = ScopeNames::default();
        assert_eq!(root.claim("pack").as_str(), "pack");
        assert_eq!(root.claim("ship").as_str(), "ship");
        assert_eq!(root.claim("pack").as_str(), "pack#1");
        let mut block = root.inner("");
        assert_eq!(block.claim("pack").as_str(), "{0}/pack");
        assert_eq!(root.inner("").claim("pack").as_str(), "{1}/pack");
        let mut map = root.inner("map").branch(5);
        assert_eq!(map.claim("pack").as_str(), "map[5]/pack");
        assert_eq!(root.inner("map").branch(5).claim("pack").as_str(), "map#1[5]/pack");
        assert_eq!(map.inner("helper").claim("pack").as_str(), "map[5]/helper/pack");
    }

    #[test]
    fn a_path_gives_its_name_back() {
        for (path, name) in [
            ("pay", "pay"),
            ("map[5]/{0}/pay#2", "pay"),
            ("pay(a-1)", "pay"),
            ("a\\/b\\#1", "a/b#1"),
        ] {
            assert_eq!(Path::from(path).name(), name);
        }
    }

    #[test]
    fn no_name_or_key_reads_like_another_path() {
        let mut root = ScopeNames::default();
        assert_eq!(root.claim("a#1").as_str(), "a\\#1");
        let here = std::panic::Location::caller();
        assert_eq!(
            root.claim_key("a", "x)/b", here).expect("the key is new").as_str(),
            "a(x\\)/b)"
        );
        let error = root.claim_key("a", "x)/b", here).expect_err("the key was used");
        assert_eq!(error.first.line(), here.line());
    }
}
