//! Dumps as they are told.

use alloc::string::ToString;
use alloc::vec;
use core::panic::Location;
use core::time::Duration;

use super::{Deadlock, Dump, HeldBy, Interest, OpenSocket, Waiter, WaiterKind, WaitsFor};

/// Three of which each waits for the next, and one that waits for one of two things.
fn crossed(here: &'static Location<'static>) -> Dump {
    let lock = |object| WaitsFor::Operation {
        name: "Mutex::lock",
        object,
        called: Some(here),
        held_by: None,
    };
    let task = |name: Option<&str>, waits_for| {
        let name = name.map(ToString::to_string);
        Waiter::new(WaiterKind::Task, name, Some(here), waits_for)
    };
    let mut thread = Waiter::new(WaiterKind::Thread, None, None, vec![WaitsFor::End(1)]);
    thread.waited = Some(Duration::from_millis(1_500));
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
    let suspected = "\nsuspected deadlock, a circle: task 1, which waits for task 3,";
    assert!(dump.to_string().contains(suspected), "{dump}");
    let text = Deadlock::new(dump).to_string();
    let last = "\na circle: task 1, which waits for task 3, which waits for thread 2, which waits for task 1";
    assert!(text.ends_with(last), "{text}");
    assert!(
        text.contains("or for Mutex::lock on Mutex #1, called at"),
        "{text}"
    );
    assert!(
        text.contains("thread 2 has waited 1.5s for the end of task 1"),
        "{text}"
    );
    // Whoever waits for one of several things is in no circle.
    let other = WaitsFor::EndElsewhere;
    let waits_for = vec![WaitsFor::End(0), other];
    let both = Waiter::new(WaiterKind::Fiber, None, None, waits_for);
    assert_eq!(Dump::new(vec![both], 0).circle(), [0; 0]);
}

#[test]
fn a_circle_goes_through_a_lock_that_one_holds() {
    let lock = |held_by| WaitsFor::Operation {
        name: "RwLock::write",
        object: 1,
        called: None,
        held_by,
    };
    let waits = |what| Waiter::new(WaiterKind::Task, None, None, vec![what]);
    let dump = |held_by| Dump::new(vec![waits(WaitsFor::End(1)), waits(lock(held_by))], 0);
    let one = dump(Some(HeldBy::Waiter(0)));
    assert_eq!(one.circle(), [0, 1]);
    assert!(
        one.to_string().contains(", held by task 0\nsuspected"),
        "{one}"
    );
    assert!(one.to_json().contains(r#""held_by":0"#));
    let other = dump(Some(HeldBy::Elsewhere));
    assert_eq!(other.circle(), [0; 0]);
    let text = other.to_string();
    assert!(text.ends_with(", held by one that is not here"), "{text}");
    assert!(other.to_json().contains(r#""held_by":"elsewhere""#));
    let unknown = dump(None).to_string();
    assert!(
        unknown.ends_with(", held by whom is not recorded"),
        "{unknown}"
    );
}

#[test]
fn machines_can_read_it() {
    let here = Location::caller();
    let json = crossed(here).to_json();
    let expected = [
        r#"{"waiters":[{"kind":"task","name":"a \"b\"\u000a","spawned":"HERE","waited_s":null,"waits_for":[{"end_of":null},"#,
        r#"{"operation":"Mutex::lock","object":1,"called":"HERE","held_by":null}]},"#,
        r#"{"kind":"task","name":null,"spawned":"HERE","waited_s":null,"waits_for":[{"end_of":3}]},"#,
        r#"{"kind":"thread","name":null,"spawned":null,"waited_s":1.5,"waits_for":[{"end_of":1}]},"#,
        r#"{"kind":"task","name":null,"spawned":"HERE","waited_s":null,"waits_for":[{"end_of":2}]}],"#,
        r#""sockets":[],"unheard":1,"circle":[1,3,2]}"#,
    ];
    assert_eq!(json, expected.concat().replace("HERE", &here.to_string()));
}

#[test]
fn sockets_are_told() {
    let what = WaitsFor::Socket {
        socket: 1,
        interest: Interest::Write,
        called: None,
    };
    let waits = Waiter::new(WaiterKind::Task, None, None, vec![what]);
    let listens = OpenSocket {
        kind: "a TCP listener".to_string(),
        descriptor: 4,
        local: Some("[::]:80".to_string()),
        awaits_read: true,
        ..OpenSocket::default()
    };
    let talks = OpenSocket {
        kind: "a TCP connection".to_string(),
        descriptor: 5,
        local: Some("[::1]:80".to_string()),
        peer: Some("[::1]:4000".to_string()),
        age: Duration::from_millis(2_500),
        awaits_read: true,
        awaits_write: true,
    };
    let dump = Dump::new(vec![waits], 0).with_sockets(vec![listens, talks]);
    let expected = "  task 0 waits for socket 1 to write
  socket 0: a TCP listener at [::]:80, descriptor 4, open for 0.0ns, awaited to read
  socket 1: a TCP connection at [::1]:80 with [::1]:4000, descriptor 5, open for 2.5s, awaited to read and to write";
    assert_eq!(dump.to_string(), expected);
    let expected = [
        r#"{"waiters":[{"kind":"task","name":null,"spawned":null,"waited_s":null,"#,
        r#""waits_for":[{"socket":1,"interest":"write","called":null}]}],"#,
        r#""sockets":[{"kind":"a TCP listener","descriptor":4,"local":"[::]:80","peer":null,"age_s":0,"interest":["read"]},"#,
        r#"{"kind":"a TCP connection","descriptor":5,"local":"[::1]:80","peer":"[::1]:4000","age_s":2.5,"interest":["read","write"]}],"#,
        r#""unheard":0,"circle":[]}"#,
    ];
    assert_eq!(dump.to_json(), expected.concat());
}
