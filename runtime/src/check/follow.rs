//! From every workflow along the calls: which functions replay runs, and by which way it comes to each.
//! Absent on purpose: reading files, and what a single function does wrong.

use std::collections::{BTreeMap, BTreeSet};

use super::index::Index;
use super::judge::{Judged, Mistake};
use super::outline::{self, Definition, Id};
use super::report::{Finding, Function, Place, Report};

/// A file, as it is shown, and who has read it.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) label: String,
    pub(super) reader: usize,
}

/// What one of our attributes makes of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Workflow,
    Durable,
    Deterministic,
    Plain,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Workflow => "workflow",
            Self::Durable => "durable",
            Self::Deterministic => "deterministic",
            Self::Plain => "fn",
        }
    }
}

/// `judge` answers for functions, each with whether it is plain.
pub(super) fn follow(
    index: &Index,
    sources: &[Source],
    steadfast: &BTreeSet<String>,
    judge: impl Fn(Vec<(Id, bool)>) -> Vec<(Id, Judged)>,
) -> Report {
    let mut roots: Vec<(Id, Role)> = index
        .functions()
        .map(|(id, function)| (id, role(index, function, steadfast)))
        .filter(|(_, role)| *role != Role::Plain)
        .collect();
    let mut follow = Follow {
        index,
        sources,
        roles: roots.iter().copied().collect(),
        from: BTreeMap::new(),
        judged: BTreeMap::new(),
    };
    roots.sort_by_key(|(id, _)| follow.place(*id));
    // What a helper does is told by a workflow that calls it, if there is one.
    for first in [true, false] {
        let starts = roots.iter().filter(|(_, role)| (*role == Role::Workflow) == first);
        follow.spread(starts.map(|(id, _)| *id).collect(), &judge);
    }
    follow.report()
}

fn role(index: &Index, function: &outline::Function, steadfast: &BTreeSet<String>) -> Role {
    let is_ours = |path: &[String]| path.iter().any(|name| steadfast.contains(name));
    for attribute in &function.attributes {
        let found = index.resolve(function.module, attribute, None);
        let meant = found.iter().find_map(|definition| match definition {
            Definition::Foreign(path) => Some(path),
            _ => None,
        });
        let name = match meant {
            // `use steadfast::workflow as flow` is followed.
            Some(path) => path.last().filter(|_| is_ours(path)),
            // What is unknown may come from a prelude.
            None => attribute.last().filter(|_| attribute.len() == 1 || is_ours(attribute)),
        };
        match name.map(String::as_str) {
            Some("workflow") => return Role::Workflow,
            Some("durable") => return Role::Durable,
            Some("deterministic") => return Role::Deterministic,
            Some(_) | None => {}
        }
    }
    Role::Plain
}

struct Follow<'f> {
    index: &'f Index,
    sources: &'f [Source],
    roles: BTreeMap<Id, Role>,
    /// Who calls a function on the shortest way to it; nobody if it is where a way begins.
    from: BTreeMap<Id, Option<Id>>,
    judged: BTreeMap<Id, Judged>,
}

