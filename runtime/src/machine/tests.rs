//! Given a journal, when something happens, then these events. No executor, no clock, no store.

use super::checkpoint::{Delivery, StepOutcome, StepRules, StepView};
use super::event::{CheckpointKind, Event, EventKind, decode_batch};
use super::{FaultKind, Machine, Next, OpenNo, Path, Retry};
use crate::failure::{AttemptFailure, StepFailureKind};
use crate::payload::Payload;
use crate::store::StoredSignal;
use crate::time::{Timestamp, secs};
use std::panic::Location;
use std::time::Duration;

pub(super) fn at(seconds: u64) -> Timestamp {
    Timestamp::EPOCH + secs(seconds)
}

pub(super) fn journal(events: Vec<EventKind>) -> Vec<Event> {
    let started = EventKind::Started {
        input: Payload::default(),
        seed: [7; 16],
    };
    let all = std::iter::once(started).chain(events);
    all.enumerate()
        .map(|(second, kind)| Event {
            at: at(second as u64),
            kind,
        })
        .collect()
}

pub(super) fn given(events: Vec<EventKind>) -> Machine {
    Machine::new(journal(events), Vec::new(), 0).expect("the journal begins with a start")
}

pub(super) fn step(machine: &mut Machine, path: &str) -> OpenNo {
    step_with(machine, path, Retry::fixed(secs(10)).max_attempts(2), None, false)
}

fn step_with(machine: &mut Machine, path: &str, retry: Retry, timeout: Option<Duration>, at_most_once: bool) -> OpenNo {
    machine.open_step(
        path.into(),
        Location::caller(),
        StepRules {
            retry,
            timeout,
            at_most_once,
        },
    )
}

pub(super) fn succeeded(path: &str) -> EventKind {
    EventKind::StepSucceeded {
        step: path.into(),
        attempt: 1,
        result: Payload(vec![1]),
    }
}

fn failure() -> StepOutcome {
    StepOutcome::Failed {
        failure: AttemptFailure::new(StepFailureKind::Failed, "no"),
        retryable: true,
    }
}

pub(super) fn sealed(machine: &mut Machine) -> Vec<Event> {
    let batch = machine.seal().events;
    batch.map_or_else(Vec::new, |bytes| decode_batch(&bytes).expect("it was just encoded"))
}

pub(super) fn committed(machine: &mut Machine) -> Vec<EventKind> {
    sealed(machine).into_iter().map(|event| event.kind).collect()
}

pub(super) fn signal(sequence: u64, name: &str, byte: u8) -> StoredSignal {
    StoredSignal {
        sequence,
        name: name.to_owned(),
        payload: vec![byte],
        at: at(0),
    }
}

pub(super) fn any(_: &[u8]) -> Result<(), String> {
    Ok(())
}

#[test]
fn a_step_begins_only_after_the_receipt_of_what_led_to_it() {
    let mut machine = given(vec![]);
    let a = step(&mut machine, "a");
    assert_eq!(machine.step_view(a), StepView::Wait);
    assert!(!machine.needs_commit(), "the start is durable already");
    assert_eq!(machine.release_gated(at(1)), [a]);
    machine.step_outcome(a, 1, StepOutcome::Succeeded(Payload(vec![1])));
    assert_eq!(machine.next(at(2), 0), Next::Deliver(a));
    assert_eq!(machine.take(a), Some(Delivery::Step(Ok(Payload(vec![1])))));
    let b = step(&mut machine, "b");
    assert!(machine.needs_commit());
    assert_eq!(committed(&mut machine), [succeeded("a")]);
    assert!(machine.release_gated(at(2)).is_empty(), "b waits for the receipt");
    assert_eq!(machine.step_view(b), StepView::Wait);
    assert_eq!(machine.release_sealed(at(3)), [b]);
    assert_eq!(machine.step_view(b), StepView::Run(1));
}

#[test]
fn a_recorded_step_is_answered_and_never_run() {
    let mut machine = given(vec![succeeded("a")]);
    let a = step(&mut machine, "a");
    assert_eq!(machine.next(at(9), 0), Next::Deliver(a));
    assert!(machine.is_replaying());
    assert_eq!(machine.step_view(a), StepView::Answered);
    assert!(machine.take(a).is_some());
    assert_eq!(machine.next(at(9), 0), Next::Idle);
    assert!(!machine.is_replaying());
    machine.resume(true, at(9));
    assert!(committed(&mut machine).is_empty(), "nothing new happened");
}

