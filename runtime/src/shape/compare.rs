//! Whether instances in flight can go on with a later version of the code: what the machine would say of every journal that
//! the recorded shape can have written, as far as shapes tell.
//!
//! Both shapes are walked side by side, as replay walks code and journal. What is in the recorded one must be there again.
//! What is new must come after everything that can be recorded, or stand behind `patched!`. Where nothing more can be
//! recorded is the *tail*: the last checkpoint of a sequential path leads to the end of the workflow in its own commit. A
//! wait for a signal without a timeout leaves no trace before that commit, so as the last one it may change as well.
//!
//! Beside other branches the journal goes on while one of them has come to its end. What is new there must leave no trace
//! when it begins: steps and such waits do not; sleeps, timed waits and draws of chance do.
//!
//! Absent on purpose: conditions, which no shape has. A branch is taken to decide as it did.

mod reason;

use super::tree::{Exit, Kind, Node, Point, Tree, changes};
use reason::differs;
use std::collections::BTreeSet;

/// What a change of a workflow's code means for instances in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The shapes are the same.
    Same,
    /// Instances in flight go on with the new code. The notes say what is different.
    Compatible(Vec<String>),
    /// Some instances in flight would be quarantined. The text says why, in one sentence without a full stop.
    Breaking(String),
}

/// What runs beside a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Beside {
    Nothing,
    /// Other branches that all come to their ends.
    Branches,
    /// Branches of which the first to end ends the others.
    Rivals,
    /// Items of which the next begins when one ends.
    Queue,
}

/// Where a sequence stands.
#[derive(Clone)]
struct Around {
    /// After it, nothing more is recorded.
    tail: bool,
    /// The same for `return` and `break` in it.
    returns: bool,
    breaks: bool,
    beside: Beside,
    /// Whether a race is among what it is in.
    races: bool,
    /// The scopes and forks that it is in, for people.
    inside: Vec<String>,
    /// What follows it, for people.
    next: String,
}

pub(super) fn compare(recorded: &Tree, current: &Tree) -> Change {
    let mut known = BTreeSet::new();
    changes(&recorded.nodes, &mut known);
    let mut comparison = Comparison {
        notes: Vec::new(),
        known,
    };
    if recorded.nodes == current.nodes && recorded.input == current.input && recorded.output == current.output {
        return Change::Same;
    }
    if recorded.input != current.input {
        return Change::Breaking(format!(
            "the input is {} where it was {}, and the stored inputs of instances in flight may not be readable",
            current.input, recorded.input
        ));
    }
    if recorded.output != current.output {
        let (now, was) = (&current.output, &recorded.output);
        comparison.note(format!(
            "the output is {now} where it was {was}: results that are stored stay as they are"
        ));
    }
    let around = Around {
        tail: true,
        returns: true,
        breaks: false,
        beside: Beside::Nothing,
        races: false,
        inside: Vec::new(),
        next: "the end".to_owned(),
    };
    match comparison.sequence(&recorded.nodes, &current.nodes, &around) {
        Ok(()) => Change::Compatible(comparison.notes),
        Err(reason) => Change::Breaking(reason),
    }
}

struct Comparison {
    notes: Vec<String>,
    /// The changes that instances in flight may have been asked about already: another place has the same answer.
    known: BTreeSet<String>,
}

type Verdict = Result<(), String>;

impl Comparison {
    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn sequence(&mut self, recorded: &[Node], current: &[Node], around: &Around) -> Verdict {
        let mut left = recorded;
        // The next one is last, so that the old side of a patch can be put in its place.
        let mut ahead: Vec<&Node> = current.iter().rev().collect();
        loop {
            let was = left.first();
            let is = ahead.last().copied();
            if let Some(is) = is
                && self.passes(was, is, &ahead, around)?
            {
                ahead.pop();
                if let (Kind::Patched(_), Some(old)) = (&is.kind, is.inside.last()) {
                    ahead.extend(old.inside.iter().rev());
                }
                if let (Kind::Removed(gone), Some(Kind::Point(point))) = (&is.kind, was.map(|was| &was.kind))
                    && is_place_of(gone, point)
                {
                    left = left.get(1..).unwrap_or_default();
                }
                continue;
            }
            match (was, is) {
                (None, None) => return Ok(()),
                // An early return that is gone: who took it has ended.
                (Some(was), _) if around.is_left_by(was) && is_no_branch(is, left) => {}
                (Some(was), Some(is)) if fits(&was.kind, &is.kind) => {
                    let rest = left.get(1..).unwrap_or_default();
                    self.node(was, is, rest, around)?;
                    ahead.pop();
                }
                (_, _) => return self.what_is_left(left, &ahead, around),
            }
            left = left.get(1..).unwrap_or_default();
        }
    }

