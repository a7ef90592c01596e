//! Given a journal, what an instance is told of a change, and what becomes of checkpoints that are gone.

use crate::machine::checkpoint::{Delivery, StepOutcome, StepView};
use crate::machine::event::{CheckpointKind, EventKind};
use crate::machine::path::Location;
use crate::machine::tests::{any, at, committed, given, journal, sealed, signal, step, succeeded};
use crate::machine::{BEHAVIOUR, FaultKind, Machine, Next, OpenNo, start_with};
use crate::payload::Payload;
use std::panic::Location as Caller;

#[track_caller]
fn here() -> Location {
    Caller::caller()
}

fn change() -> EventKind {
    EventKind::Patched { id: "c".to_owned() }
}

fn kept() -> EventKind {
    EventKind::Kept { id: "c".to_owned() }
}

fn began(sleep: &str) -> EventKind {
    EventKind::SleepBegan {
        sleep: sleep.into(),
        due: at(50),
    }
}

fn attempt_failed(step: &str) -> EventKind {
    EventKind::AttemptFailed {
        step: step.into(),
        attempt: 1,
        failure: crate::failure::AttemptFailure::new(crate::failure::StepFailureKind::Failed, "no"),
        retry_at: at(40),
    }
}

fn removed(machine: &mut Machine, kind: CheckpointKind, path: &str) -> OpenNo {
    machine.open_removed(kind, path.into(), here())
}

/// Nothing of it counts: it is passed before anything else is delivered.
fn passed(machine: &mut Machine, kind: CheckpointKind, path: &str) {
    let open = removed(machine, kind, path);
    assert!(!machine.is_replayed(), "replay is not over before it is passed");
    assert_eq!(machine.next(at(9), 0), Next::Deliver(open));
    assert_eq!(machine.take(open), Some(Delivery::Passed));
}

/// The code `a; if patched!("c")`, up to there.
fn asked_after_a(events: Vec<EventKind>) -> (Machine, bool) {
    let mut machine = given(events);
    let a = step(&mut machine, "a");
    assert_eq!(machine.next(at(9), 0), Next::Deliver(a));
    let answer = machine.patched("c", here());
    (machine, answer)
}

#[test]
fn an_instance_that_comes_to_a_change_runs_the_code_after_it_and_that_must_be_durable() {
    let mut machine = given(vec![]);
    assert!(machine.patched("c", here()));
    let b = step(&mut machine, "b");
    assert!(machine.needs_commit(), "b follows from the answer");
    assert_eq!(committed(&mut machine), [change()]);
    assert_eq!(machine.release_gated(at(1)), []);
    assert_eq!(machine.release_sealed(at(1)), [b]);
}

#[test]
fn a_change_is_asked_about_and_recorded_once() {
    let mut machine = given(vec![]);
    assert!(machine.patched("c", here()) && machine.patched("c", here()));
    assert!(machine.patched("d", here()));
    assert_eq!(committed(&mut machine).len(), 2);

    let (mut machine, answer) = asked_after_a(vec![succeeded("a"), succeeded("b")]);
    assert!(!answer);
    let b = step(&mut machine, "b");
    assert_eq!(machine.next(at(9), 0), Next::Deliver(b));
    assert!(
        !machine.patched("c", here()),
        "in the last segment it would be new ground"
    );
    assert_eq!(machine.next(at(9), 0), Next::Idle);
    assert!(!machine.patched("c", here()), "and live too");
    assert!(committed(&mut machine).is_empty());
}

#[test]
fn a_recorded_change_is_found_again() {
    for after in [vec![], vec![succeeded("b")]] {
        let events = [vec![succeeded("a"), change()], after].concat();
        let (mut machine, answer) = asked_after_a(events);
        assert!(answer);
        step(&mut machine, "b");
        while machine.next(at(9), 0) != Next::Idle {}
        assert_eq!(machine.fault(), None);
        assert!(committed(&mut machine).is_empty());
    }
}

