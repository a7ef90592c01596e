//! A shape's text as a tree again: one node for each line, with the lines below it inside.
//!
//! Absent on purpose: meaning. Which lines a later version may have instead is decided in `compare`.

use std::collections::BTreeSet;
use std::fmt;

/// A line of a shape, and what is indented below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) inside: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Point(Point),
    /// `random`, `uuid`
    Draw(String),
    Call(String),
    /// An `async` block; numbered if it stands in a variable.
    Block(Option<u32>),
    Branch,
    Arm,
    Patched(String),
    /// The two sides of a patch.
    New,
    Old,
    /// `loop`, `forever`, `once`
    Loop(String),
    /// `join`, `race`, `map_concurrent` …, around `branch`es.
    Region(String),
    Exit(Exit),
    Removed(Point),
    Retired(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Point {
    /// `step`, `sleep`, `signal`
    pub(super) word: String,
    pub(super) name: String,
    pub(super) keyed: bool,
    pub(super) timed: bool,
    pub(super) gives: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Return,
    Break,
    Continue,
}

const REGIONS: [&str; 7] = [
    "join",
    "try_join",
    "race",
    "map_concurrent",
    "map_concurrent_all",
    "join_all",
    "try_join_all",
];

/// One workflow of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) name: String,
    pub(super) version: u32,
    pub(super) input: String,
    pub(super) output: String,
    pub(super) nodes: Vec<Node>,
}

/// A text is no shape: a line of it cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no line of a shape: `{line}`")]
pub struct UnreadableShape {
    line: String,
}

impl UnreadableShape {
    /// The line.
    pub fn line(&self) -> &str {
        self.line.trim_start()
    }

    fn at(line: &str) -> Self {
        Self {
            line: line.trim_end().to_owned(),
        }
    }
}

impl Tree {
    pub(super) fn read(text: &str) -> Result<Self, UnreadableShape> {
        let mut lines = text
            .lines()
            .map(str::trim_end)
            .filter(|line| !line.is_empty())
            .peekable();
        let head = lines.next().unwrap_or_default();
        let (name, version) = heading(head).ok_or_else(|| UnreadableShape::at(head))?;
        let mut field = |word: &str| {
            let line = lines.next().unwrap_or_default();
            let value = line.trim_start().strip_prefix(word);
            value
                .map(|value| value.trim_start().to_owned())
                .ok_or_else(|| UnreadableShape::at(line))
        };
        let (input, output) = (field("input")?, field("output")?);
        let rest: Vec<&str> = lines.collect();
        let mut left = rest.as_slice();
        let nodes = read_inside(&mut left, 1)?;
        match left.first() {
            None => Ok(Self {
                name,
                version,
                input,
                output,
                nodes,
            }),
            Some(line) => Err(UnreadableShape::at(line)),
        }
    }
}

/// The names of all changes behind `patched!`.
pub(super) fn changes(nodes: &[Node], found: &mut BTreeSet<String>) {
    for node in nodes {
        if let Kind::Patched(id) = &node.kind {
            found.insert(id.clone());
        }
        changes(&node.inside, found);
    }
}

/// The name and version in `workflow "…" version …`.
pub(crate) fn heading(line: &str) -> Option<(String, u32)> {
    let (name, rest) = unquoted(line.strip_prefix("workflow ")?)?;
    Some((name, rest.strip_prefix(" version ")?.trim().parse().ok()?))
}

fn read_inside(lines: &mut &[&str], depth: usize) -> Result<Vec<Node>, UnreadableShape> {
    let mut nodes = Vec::new();
    while let Some((line, rest)) = lines.split_first() {
        let indent = line.len() - line.trim_start().len();
        if indent < 2 * depth {
            break;
        }
        let kind = (indent == 2 * depth).then(|| kind(line.trim_start())).flatten();
        let kind = kind.ok_or_else(|| UnreadableShape::at(line))?;
        *lines = rest;
        let inside = read_inside(lines, depth + 1)?;
        nodes.push(Node { kind, inside });
    }
    Ok(nodes)
}

