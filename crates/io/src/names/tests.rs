//! Threads of look-ups, and what is a host.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use gossamer_core::wait::Wait;

use super::*;

/// Calls that hold all threads, and what lets each return.
fn hold(threads: &Blocking) -> Vec<(Call<()>, Sender<()>)> {
    let hold_one = |_| {
        let (end, ends) = channel();
        let call = move || {
            let _ended = ends.recv();
        };
        let call = Call::new(threads, call, Location::caller()).expect("a thread");
        (call, end)
    };
    (0..LOOKUPS_MAX).map(hold_one).collect()
}

#[test]
fn more_lookups_wait_in_line() {
    let threads = new_threads();
    let held = hold(&threads);
    let late = Call::new(&threads, || 7, Location::caller()).expect("there are threads");
    assert_eq!(threads.threads(), LOOKUPS_MAX);
    drop(held);
    assert_eq!(late.handle.wait().expect("no panic"), Some(7));
}

#[test]
fn dropped_in_line_it_is_not_made() {
    let threads = new_threads();
    let mut held = hold(&threads);
    let made = Arc::new(AtomicBool::new(false));
    let note = made.clone();
    let call = move || note.store(true, Ordering::Relaxed);
    drop(Call::new(&threads, call, Location::caller()).expect("there are threads"));
    let next = Call::new(&threads, || (), Location::caller()).expect("there are threads");
    // One thread is free, and makes both in order.
    let (first, end) = held.pop().expect("a call");
    end.send(()).expect("it waits");
    first.handle.wait().expect("no panic");
    assert_eq!(next.handle.wait().expect("no panic"), Some(()));
    assert!(!made.load(Ordering::Relaxed), "nobody waits for it");
}

#[test]
fn hosts() {
    let name = |name, port| Host::Name(name, port);
    let address = |text: &str| Host::Address(text.parse().expect("an address"));
    let parse = |host| Host::parse(host).expect("a host");
    assert_eq!(parse("localhost:80"), name("localhost", 80));
    assert_eq!(parse("a.test.:0"), name("a.test.", 0));
    assert_eq!(parse("192.0.2.1:65535"), address("192.0.2.1:65535"));
    assert_eq!(parse("[::1]:443"), address("[::1]:443"));
    assert_eq!(parse("[fe80::1%2]:443"), address("[fe80::1%2]:443"));
    assert_eq!(parse("[fe80::1%lo]:443"), name("fe80::1%lo", 443));
    // What the system reads as an address, it reads.
    assert_eq!(parse("127.1:80"), name("127.1", 80));
}

#[test]
fn no_hosts() {
    let long = format!("{}:80", "a".repeat(255));
    let longer = format!("{}:80", "é".repeat(1000));
    for (host, found) in [
        ("", "there is no port"),
        ("localhost", "there is no port"),
        ("192.0.2.1", "there is no port"),
        ("[::1]", "there is no port"),
        ("::1", "has brackets around it"),
        ("::1:80", "has brackets around it"),
        ("http://localhost:80", "a part of a URL"),
        ("[localhost]:80", "brackets are for"),
        ("localhost:", "no number from 0"),
        ("localhost:http", "no number from 0"),
        ("localhost:65536", "no number from 0"),
        ("localhost:80/", "no number from 0"),
        (":80", "no name before"),
        ("a\0b:80", "zero byte"),
        (&long, "the name has 255 bytes"),
        (&longer, "the name has 2000 bytes"),
    ] {
        let error = Host::parse(host).expect_err("no host");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let text = error.to_string();
        assert!(text.contains(found), "{host:?}: {text}");
        assert!(text.contains("give a name or an address"), "{text}");
        assert!(text.chars().count() < 2 * SHOWN_MAX, "{text}");
    }
}