#[test]
fn an_instance_of_which_something_later_is_recorded_runs_the_code_before_the_change() {
    let announced = EventKind::AttemptStarted {
        step: "b".into(),
        attempt: 1,
    };
    for later in [succeeded("b"), attempt_failed("b"), announced, began("nap")] {
        let (mut machine, answer) = asked_after_a(vec![succeeded("a"), later.clone()]);
        assert!(!answer, "{later}");
        assert!(committed(&mut machine).is_empty());
    }
}

#[test]
fn a_command_that_the_code_has_not_repeated_yet_lies_behind_the_change_and_one_that_it_has_before_it() {
    let (mut machine, answer) = asked_after_a(vec![succeeded("a"), began("nap")]);
    assert!(!answer);
    machine.open_sleep("nap".into(), here(), at(60));
    assert_eq!(machine.next(at(9), 0), Next::Idle);
    assert_eq!(machine.fault(), None);

    let mut machine = given(vec![began("nap")]);
    machine.open_sleep("nap".into(), here(), at(60));
    assert!(machine.patched("c", here()));
    assert_eq!(committed(&mut machine), [change()]);
}

#[test]
fn an_instance_whose_bodies_may_have_been_running_runs_the_code_before_the_change() {
    let running = || {
        let mut machine = given(vec![succeeded("a")]);
        machine.bodies_may_have_run();
        let a = step(&mut machine, "a");
        assert_eq!(machine.next(at(9), 0), Next::Deliver(a));
        machine
    };
    let mut machine = running();
    assert!(!machine.patched("c", here()));
    let b = step(&mut machine, "b");
    machine.resume(true, at(9));
    let interrupted = EventKind::AttemptInterrupted {
        step: "b".into(),
        attempt: 1,
    };
    assert_eq!(
        committed(&mut machine),
        [kept(), interrupted],
        "from now on it is recorded that b came after"
    );
    assert_eq!(machine.release_sealed(at(9)), [b]);

    let mut machine = running();
    machine.resume(true, at(9));
    assert_eq!(machine.next(at(9), 0), Next::Idle);
    assert!(
        machine.patched("c", here()),
        "what is reached after replay was never reached before"
    );
}

#[test]
fn an_instance_that_was_told_to_stay_before_a_change_stays_and_code_that_does_not_know_the_change_fits() {
    // Nothing but the record says so: a wait without a deadline leaves no trace, and no body runs any more.
    for after in [vec![], vec![succeeded("b")]] {
        let (mut machine, answer) = asked_after_a([vec![succeeded("a"), kept()], after.clone()].concat());
        assert!(!answer);
        step(&mut machine, "b");
        while machine.next(at(9), 0) != Next::Idle {}
        assert_eq!(machine.fault(), None);
        assert!(committed(&mut machine).is_empty());

        let mut old = given([vec![succeeded("a"), kept()], after].concat());
        let a = step(&mut old, "a");
        assert_eq!(old.next(at(9), 0), Next::Deliver(a));
        step(&mut old, "b");
        while old.next(at(9), 0) != Next::Idle {}
        assert_eq!(old.fault(), None);
        assert!(old.is_replayed());
    }
}

#[test]
fn a_change_that_was_not_committed_is_decided_in_the_same_way_again() {
    for _ in 0..2 {
        let (mut machine, answer) = asked_after_a(vec![succeeded("a")]);
        assert!(answer);
        machine.discard_faulty_poll();
        assert!(committed(&mut machine).is_empty());
    }
}