fn kind(line: &str) -> Option<Kind> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    Some(match word {
        "step" | "sleep" | "signal" => Kind::Point(point(word, rest)?),
        "removed" => {
            let (word, rest) = rest.split_once(' ')?;
            Kind::Removed(point(word, rest)?)
        }
        "retired" => Kind::Retired(only_name(rest)?),
        "patched" => Kind::Patched(only_name(rest)?),
        "call" if !rest.is_empty() => Kind::Call(rest.to_owned()),
        "block" if rest.is_empty() => Kind::Block(None),
        "block" => Kind::Block(Some(rest.parse().ok()?)),
        _ if !rest.is_empty() => return None,
        "random" | "uuid" => Kind::Draw(word.to_owned()),
        "branch" => Kind::Branch,
        "arm" => Kind::Arm,
        "new" => Kind::New,
        "old" => Kind::Old,
        "loop" | "forever" | "once" => Kind::Loop(word.to_owned()),
        "return" => Kind::Exit(Exit::Return),
        "break" => Kind::Exit(Exit::Break),
        "continue" => Kind::Exit(Exit::Continue),
        word if REGIONS.contains(&word) => Kind::Region(word.to_owned()),
        _ => return None,
    })
}

fn point(word: &str, rest: &str) -> Option<Point> {
    let (name, rest) = unquoted(rest)?;
    let (options, gives) = match rest.split_once(" -> ") {
        Some((options, gives)) => (options, Some(gives.to_owned())),
        None => (rest, None),
    };
    let mut point = Point {
        word: matches!(word, "step" | "sleep" | "signal").then(|| word.to_owned())?,
        name,
        keyed: false,
        timed: false,
        gives,
    };
    for option in options.split_whitespace() {
        match option {
            "keyed" => point.keyed = true,
            "timed" => point.timed = true,
            _ => return None,
        }
    }
    Some(point)
}

fn only_name(text: &str) -> Option<String> {
    let (name, rest) = unquoted(text)?;
    rest.is_empty().then_some(name)
}

/// A name in quotes, and what follows it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut characters = text.strip_prefix('"')?.char_indices();
    while let Some((place, character)) = characters.next() {
        match character {
            '"' => return Some((name, text.get(place + 2..)?)),
            '\\' => name.push(characters.next()?.1),
            other => name.push(other),
        }
    }
    None
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.word, self.name)?;
        if self.keyed {
            f.write_str(" with a key")?;
        }
        if self.timed {
            f.write_str(" with a timeout")?;
        }
        Ok(())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Point(point) => write!(f, "{point}"),
            Kind::Draw(what) => write!(f, "`{what}!`"),
            Kind::Call(name) if name == "?" => f.write_str("the wait for a durable future"),
            Kind::Call(name) => write!(f, "the call of `{name}`"),
            Kind::Block(None) => f.write_str("an `async` block"),
            Kind::Block(Some(number)) => write!(f, "`async` block {number} of those in variables"),
            Kind::Branch | Kind::Arm => f.write_str("a branch"),
            Kind::Patched(id) => write!(f, "`patched!({id:?})`"),
            Kind::New => f.write_str("the new side"),
            Kind::Old => f.write_str("the old side"),
            Kind::Loop(_) => f.write_str("a loop"),
            Kind::Region(word) => write!(f, "`{word}`"),
            Kind::Exit(Exit::Return) => f.write_str("`return`"),
            Kind::Exit(Exit::Break) => f.write_str("`break`"),
            Kind::Exit(Exit::Continue) => f.write_str("`continue`"),
            Kind::Removed(point) => write!(f, "`removed!` of {} `{}`", point.word, point.name),
            Kind::Retired(id) => write!(f, "`retired!({id:?})`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_read_back() {
        let text = "workflow \"a \\\"b\\\"\" version 2\n  input (u8)\n  output ()\n  step \"x\" keyed -> A<B -> C>\n  branch\n    arm\n      return\n    arm\n  removed signal \"y\"\n";
        let tree = Tree::read(text).expect("it is a shape");
        assert_eq!((tree.name.as_str(), tree.version), ("a \"b\"", 2));
        assert_eq!((tree.input.as_str(), tree.output.as_str()), ("(u8)", "()"));
        assert_eq!(tree.nodes.len(), 3);
        assert_eq!(tree.nodes[1].inside.len(), 2);
        let Kind::Point(point) = &tree.nodes[0].kind else {
            panic!("{tree:?}");
        };
        assert_eq!(point.gives.as_deref(), Some("A<B -> C>"));
    }

    #[test]
    fn a_line_that_cannot_be_read_is_shown() {
        let head = "workflow \"a\" version 1\n  input ()\n  output ()\n";
        for line in [
            "<<<<<<< HEAD",
            "  step charge",
            "  step \"a\" often",
            "    step \"a\"",
            "  jump",
            "  step \"a",
            "  branch 2",
        ] {
            let error = Tree::read(&format!("{head}{line}\n")).expect_err(line);
            assert_eq!(error.to_string(), format!("this is no line of a shape: `{line}`"));
        }
        assert!(Tree::read("").is_err());
        assert!(Tree::read("workflow \"a\" version 1\n  output ()\n").is_err());
    }
}