#[test]
fn events_are_delivered_in_the_order_of_the_journal_not_of_the_code() {
    let mut machine = given(vec![succeeded("b"), succeeded("a")]);
    let (a, b) = (step(&mut machine, "a"), step(&mut machine, "b"));
    assert_eq!(machine.next(at(9), 0), Next::Deliver(b));
    assert_eq!(machine.next(at(9), 0), Next::Deliver(a));
}

#[test]
fn an_open_step_of_a_dead_process_is_interrupted_and_its_next_attempt_gated_on_that() {
    let mut machine = given(vec![succeeded("a")]);
    step(&mut machine, "a");
    machine.next(at(9), 0);
    let b = step(&mut machine, "b");
    assert_eq!(machine.next(at(9), 0), Next::Idle);
    machine.resume(true, at(9));
    assert!(machine.needs_commit());
    assert_eq!(
        committed(&mut machine),
        [EventKind::AttemptInterrupted {
            step: "b".into(),
            attempt: 1
        }]
    );
    assert_eq!(machine.release_sealed(at(9)), [b]);
    assert_eq!(machine.step_view(b), StepView::Run(2));
}

#[test]
fn an_instance_that_was_waiting_has_nothing_interrupted() {
    let mut machine = given(vec![]);
    let a = step(&mut machine, "a");
    machine.resume(false, at(9));
    assert!(!machine.needs_commit());
    assert_eq!(machine.release_gated(at(9)), [a]);
    assert_eq!(machine.step_view(a), StepView::Run(1));
}