impl Follow<'_> {
    fn role(&self, id: Id) -> Role {
        self.roles.get(&id).copied().unwrap_or(Role::Plain)
    }

    /// Whether a call of this function runs its code in the caller's turn.
    fn runs(&self, id: Id) -> bool {
        let is_async = self.index.function(id).is_some_and(|function| function.is_async);
        match self.role(id) {
            Role::Workflow => false,
            Role::Durable | Role::Deterministic => true,
            Role::Plain => !is_async,
        }
    }

    /// Breadth first, so that the first way to a function is a shortest one.
    fn spread(&mut self, starts: Vec<Id>, judge: &impl Fn(Vec<(Id, bool)>) -> Vec<(Id, Judged)>) {
        let mut next: Vec<Id> = starts.into_iter().filter(|id| !self.from.contains_key(id)).collect();
        self.from.extend(next.iter().map(|id| (*id, None)));
        while !next.is_empty() {
            let asked = next.iter().map(|id| (*id, self.role(*id) == Role::Plain)).collect();
            self.judged.extend(judge(asked));
            let mut found = Vec::new();
            for caller in next {
                for called in self.judged.get(&caller).into_iter().flat_map(|judged| &judged.calls) {
                    if self.runs(*called) && !self.from.contains_key(called) {
                        self.from.insert(*called, Some(caller));
                        found.push(*called);
                    }
                }
            }
            next = found;
        }
    }

    fn place(&self, id: Id) -> Place {
        let file = usize::try_from(id.file).ok().and_then(|file| self.sources.get(file));
        Place {
            file: file.map(|source| source.label.clone()).unwrap_or_default(),
            line: self.index.function(id).map_or(0, |function| function.line),
            column: 0,
        }
    }

    fn named(&self, id: Id) -> Function {
        Function {
            kind: self.role(id).name(),
            name: self.index.title(id),
            place: self.place(id),
        }
    }

    fn chain(&self, id: Id) -> Vec<Function> {
        let mut chain = vec![self.named(id)];
        let mut at = id;
        while let Some(Some(caller)) = self.from.get(&at) {
            chain.push(self.named(*caller));
            at = *caller;
        }
        chain.reverse();
        chain
    }

    fn report(&self) -> Report {
        let mut callers: BTreeMap<Id, BTreeSet<Id>> = BTreeMap::new();
        for (caller, judged) in &self.judged {
            for called in judged.calls.iter().filter(|called| self.runs(**called)) {
                callers.entry(*called).or_default().insert(*caller);
            }
        }
        let mut findings = Vec::new();
        for (id, judged) in self.judged.iter().filter(|(_, judged)| !judged.mistakes.is_empty()) {
            let chain = self.chain(*id);
            let workflows = self.workflows_to(*id, &callers);
            let begins_with_one = chain.first().is_some_and(|first| workflows.contains(&first.place));
            let others = workflows.len() - usize::from(begins_with_one);
            findings.extend(
                judged
                    .mistakes
                    .iter()
                    .map(|mistake| self.finding(*id, mistake, &chain, others)),
            );
        }
        findings.sort_by(|one, other| {
            let key = |finding: &Finding| (finding.place.clone(), finding.rule.clone(), finding.chain.len());
            key(one).cmp(&key(other))
        });
        // A file may be part of a library and of a program.
        findings.dedup_by(|one, other| one.place == other.place && one.rule == other.rule);
        let workflows = self.roles.values().filter(|role| **role == Role::Workflow).count();
        Report {
            findings,
            unread: Vec::new(),
            workflows,
            functions: self.judged.len(),
            files: 0,
            lines: 0,
        }
    }

    fn finding(&self, id: Id, mistake: &Mistake, chain: &[Function], other_workflows: usize) -> Finding {
        Finding {
            rule: mistake.rule.clone(),
            is_warning: mistake.is_warning,
            message: mistake.message.clone(),
            place: Place {
                file: self.place(id).file,
                line: mistake.line,
                column: mistake.column,
            },
            chain: chain.to_vec(),
            other_workflows,
        }
    }

    /// Where the workflows are that come to this function by any way.
    fn workflows_to(&self, id: Id, callers: &BTreeMap<Id, BTreeSet<Id>>) -> BTreeSet<Place> {
        let (mut seen, mut next) = (BTreeSet::from([id]), vec![id]);
        while let Some(at) = next.pop() {
            let new = callers
                .get(&at)
                .into_iter()
                .flatten()
                .filter(|caller| seen.insert(**caller));
            next.extend(new);
        }
        let workflows = seen.into_iter().filter(|id| self.role(*id) == Role::Workflow);
        workflows.map(|id| self.place(id)).collect()
    }
}
