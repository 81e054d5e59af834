//! Numbers of events that wrap, late events, and the end of a stream.

use gossamer_core::policy::Shared;

use super::*;

fn exhausted() -> Readiness<Shared> {
    let readiness = Readiness::<Shared>::new();
    readiness.exhaust(readiness.last());
    assert!(!is_ready(&readiness));
    readiness
}

fn is_ready(readiness: &Readiness<Shared>) -> bool {
    readiness.line.look() & READY != 0
}

#[test]
fn the_number_wraps_below_the_generation() {
    let bits = Trying::note(EVENTS, 0, false).expect("it is of this generation");
    assert_eq!(bits, READY);
    assert_eq!(Trying::exhaust(bits, EVENTS), None, "another event");
    assert_eq!(Trying::exhaust(bits, 0), Some(0));
}

#[test]
fn an_event_after_the_last_look_counts() {
    let readiness = Readiness::<Shared>::new();
    let last = readiness.last();
    assert!(readiness.note(readiness.generation(), false));
    readiness.exhaust(last);
    assert!(is_ready(&readiness));
    readiness.exhaust(readiness.last());
    assert!(!is_ready(&readiness));
}

#[test]
fn a_late_event_changes_nothing() {
    let readiness = exhausted();
    let before = readiness.generation();
    readiness.begin_anew();
    assert_ne!(readiness.generation(), before);
    readiness.exhaust(readiness.last());
    assert!(!readiness.note(before, true));
    assert!(!is_ready(&readiness), "it was meant for another one");
}

#[test]
fn generations_begin_anew() {
    let readiness = Readiness::<Shared>::new();
    let before = readiness.generation();
    for _ in 0..1 << 14 {
        readiness.begin_anew();
    }
    assert_eq!(readiness.generation(), before);
    assert_eq!(Generation::of(before.get()), before);
}

#[test]
fn the_end_is_told_once() {
    let readiness = exhausted();
    assert!(readiness.note(readiness.generation(), true));
    readiness.exhaust_early(readiness.last());
    assert!(is_ready(&readiness), "no event will tell of the end again");
    readiness.exhaust(readiness.last());
    assert!(!is_ready(&readiness), "an attempt was in vain");
    readiness.begin_anew();
    readiness.exhaust_early(readiness.last());
    assert!(!is_ready(&readiness), "the next socket has not ended");
}