#[test]
fn a_recorded_change_that_the_code_does_not_know_is_a_divergence_that_names_it() {
    type Code = fn(&mut Machine);
    let goes_on: Code = |machine| _ = step(machine, "b");
    let naps: Code = |machine| _ = machine.open_sleep("nap".into(), here(), at(60));
    let returns: Code = |machine| {
        machine.finish(
            at(9),
            &EventKind::Completed {
                output: Payload::default(),
            },
        );
    };
    for code in [goes_on, naps, returns] {
        for after in [vec![], vec![began("new")], vec![succeeded("b")]] {
            let mut machine = given([vec![succeeded("a"), change()], after].concat());
            let a = step(&mut machine, "a");
            assert_eq!(machine.next(at(9), 0), Next::Deliver(a));
            code(&mut machine);
            machine.next(at(9), 0);
            let fault = machine.fault().expect("the change is not claimed");
            assert_eq!(fault.kind, FaultKind::Divergence);
            for part in ["event 2: change `c`", "`patched!(\"c\")`", "`retired!(\"c\")`"] {
                assert!(fault.message.contains(part), "{part} is not in {}", fault.message);
            }
        }
    }
}

#[test]
fn a_retired_change_takes_its_record_and_makes_none() {
    for events in [vec![], vec![change()], vec![change(), succeeded("b")]] {
        let mut machine = given(events);
        machine.retired("c");
        assert!(machine.patched("c", here()), "what asks still, is told the same");
        let b = step(&mut machine, "b");
        machine.next(at(9), 0);
        assert_eq!(machine.fault(), None);
        assert!(committed(&mut machine).is_empty());
        machine.dropped(b);
    }
}

#[test]
fn a_step_that_is_gone_passes_its_recorded_end() {
    let mut machine = given(vec![attempt_failed("pack"), succeeded("pack"), began("nap")]);
    let pack = removed(&mut machine, CheckpointKind::Step, "pack");
    assert_eq!(machine.next(at(9), 0), Next::Quiet);
    assert_eq!(machine.step_view(pack), StepView::Wait);
    assert_eq!(machine.next_due(), None, "no attempt is due");
    assert_eq!(machine.next(at(9), 0), Next::Deliver(pack));
    assert!(machine.take(pack).is_some());
    machine.open_sleep("nap".into(), here(), at(60));
    assert_eq!(machine.next(at(9), 0), Next::Idle);
    assert_eq!(machine.fault(), None);
}

#[test]
fn a_step_that_is_gone_and_has_not_ended_is_passed_at_once_and_leaves_nothing_running() {
    let interrupted = EventKind::AttemptInterrupted {
        step: "pack".into(),
        attempt: 1,
    };
    let announced = EventKind::AttemptStarted {
        step: "pack".into(),
        attempt: 1,
    };
    for traces in [vec![], vec![attempt_failed("pack")], vec![interrupted], vec![announced]] {
        let mut journal = [vec![succeeded("a")], traces.clone()].concat();
        // The second time, what this code did by itself the first time stands behind the traces.
        for _ in 0..2 {
            let mut machine = given(journal.clone());
            machine.bodies_may_have_run();
            let a = step(&mut machine, "a");
            assert_eq!(machine.next(at(9), 0), Next::Deliver(a));
            passed(&mut machine, CheckpointKind::Step, "pack");
            machine.open_sleep("nap".into(), here(), at(50));
            assert_eq!(machine.next(at(9), 0), Next::Idle);
            machine.resume(true, at(9));
            assert_eq!(machine.fault(), None, "{traces:?}");
            assert!(machine.is_waiting());
            assert_eq!(machine.next_due(), Some(at(50)));
            journal.extend(committed(&mut machine));
        }
        assert_eq!(journal.len(), traces.len() + 2, "the second time adds nothing");
    }
}

#[test]
fn a_sleep_that_is_gone_takes_its_beginning_whether_it_ended_or_not() {
    let mut machine = given(vec![began("nap")]);
    passed(&mut machine, CheckpointKind::Sleep, "nap");
    assert_eq!(machine.next(at(99), 0), Next::Idle);
    assert_eq!((machine.fault(), machine.next_due()), (None, None));

    let ended = EventKind::SleepEnded { sleep: "nap".into() };
    let mut machine = given(vec![began("nap"), ended]);
    let nap = removed(&mut machine, CheckpointKind::Sleep, "nap");
    assert_eq!(machine.next(at(99), 0), Next::Deliver(nap));
    assert_eq!(machine.take(nap), Some(Delivery::SleepEnded));
}