#[test]
fn an_at_most_once_step_that_was_interrupted_ends() {
    let mut machine = given(vec![EventKind::AttemptStarted {
        step: "a".into(),
        attempt: 1,
    }]);
    let a = step_with(&mut machine, "a", Retry::default(), None, true);
    assert_eq!(machine.next(at(9), 0), Next::Quiet);
    assert_eq!(machine.next(at(9), 0), Next::Idle);
    machine.resume(true, at(9));
    assert_eq!(machine.next(at(9), 0), Next::Deliver(a));
    match machine.take(a) {
        Some(Delivery::Step(Err(error))) => assert_eq!(error.kind(), StepFailureKind::Interrupted),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_at_most_once_step_that_was_not_announced_never_began_and_is_announced_before_it_does() {
    let mut machine = given(vec![]);
    let a = step_with(&mut machine, "a", Retry::default(), None, true);
    assert_eq!(machine.next(at(9), 0), Next::Idle);
    machine.resume(true, at(9));
    assert!(!machine.needs_commit());
    assert_eq!(machine.release_gated(at(9)), []);
    assert_eq!(machine.step_view(a), StepView::Wait);
    assert_eq!(
        committed(&mut machine),
        [EventKind::AttemptStarted {
            step: "a".into(),
            attempt: 1
        }]
    );
    assert_eq!(machine.release_sealed(at(9)), [a]);
    assert_eq!(machine.step_view(a), StepView::Run(1));
}

#[test]
fn a_failed_attempt_backs_off_to_a_fixed_instant_and_then_gives_up() {
    let mut machine = given(vec![]);
    let a = step(&mut machine, "a");
    machine.release_gated(at(1));
    machine.step_outcome(a, 1, failure());
    assert_eq!(machine.next(at(2), 0), Next::Notify(a));
    assert_eq!((machine.next_due(), machine.is_waiting()), (Some(at(12)), true));
    committed(&mut machine);
    assert_eq!(machine.next(at(11), 0), Next::Idle);
    assert_eq!(machine.next(at(12), 0), Next::Quiet);
    assert_eq!(
        committed(&mut machine),
        [EventKind::AttemptStarted {
            step: "a".into(),
            attempt: 2
        }]
    );
    assert_eq!(machine.release_sealed(at(12)), [a]);
    machine.step_outcome(a, 1, StepOutcome::Succeeded(Payload::default()));
    assert_eq!(
        machine.next(at(12), 0),
        Next::Idle,
        "the first attempt is over and says nothing any more"
    );
    machine.step_outcome(a, 2, failure());
    assert_eq!(machine.next(at(13), 0), Next::Deliver(a));
    assert!(matches!(
        committed(&mut machine)[..],
        [EventKind::StepFailed { attempt: 2, .. }]
    ));
}

#[test]
fn interrupted_attempts_do_not_use_up_the_policy() {
    let interrupted = |attempt| EventKind::AttemptInterrupted {
        step: "a".into(),
        attempt,
    };
    let mut machine = given(vec![interrupted(1), interrupted(2), interrupted(3)]);
    let a = step(&mut machine, "a");
    while machine.next(at(9), 0) != Next::Idle {}
    machine.release_gated(at(9));
    machine.step_outcome(a, 4, failure());
    assert_eq!(
        machine.next(at(9), 0),
        Next::Notify(a),
        "the policy of two attempts has seen one failure"
    );
}

#[test]
fn a_timeout_ends_the_attempt_that_it_was_set_for() {
    let mut machine = given(vec![]);
    let a = step_with(&mut machine, "a", Retry::none(), Some(secs(5)), false);
    machine.release_gated(at(1));
    assert_eq!(machine.next(at(5), 0), Next::Idle);
    assert_eq!(machine.next(at(6), 0), Next::Deliver(a));
    assert!(
        matches!(&committed(&mut machine)[..], [EventKind::StepFailed { failure, .. }] if failure.kind == StepFailureKind::TimedOut)
    );
}

#[test]
fn a_sleep_keeps_the_instant_that_was_recorded() {
    let mut machine = given(vec![EventKind::SleepBegan {
        sleep: "s".into(),
        due: at(100),
    }]);
    machine.open_sleep("s".into(), Location::caller(), at(5_000));
    assert_eq!(machine.next(at(50), 0), Next::Idle);
    assert_eq!(machine.next_due(), Some(at(100)));
    assert!(matches!(machine.next(at(100), 0), Next::Deliver(_)));
}

#[test]
fn signals_reach_waits_in_order_and_are_known_once() {
    let mut machine = Machine::new(journal(vec![]), vec![signal(0, "go", 10)], 1).expect("a start");
    machine.offer_signal(signal(0, "go", 10));
    machine.offer_signal(signal(1, "go", 11));
    for byte in [10, 11] {
        let wait = machine.open_wait(
            format!("go#{byte}").as_str().into(),
            Location::caller(),
            "go",
            None,
            any,
        );
        assert_eq!(machine.next(at(1), 0), Next::Deliver(wait));
        assert_eq!(machine.take(wait), Some(Delivery::Signal(Payload(vec![byte]))));
    }
    assert_eq!(machine.seal().consumed_signals, [0, 1]);
    let wait = machine.open_wait("go".into(), Location::caller(), "go", None, any);
    assert_eq!(machine.next(at(1), 0), Next::Idle, "both signals are consumed");
    machine.dropped(wait);
    assert!(machine.awaited_signals().is_empty());
}

#[test]
fn a_signal_wins_over_a_deadline_at_the_same_instant() {
    let mut machine = given(vec![]);
    let wait = machine.open_wait("go".into(), Location::caller(), "go", Some(at(5)), any);
    machine.offer_signal(signal(0, "go", 1));
    assert_eq!(machine.next(at(5), 0), Next::Deliver(wait));
    assert_eq!(machine.take(wait), Some(Delivery::Signal(Payload(vec![1]))));
    assert_eq!(machine.next(at(6), 0), Next::Idle);
}

#[test]
fn a_signal_that_does_not_decode_is_set_aside_and_the_wait_goes_on() {
    let mut machine = given(vec![]);
    let refuse_one = |bytes: &[u8]| {
        if bytes == [1] {
            Err("not a two".to_owned())
        } else {
            Ok(())
        }
    };
    let wait = machine.open_wait("go".into(), Location::caller(), "go", None, refuse_one);
    machine.offer_signal(signal(0, "go", 1));
    machine.offer_signal(signal(1, "go", 2));
    assert_eq!(machine.next(at(1), 0), Next::Quiet);
    assert_eq!(machine.next(at(1), 0), Next::Deliver(wait));
    assert!(matches!(
        committed(&mut machine)[..],
        [
            EventKind::SignalSetAside { sequence: 0, .. },
            EventKind::SignalReceived { sequence: 1, .. }
        ]
    ));
}

#[test]
fn what_was_dropped_gets_nothing_any_more() {
    let mut machine = given(vec![]);
    let a = step(&mut machine, "a");
    machine.release_gated(at(1));
    machine.step_outcome(a, 1, StepOutcome::Succeeded(Payload::default()));
    machine.dropped(a);
    assert_eq!(machine.next(at(1), 0), Next::Idle);
    assert!(!machine.needs_commit(), "a drop can be worked out again");
    assert_eq!(
        committed(&mut machine),
        [EventKind::Dropped {
            checkpoint: "a".into(),
            kind: CheckpointKind::Step
        }]
    );
    assert!(!machine.has_open());
}

#[test]
fn a_renamed_step_is_a_divergence_that_shows_both_names_and_the_place() {
    let mut machine = given(vec![succeeded("charge")]);
    step(&mut machine, "charge-card");
    assert_eq!(machine.next(at(9), 0), Next::Idle);
    let fault = machine.fault().expect("code and journal disagree");
    assert_eq!(fault.kind, FaultKind::Divergence);
    for part in [
        "event 1: step `charge` succeeded",
        "step `charge-card`, at runtime/src/machine/tests.rs:",
    ] {
        assert!(fault.message.contains(part), "{}", fault.message);
    }
    assert!(machine.release_gated(at(9)).is_empty() || machine.fault().is_some());
}

#[test]
fn a_command_that_the_journal_does_not_know_here_is_a_divergence() {
    let mut machine = given(vec![
        EventKind::Drawn {
            path: "r".into(),
            value: 1,
        },
        succeeded("a"),
    ]);
    machine.draw(&Path::from("r"), Location::caller(), 1);
    machine.draw(&Path::from("r#1"), Location::caller(), 2);
    let fault = machine.fault().expect("one draw too many");
    assert!(fault.message.contains("chance `r#1`"), "{}", fault.message);
}

#[test]
fn a_recorded_command_that_the_code_does_not_repeat_is_a_divergence() {
    let mut machine = given(vec![EventKind::SleepBegan {
        sleep: "s".into(),
        due: at(5),
    }]);
    step(&mut machine, "a");
    assert_eq!(machine.next(at(9), 0), Next::Idle);
    assert!(
        machine
            .fault()
            .is_some_and(|fault| fault.message.contains("sleep `s` began"))
    );
}

#[test]
fn returning_before_the_journal_ends_is_a_divergence() {
    let mut machine = given(vec![succeeded("a")]);
    machine.finish(
        at(9),
        &EventKind::Completed {
            output: Payload::default(),
        },
    );
    assert!(
        machine
            .fault()
            .is_some_and(|fault| fault.message.contains("the workflow returned"))
    );
}

#[test]
fn the_last_segment_may_grow() {
    let mut machine = given(vec![succeeded("a")]);
    step(&mut machine, "a");
    machine.next(at(9), 0);
    machine.open_sleep("new".into(), Location::caller(), at(20));
    assert_eq!(machine.next(at(9), 0), Next::Idle);
    assert_eq!(machine.fault(), None);
    assert_eq!(
        committed(&mut machine),
        [EventKind::SleepBegan {
            sleep: "new".into(),
            due: at(20)
        }]
    );
}

#[test]
fn a_faulty_poll_leaves_what_came_from_outside_and_nothing_else() {
    let mut machine = given(vec![]);
    let a = step(&mut machine, "a");
    machine.release_gated(at(1));
    machine.step_outcome(a, 1, StepOutcome::Succeeded(Payload(vec![1])));
    machine.next(at(2), 0);
    machine.open_sleep("s".into(), Location::caller(), at(20));
    machine.discard_faulty_poll();
    assert_eq!(committed(&mut machine), [succeeded("a")]);
}

#[test]
fn a_clock_that_was_set_back_does_not_turn_the_journal_back() {
    let mut machine = given(vec![succeeded("x"), succeeded("y")]);
    step(&mut machine, "x");
    step(&mut machine, "y");
    while machine.next(at(0), 0) != Next::Idle {}
    let a = step(&mut machine, "a");
    machine.release_gated(at(0));
    machine.step_outcome(a, 1, StepOutcome::Succeeded(Payload(vec![1])));
    machine.next(at(0), 0);
    assert_eq!(sealed(&mut machine)[0].at, at(2));
}
