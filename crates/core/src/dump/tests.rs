//! Dumps as they are told.

use alloc::string::ToString;
use alloc::vec;
use core::panic::Location;

use super::{Deadlock, Dump, Waiter, WaiterKind, WaitsFor};

/// Three of which each waits for the next, and one that waits for one of two things.
fn crossed(here: &'static Location<'static>) -> Dump {
    let lock = |object| WaitsFor::Operation {
        name: "Mutex::lock",
        object,
        called: Some(here),
    };
    let task = |name: Option<&str>, waits_for| {
        let name = name.map(ToString::to_string);
        Waiter::new(WaiterKind::Task, name, Some(here), waits_for)
    };
    let thread = Waiter::new(WaiterKind::Thread, None, None, vec![WaitsFor::End(1)]);
    let either = vec![WaitsFor::EndElsewhere, lock(1)];
    let waiters = vec![
        task(Some("a \"b\"\n"), either),
        task(None, vec![WaitsFor::End(3)]),
        thread,
        task(None, vec![WaitsFor::End(2)]),
    ];
    Dump::new(waiters, 1)
}

#[test]
fn a_circle_is_found_where_there_is_no_other_way() {
    let dump = crossed(Location::caller());
    assert_eq!(dump.circle(), [1, 3, 2]);
    let text = Deadlock::new(dump).to_string();
    let last = "a circle: task 1, which waits for task 3, which waits for thread 2, which waits for task 1";
    assert!(text.ends_with(last), "{text}");
    assert!(
        text.contains("or for Mutex::lock on Mutex #1, called at"),
        "{text}"
    );
    // Whoever waits for one of several things is in no circle.
    let other = WaitsFor::EndElsewhere;
    let waits_for = vec![WaitsFor::End(0), other];
    let both = Waiter::new(WaiterKind::Fiber, None, None, waits_for);
    assert_eq!(Dump::new(vec![both], 0).circle(), [0; 0]);
}

#[test]
fn machines_can_read_it() {
    let here = Location::caller();
    let json = crossed(here).to_json();
    let expected = [
        r#"{"waiters":[{"kind":"task","name":"a \"b\"\u000a","spawned":"HERE","waits_for":[{"end_of":null},"#,
        r#"{"operation":"Mutex::lock","object":1,"called":"HERE"}]},"#,
        r#"{"kind":"task","name":null,"spawned":"HERE","waits_for":[{"end_of":3}]},"#,
        r#"{"kind":"thread","name":null,"spawned":null,"waits_for":[{"end_of":1}]},"#,
        r#"{"kind":"task","name":null,"spawned":"HERE","waits_for":[{"end_of":2}]}],"#,
        r#""unheard":1,"circle":[1,3,2]}"#,
    ];
    assert_eq!(json, expected.concat().replace("HERE", &here.to_string()));
}