#[test]
fn a_signal_wait_that_is_gone_takes_its_records_and_leaves_signals_that_come_to_the_next() {
    let begun = EventKind::WaitBegan {
        wait: "go".into(),
        deadline: at(50),
    };
    let set_aside = EventKind::SignalSetAside {
        wait: "go".into(),
        sequence: 0,
        payload: Payload::default(),
        reason: "no".to_owned(),
    };
    let received = EventKind::SignalReceived {
        wait: "go".into(),
        sequence: 1,
        payload: Payload::default(),
    };
    let mut machine = given(vec![begun.clone(), set_aside.clone(), received]);
    let go = removed(&mut machine, CheckpointKind::Signal, "go");
    assert_eq!(machine.next(at(9), 0), Next::Quiet);
    assert_eq!(machine.next(at(9), 0), Next::Deliver(go));

    let unread = vec![signal(1, "go", 7)];
    let mut machine = Machine::new(journal(vec![begun, set_aside]), unread, 2).expect("a start");
    passed(&mut machine, CheckpointKind::Signal, "go");
    let next = machine.open_wait("go#1".into(), here(), "go", None, any);
    assert_eq!(machine.next(at(9), 0), Next::Deliver(next));
    assert_eq!(machine.take(next), Some(Delivery::Signal(Payload(vec![7]))));
}

#[test]
fn what_is_gone_and_lost_a_race_loses_it_again() {
    let dropped = EventKind::Dropped {
        checkpoint: "pack".into(),
        kind: CheckpointKind::Step,
    };
    let ended = EventKind::SleepEnded { sleep: "nap".into() };
    let mut machine = given(vec![began("nap"), ended, dropped.clone(), succeeded("b")]);
    let pack = removed(&mut machine, CheckpointKind::Step, "pack");
    let nap = machine.open_sleep("nap".into(), here(), at(50));
    assert_eq!(machine.next(at(99), 0), Next::Deliver(nap));
    machine.dropped(pack);
    let b = step(&mut machine, "b");
    assert_eq!(machine.next(at(99), 0), Next::Deliver(b));
    assert_eq!(machine.fault(), None);

    let mut machine = given(vec![dropped]);
    let pack = removed(&mut machine, CheckpointKind::Step, "pack");
    machine.dropped(pack);
    assert!(machine.is_replayed(), "it was dropped in the poll that reached it");
}

#[test]
fn what_is_gone_is_passed_after_the_branches_beside_it_were_reached() {
    let mut machine = given(vec![attempt_failed("pack"), began("nap")]);
    machine.bodies_may_have_run();
    let pack = removed(&mut machine, CheckpointKind::Step, "pack");
    let nap = machine.open_sleep("nap".into(), here(), at(60));
    assert!(!machine.patched("c", here()));
    assert_eq!(
        machine.next(at(99), 0),
        Next::Deliver(pack),
        "before anything recorded or new"
    );
    machine.dropped(nap);
    let b = step(&mut machine, "b");
    assert!(machine.is_replayed());
    machine.resume(true, at(9));
    assert_eq!(machine.next(at(9), 0), Next::Idle);
    let kinds = committed(&mut machine);
    assert!(
        matches!(&kinds[..], [EventKind::Kept { .. }, EventKind::Dropped { .. }, EventKind::AttemptInterrupted { step, .. }] if step.as_str() == "b"),
        "{kinds:?}"
    );
    assert_eq!(machine.release_sealed(at(9)), [b]);
}