    /// What stands in the new code for the sake of instances in flight, and is no checkpoint itself.
    fn passes(&mut self, was: Option<&Node>, is: &Node, ahead: &[&Node], around: &Around) -> Result<bool, String> {
        if was == Some(is) {
            return Ok(false);
        }
        match (&is.kind, was.map(|was| &was.kind)) {
            (Kind::Patched(id), Some(Kind::Patched(known))) if id == known => Ok(false),
            (Kind::Patched(id), _) if self.known.contains(id) => Ok(false),
            (Kind::Patched(id), _) => {
                self.note(format!("a change behind `patched!({id:?})`"));
                Ok(true)
            }
            (Kind::Retired(id), Some(Kind::Patched(known))) if id == known => Err(format!(
                "`patched!({id:?})` is `retired!` now, and instances from before that change can only run its old side"
            )),
            (Kind::Removed(gone), Some(Kind::Point(point))) if is_place_of(gone, point) => {
                if around.races {
                    return Err(format!(
                        "{point} is removed from a race, where `removed!` lets its branch win at once"
                    ));
                }
                let waits = |node: &&&Node| matches!(node.kind, Kind::Point(_));
                if around.beside == Beside::Queue && ahead.iter().rev().skip(1).find(waits).is_none() {
                    return Err(format!(
                        "{point} is removed{}, where `removed!` lets the next item begin earlier than it is recorded",
                        around.place()
                    ));
                }
                self.note(format!("{point} is gone, and `removed!` stands in its place"));
                Ok(true)
            }
            (Kind::Retired(_) | Kind::Removed(_), _) => Ok(true),
            (_, _) => Ok(false),
        }
    }

    /// The rest of the new code is other than the rest of the recorded one.
    fn what_is_left(&mut self, left: &[Node], ahead: &[&Node], around: &Around) -> Verdict {
        if !around.is_silent(left) {
            return Err(differs(left, ahead, around));
        }
        let new: Vec<&Node> = ahead.iter().rev().copied().collect();
        let Some(first) = new.first() else {
            if let Some(gone) = left.first() {
                self.note(format!(
                    "{} is gone, of which nothing is recorded while instances wait",
                    gone.kind
                ));
            }
            return Ok(());
        };
        let loud = new.iter().find_map(|node| loud(node));
        match (around.beside, loud) {
            (Beside::Nothing, _) | (Beside::Branches | Beside::Rivals, None) => {
                self.note(format!("{} is new, after everything that can be recorded", first.kind));
                Ok(())
            }
            (Beside::Queue, _) => Err(format!(
                "{} is new{}, and lets the next item begin later than it is recorded",
                first.kind,
                around.place()
            )),
            (Beside::Branches | Beside::Rivals, Some(loud)) => Err(format!(
                "{} is new{}, and leaves a record where those of the branches beside it may have gone on",
                loud.kind,
                around.place()
            )),
        }
    }

    fn node(&mut self, was: &Node, is: &Node, rest: &[Node], around: &Around) -> Verdict {
        let tail = around.ends_at(rest);
        let inner = |what: &str| {
            let mut inner = around.clone();
            inner.tail = tail;
            if let Some(next) = rest.first() {
                inner.next = next.kind.to_string();
            }
            if !what.is_empty() {
                inner.inside.push(what.to_owned());
            }
            inner
        };
        match (&was.kind, &is.kind) {
            (Kind::Point(was), Kind::Point(is)) => self.types(was, is),
            (Kind::Branch, Kind::Branch) => self.arms(&was.inside, &is.inside, &inner("a branch")),
            (Kind::Patched(id), Kind::Patched(_)) => {
                let inner = inner(&format!("`patched!({id:?})`"));
                let mut sides = was.inside.iter().zip(&is.inside);
                sides.try_for_each(|(was, is)| self.sequence(&was.inside, &is.inside, &inner))
            }
            (Kind::Loop(word), Kind::Loop(_)) => {
                let mut inner = inner("a loop");
                inner.breaks = tail;
                if word != "once" {
                    inner.tail = false;
                    inner.next = "the next round".to_owned();
                }
                self.sequence(&was.inside, &is.inside, &inner)
            }
            (Kind::Block(_), Kind::Block(_)) => {
                let mut inner = inner("an `async` block");
                inner.returns = tail;
                self.sequence(&was.inside, &is.inside, &inner)
            }
            (Kind::Region(word), Kind::Region(_)) => self.branches(word, was, is, &inner(&format!("`{word}`"))),
            (_, _) => Ok(()),
        }
    }

