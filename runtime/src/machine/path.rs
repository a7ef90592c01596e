//! The identity of a checkpoint: the path of its scope, its name, and a key or an ordinal.
//!
//! A path reads like `charge`, `pack#2` (the third `pack` of its scope), `pack(line-7)` (with a key) or
//! `map[5]/{0}/pack` (in the first block of the sixth item of a `map_concurrent`). It is claimed when the checkpoint is
//! constructed, so it does not depend on which of two branches runs first.

use serde::de::Visitor;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A checkpoint's path within its instance. Clones share the text.
#[derive(Clone)]
pub(crate) struct Path(Text);

#[derive(Clone)]
enum Text {
    /// A name that stands for itself: the first of its name, outside of all blocks.
    Name(&'static str),
    Made(Arc<str>),
}

impl Path {
    pub(crate) fn as_str(&self) -> &str {
        match &self.0 {
            Text::Name(name) => name,
            Text::Made(text) => text,
        }
    }

    /// The checkpoint's own name, without scope, key and ordinal.
    pub(crate) fn name(&self) -> String {
        let (mut name, mut is_escaped, mut is_over) = (String::new(), false, false);
        for character in self.as_str().chars() {
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

impl PartialEq for Path {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Path {}

impl PartialOrd for Path {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Path {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl From<&str> for Path {
    fn from(text: &str) -> Self {
        Path(Text::Made(text.into()))
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Path {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Path {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PathVisitor;
        impl Visitor<'_> for PathVisitor {
            type Value = Path;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a checkpoint's path")
            }
            fn visit_str<E>(self, text: &str) -> Result<Path, E> {
                Ok(Path::from(text))
            }
        }
        deserializer.deserialize_str(PathVisitor)
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
    /// Room in which a path is put together.
    text: String,
}

impl ScopeNames {
    /// The path of the next checkpoint called `name`.
    pub(crate) fn claim(&mut self, name: &'static str) -> Path {
        let ordinal = self.ordinal(name);
        if ordinal == 0 && self.prefix.is_empty() && !has_any(name, &SPECIAL) {
            return Path(Text::Name(name));
        }
        self.begin(name);
        push_ordinal(&mut self.text, ordinal);
        self.text.as_str().into()
    }

    /// The path of the checkpoint called `name` with this key.
    pub(crate) fn claim_key(
        &mut self,
        name: &'static str,
        key: &str,
        location: Location,
    ) -> Result<Path, DuplicateKey> {
        self.begin(name);
        self.text.push('(');
        push_escaped(&mut self.text, key, b")\\");
        self.text.push(')');
        let path = Path::from(self.text.as_str());
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

    fn begin(&mut self, name: &'static str) {
        self.text.clear();
        self.text.push_str(&self.prefix);
        push_escaped(&mut self.text, name, &SPECIAL);
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
const SPECIAL: [u8; 6] = *b"/#([{\\";

/// All of these are one byte and part of no other character.
fn has_any(text: &str, special: &[u8]) -> bool {
    text.bytes().any(|byte| special.contains(&byte))
}

fn push_ordinal(path: &mut String, ordinal: u32) {
    if ordinal > 0 {
        path.push('#');
        push_number(path, ordinal);
    }
}

/// In decimal; this is written for every step of a loop.
fn push_number(path: &mut String, number: u32) {
    if number > 9 {
        push_number(path, number / 10);
    }
    path.extend(char::from_digit(number % 10, 10));
}

fn push_escaped(path: &mut String, text: &str, special: &[u8]) {
    if !has_any(text, special) {
        path.push_str(text);
        return;
    }
    for character in text.chars() {
        if u8::try_from(character).is_ok_and(|byte| special.contains(&byte)) {
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