/// Items of a fan-out: `x` has been packed and dries, `y` was being packed.
#[test]
fn what_the_code_does_behind_something_that_is_gone_comes_late_where_the_journal_has_gone_on() {
    let mut journal = vec![succeeded("pack(x)"), began("dry(x)"), attempt_failed("other")];
    for _ in 0..2 {
        let mut machine = given(journal.clone());
        let x = removed(&mut machine, CheckpointKind::Step, "pack(x)");
        step(&mut machine, "other");
        passed(&mut machine, CheckpointKind::Step, "pack(y)");
        machine.open_sleep("dry(y)".into(), here(), at(30));
        assert_eq!(machine.next(at(9), 0), Next::Deliver(x));
        machine.open_sleep("dry(x)".into(), here(), at(60));
        while machine.next(at(9), 0) != Next::Idle {}
        assert_eq!(machine.fault(), None);
        assert_eq!(machine.next_due(), Some(at(30)), "the recorded instant");
        let late = sealed(&mut machine);
        assert!(late.iter().all(|event| event.at == at(3)), "after what is recorded");
        journal.extend(late.into_iter().map(|event| event.kind));
    }
    assert_eq!(journal.len(), 4, "recorded once");

    let mut machine = given(vec![succeeded("a"), succeeded("b")]);
    passed(&mut machine, CheckpointKind::Step, "pack");
    let a = step(&mut machine, "a");
    assert_eq!(machine.next(at(9), 0), Next::Deliver(a));
    machine.open_sleep("new".into(), here(), at(30));
    assert!(
        machine.fault().is_some(),
        "what comes after another event is as exact as ever"
    );
}

#[test]
fn what_is_gone_and_is_dropped_before_it_is_passed_leaves_nothing() {
    let mut machine = given(vec![]);
    assert!(machine.patched("c", here()));
    let pack = removed(&mut machine, CheckpointKind::Step, "pack");
    assert!(machine.patched("d", here()), "a branch beside it is on new ground");
    machine.dropped(pack);
    assert_eq!(machine.next(at(9), 0), Next::Idle);
    assert_eq!(committed(&mut machine).len(), 2);
}

#[test]
fn what_was_never_reached_is_passed_and_other_paths_are_left_alone() {
    let mut machine = given(vec![succeeded("pack#1"), attempt_failed("pack(a)")]);
    passed(&mut machine, CheckpointKind::Step, "pack");
    passed(&mut machine, CheckpointKind::Sleep, "pack#1");
    let (second, keyed) = (step(&mut machine, "pack#1"), step(&mut machine, "pack(a)"));
    assert_eq!(machine.next(at(9), 0), Next::Deliver(second));
    assert_eq!(machine.next(at(9), 0), Next::Quiet);
    assert_eq!(machine.next_due(), Some(at(40)));
    assert_eq!(machine.next(at(40), 0), Next::Quiet);
    machine.release_gated(at(40));
    machine.step_outcome(keyed, 2, StepOutcome::Succeeded(Payload::default()));
    assert_eq!(machine.next(at(41), 0), Next::Deliver(keyed));
}

#[test]
fn a_journal_of_the_first_behaviour_says_nothing_of_it() {
    assert_eq!(start_with(1, at(0), Payload::default(), [7; 16]), journal(vec![]));
    assert_eq!(given(vec![succeeded("a")]).behaviour(), 1);
}

#[test]
fn the_behaviour_of_an_instance_is_read_from_its_journal_and_no_code_sees_it() {
    let number = |number| EventKind::Behaviour { number };
    let mut machine = given(vec![number(BEHAVIOUR), succeeded("a")]);
    assert_eq!(machine.behaviour(), BEHAVIOUR);
    let a = step(&mut machine, "a");
    assert_eq!(machine.next(at(9), 0), Next::Deliver(a));

    let later = start_with(BEHAVIOUR + 1, at(0), Payload::default(), [7; 16]);
    assert_eq!(later[1].kind, number(BEHAVIOUR + 1));
    let fault = Machine::new(later, vec![], 0).err().expect("it is unknown");
    assert_eq!(fault.kind, FaultKind::BadData);
    assert!(fault.message.contains("newer Steadfast"), "{}", fault.message);
}
