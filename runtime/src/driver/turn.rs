//! The turn under way: what checkpoints of the workflow future that is being polled on this thread talk to.
//!
//! The workflow future and its checkpoints hold no reference to the engine. While the driver polls them, the turn (machine,
//! scopes, wakers) stands in a thread-local slot; while a step body is polled it is taken out, so that nothing in a body can
//! reach it. A checkpoint that is dropped while no turn is there is dropped with its whole instance, and leaves no trace.

use crate::machine::{Fault, Location, Machine, OpenNo, Path, ScopeNames, SignalCheck};
use crate::time::Timestamp;
use std::any::TypeId;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

/// Told which type a workflow's wait asks for, so that senders can be refused early.
pub(crate) type OnWait = Box<dyn Fn(&'static str, TypeId, SignalCheck) + Send>;

/// The state of one instance between two polls.
pub(crate) struct Turn {
    pub(crate) machine: Machine,
    pub(crate) on_wait: OnWait,
    /// Tells scopes of one instance from those of another.
    number: u64,
    scopes: Vec<Option<ScopeNames>>,
    free_scopes: Vec<usize>,
    current: usize,
    /// By slot.
    wakers: Vec<Option<(OpenNo, Waker)>>,
}

thread_local! {
    static CURRENT: RefCell<Option<Box<Turn>>> = const { RefCell::new(None) };
}

static NEXT_TURN: AtomicU64 = AtomicU64::new(0);

impl Turn {
    pub(crate) fn new(machine: Machine, on_wait: OnWait) -> Box<Self> {
        let number = NEXT_TURN.fetch_add(1, Ordering::Relaxed);
        let scopes = vec![Some(ScopeNames::default())];
        Box::new(Self {
            machine,
            on_wait,
            number,
            scopes,
            free_scopes: Vec::new(),
            current: 0,
            wakers: Vec::new(),
        })
    }

    /// Makes the turn the one under way on this thread while `poll` runs.
    pub(crate) fn enter<R>(self: Box<Self>, poll: impl FnOnce() -> R) -> (Box<Self>, R) {
        let before = CURRENT.with(|current| current.replace(Some(self)));
        let result = poll();
        let turn = CURRENT.with(|current| current.replace(before));
        (
            turn.expect("only `suspended` takes the turn, and it puts it back"),
            result,
        )
    }

    /// The path of the next checkpoint called `name` in the current scope.
    pub(crate) fn claim(&mut self, name: &'static str) -> Path {
        self.scope().claim(name)
    }

    /// The path of the checkpoint with this key; a key that was used before stops the instance.
    pub(crate) fn claim_key(&mut self, name: &'static str, key: &str, location: Location) -> Path {
        match self.scope().claim_key(name, key, location) {
            Ok(path) => path,
            Err(duplicate) => {
                self.machine.set_fault(Fault::duplicate_key(&duplicate, location));
                duplicate.path
            }
        }
    }

    /// Remembers whom to wake when the machine answers this checkpoint.
    pub(crate) fn register(&mut self, open: OpenNo, waker: &Waker) {
        let slot = open.slot();
        if self.wakers.len() <= slot {
            self.wakers.resize(slot + 1, None);
        }
        match &mut self.wakers[slot] {
            Some((known, before)) => {
                *known = open;
                before.clone_from(waker);
            }
            empty @ None => *empty = Some((open, waker.clone())),
        }
    }

    /// The slot may be another checkpoint's by now, whose waker stays.
    pub(crate) fn forget(&mut self, open: OpenNo) {
        if let Some(kept) = self.wakers.get_mut(open.slot()) {
            kept.take_if(|(known, _)| *known == open);
        }
    }

    pub(crate) fn wake(&self, open: OpenNo) {
        wake(&self.wakers, open);
    }

    /// Wakes the steps that may begin now. `false` if there are none.
    pub(crate) fn release(&mut self, take: impl FnOnce(&mut Machine) -> &[OpenNo]) -> bool {
        let released = take(&mut self.machine);
        for open in released {
            wake(&self.wakers, *open);
        }
        !released.is_empty()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.machine.now()
    }

    fn scope(&mut self) -> &mut ScopeNames {
        let current = self.current;
        self.scopes[current]
            .as_mut()
            .expect("a scope outlives the polls inside it")
    }

    fn add_scope(&mut self, names: ScopeNames) -> usize {
        match self.free_scopes.pop() {
            Some(index) => {
                self.scopes[index] = Some(names);
                index
            }
            None => {
                self.scopes.push(Some(names));
                self.scopes.len() - 1
            }
        }
    }
}

fn wake(wakers: &[Option<(OpenNo, Waker)>], open: OpenNo) {
    if let Some(Some((known, waker))) = wakers.get(open.slot())
        && *known == open
    {
        waker.wake_by_ref();
    }
}

/// Calls `f` with the turn under way; `None` outside of any.
pub(crate) fn with<R>(f: impl FnOnce(&mut Turn) -> R) -> Option<R> {
    CURRENT
        .try_with(|current| current.try_borrow_mut().ok()?.as_deref_mut().map(f))
        .ok()
        .flatten()
}

/// Like [`with`], for checkpoints, which only exist inside a turn.
pub(crate) fn inside<R>(f: impl FnOnce(&mut Turn) -> R) -> R {
    with(f).expect("a checkpoint is only constructed and polled by a workflow")
}

/// Runs `body` with the turn out of reach.
pub(crate) fn suspended<R>(body: impl FnOnce() -> R) -> R {
    struct PutBack(Option<Box<Turn>>);
    impl Drop for PutBack {
        fn drop(&mut self) {
            CURRENT.with(|current| current.replace(self.0.take()));
        }
    }
    let _put_back = PutBack(CURRENT.with(RefCell::take));
    body()
}

/// A namespace of checkpoints that is open in some turn. Outside of a turn it does nothing.
pub(crate) struct Scope {
    claimed: Option<(u64, usize)>,
}

impl Scope {
    /// The next inner scope of the current one; `segment` is empty for an anonymous block.
    pub(crate) fn open(segment: &'static str) -> Scope {
        let claimed = with(|turn| {
            let names = turn.scope().inner(segment);
            if names.is_too_deep() {
                turn.machine.set_fault(Fault::defect(
                    "durable blocks and `#[durable]` functions are nested more than 128 deep; use a loop instead of a recursion",
                ));
            }
            (turn.number, turn.add_scope(names))
        });
        Scope { claimed }
    }

    /// The scope of the item with this index of a combinator's scope.
    pub(crate) fn branch(&self, index: usize) -> Scope {
        let claimed = with(|turn| {
            let (number, own) = self.claimed.filter(|(number, _)| *number == turn.number)?;
            let names = turn.scopes.get(own)?.as_ref()?.branch(index);
            Some((number, turn.add_scope(names)))
        });
        Scope {
            claimed: claimed.flatten(),
        }
    }

    /// Makes this scope the current one while `f` runs.
    pub(crate) fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        let outer = with(|turn| match self.claimed {
            Some((number, index)) if number == turn.number => Some(std::mem::replace(&mut turn.current, index)),
            Some(_) | None => None,
        });
        let result = f();
        if let Some(outer) = outer.flatten() {
            with(|turn| turn.current = outer);
        }
        result
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        let Some((number, index)) = self.claimed else { return };
        with(|turn| {
            if turn.number == number {
                turn.scopes[index] = None;
                turn.free_scopes.push(index);
            }
        });
    }
}