    fn types(&mut self, was: &Point, is: &Point) -> Verdict {
        match (&was.gives, &is.gives) {
            (Some(before), Some(now)) if before != now => Err(format!(
                "{is} gives {now} where it gave {before}, and recorded values may not be readable"
            )),
            (None, Some(now)) => {
                self.note(format!(
                    "make sure that {now}, which {is} says now that it gives, is what instances have recorded"
                ));
                Ok(())
            }
            (Some(before), None) => {
                self.note(format!(
                    "make sure that {is}, which no longer says what it gives, still gives {before}"
                ));
                Ok(())
            }
            (_, _) => Ok(()),
        }
    }

    /// Arms are told apart by what is in them, since no shape has conditions.
    fn arms(&mut self, was: &[Node], is: &[Node], around: &Around) -> Verdict {
        let mut new: Vec<&Node> = is.iter().collect();
        let mut old: Vec<&Node> = Vec::new();
        for arm in was {
            match new.iter().position(|other| *other == arm) {
                Some(place) => _ = new.remove(place),
                None => old.push(arm),
            }
        }
        let pairs = old.len().min(new.len());
        for (was, is) in old.iter().zip(&new) {
            self.sequence(&was.inside, &is.inside, around)?;
        }
        if let Some(gone) = old.iter().skip(pairs).find(|arm| !around.is_silent(&arm.inside)) {
            let first = gone
                .inside
                .first()
                .map_or("nothing".to_owned(), |node| node.kind.to_string());
            return Err(format!("an arm with {first} in it is gone{}", around.place()));
        }
        for arm in new.iter().skip(pairs) {
            let first = arm
                .inside
                .first()
                .map_or("nothing".to_owned(), |node| node.kind.to_string());
            if !around.tail {
                return Err(format!(
                    "an arm with {first} in it is new, before {}, which instances in flight may have recorded",
                    around.next
                ));
            }
            self.what_is_left(&[], &arm.inside.iter().rev().collect::<Vec<_>>(), around)?;
        }
        Ok(())
    }

    fn branches(&mut self, word: &str, was: &Node, is: &Node, around: &Around) -> Verdict {
        let mut inner = around.clone();
        inner.beside = around.beside.max(match word {
            "race" => Beside::Rivals,
            "map_concurrent" | "map_concurrent_all" => Beside::Queue,
            _ => Beside::Branches,
        });
        inner.races |= word == "race";
        let mut around = around.clone();
        if around.beside != Beside::Nothing && !matches!(word, "join" | "join_all") {
            // Its end may drop some of its branches, which is recorded while others beside it go on.
            (inner.tail, inner.returns, around.tail) = (false, false, false);
        }
        let around = &around;
        let pairs = pairs(word, &was.inside, &is.inside);
        for (was, is) in &pairs {
            self.sequence(&was.1.inside, &is.1.inside, &inner)?;
        }
        let (before, now) = (was.inside.len(), is.inside.len());
        if now < before {
            return Err(format!("`{word}` has {now} branches where it had {before}"));
        }
        let mut last_scope = None;
        for (_, (place, _)) in pairs.iter().filter(|(was, _)| opens_scope(was.1)) {
            if last_scope.is_some_and(|last| last > *place) {
                return Err(format!(
                    "the branches of `{word}` that have a scope stand in another order"
                ));
            }
            last_scope = Some(*place);
        }
        let is_paired = |place: usize| pairs.iter().any(|(_, is)| is.0 == place);
        let extra = is.inside.iter().enumerate().filter(|(place, _)| !is_paired(*place));
        for (place, branch) in extra {
            let waits = branch
                .inside
                .first()
                .is_some_and(|node| matches!(node.kind, Kind::Point(_)));
            let quiet = branch.inside.iter().all(|node| loud(node).is_none());
            let renumbers = opens_scope(branch) && last_scope.is_some_and(|last| last > place);
            if !around.tail || !quiet || renumbers || (word == "race" && !waits) {
                return Err(format!(
                    "`{word}` has {now} branches where it had {before}, and those in flight may be past it or have gone on in it"
                ));
            }
            self.note(format!(
                "a new branch of `{word}`, after everything that can be recorded"
            ));
        }
        Ok(())
    }
}

type Branch<'n> = (usize, &'n Node);

/// Which branch is which. Those of a macro are found by what is in them, since their checkpoints are constructed in the scope
/// around it; those of a list have scopes of their own, by their place.
fn pairs<'n>(word: &str, was: &'n [Node], is: &'n [Node]) -> Vec<(Branch<'n>, Branch<'n>)> {
    if !matches!(word, "join" | "try_join" | "race") {
        return was.iter().enumerate().zip(is.iter().enumerate()).collect();
    }
    let mut left: Vec<Branch<'n>> = is.iter().enumerate().collect();
    let mut pairs = Vec::new();
    let mut changed = Vec::new();
    for branch in was.iter().enumerate() {
        match left.iter().position(|other| other.1 == branch.1) {
            Some(place) => pairs.push((branch, left.remove(place))),
            None => changed.push(branch),
        }
    }
    pairs.extend(changed.into_iter().zip(left));
    pairs.sort_by_key(|(was, _)| was.0);
    pairs
}

/// Whether constructing a branch opens scopes, which are counted.
fn opens_scope(branch: &Node) -> bool {
    let mut nodes = branch.inside.iter();
    nodes.any(|node| matches!(node.kind, Kind::Block(_) | Kind::Call(_) | Kind::Region(_)))
}

impl Around {
    /// Whether the path ends where `rest` begins.
    fn ends_at(&self, rest: &[Node]) -> bool {
        match rest.first().map(|node| &node.kind) {
            None => self.tail,
            Some(Kind::Exit(Exit::Return)) => self.returns,
            Some(Kind::Exit(Exit::Break)) => self.breaks,
            Some(_) => false,
        }
    }

    /// Whether this is a branch without checkpoints, of which an arm leaves for the end of the workflow.
    fn is_left_by(&self, node: &Node) -> bool {
        let leaves = |arm: &Node| {
            arm.inside.iter().all(|node| match &node.kind {
                Kind::Exit(_) => self.ends_at(std::slice::from_ref(node)),
                _ => self.is_left_by(node),
            })
        };
        self.beside == Beside::Nothing && node.kind == Kind::Branch && node.inside.iter().all(leaves)
    }

    /// Whether no instance in flight can have recorded anything of `rest`.
    fn is_silent(&self, rest: &[Node]) -> bool {
        if self.ends_at(rest) {
            return true;
        }
        let (Beside::Nothing, Some((first, after))) = (self.beside, rest.split_first()) else {
            return false;
        };
        // Draws of chance are recorded with whatever comes next.
        let draws = after
            .iter()
            .take_while(|node| matches!(node.kind, Kind::Draw(_)))
            .count();
        let ends = self.ends_at(after.get(draws..).unwrap_or_default());
        let within = Self {
            tail: true,
            ..self.clone()
        };
        match &first.kind {
            Kind::Draw(_) => ends,
            Kind::Point(point) => ends && point.word == "signal" && !point.timed,
            Kind::Branch => ends && first.inside.iter().all(|arm| within.is_silent(&arm.inside)),
            Kind::Block(_) => ends && within.is_silent(&first.inside),
            _ => false,
        }
    }

    /// ` in a loop`, or nothing.
    fn place(&self) -> String {
        self.inside
            .last()
            .map_or(String::new(), |inside| format!(" in {inside}"))
    }
}

/// Whether one line can stand for the other. What is below them is another question.
fn fits(was: &Kind, is: &Kind) -> bool {
    match (was, is) {
        (Kind::Point(was), Kind::Point(is)) => is_place_of(was, is) && was.timed == is.timed,
        (Kind::Loop(was), Kind::Loop(is)) => (was == "once") == (is == "once"),
        (was, is) => was == is,
    }
}

/// Kind, name and key are what replay finds a checkpoint by.
fn is_place_of(one: &Point, other: &Point) -> bool {
    one.word == other.word && one.name == other.name && one.keyed == other.keyed
}

/// Whether the new code has no branch here, or only the one that came next.
fn is_no_branch(is: Option<&Node>, left: &[Node]) -> bool {
    is.is_none_or(|is| is.kind != Kind::Branch || left.get(1) == Some(is))
}

/// The first thing in a node that may leave a record when it begins, or that nobody can see into.
fn loud(node: &Node) -> Option<&Node> {
    let itself = match &node.kind {
        Kind::Point(point) => point.word == "sleep" || point.timed,
        Kind::Draw(_) | Kind::Call(_) | Kind::Patched(_) => true,
        // Where one branch ends others, their end is recorded.
        Kind::Region(word) => word != "join" && word != "join_all",
        Kind::Block(_)
        | Kind::Branch
        | Kind::Arm
        | Kind::New
        | Kind::Old
        | Kind::Loop(_)
        | Kind::Exit(_)
        | Kind::Removed(_)
        | Kind::Retired(_) => false,
    };
    if itself {
        Some(node)
    } else {
        node.inside.iter().find_map(loud)
    }
}
