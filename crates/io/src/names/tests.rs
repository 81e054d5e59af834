//! Threads of look-ups, and what is a host.

use std::sync::mpsc::{Sender, channel};
use std::task::Waker;

use gossamer_core::wait::Wait;

use super::*;

/// Calls that hold all threads, and what lets each return.
fn hold(lookups: &Lookups) -> Vec<(JoinHandle<()>, Sender<()>)> {
    let hold_one = |_| {
        let (end, ends) = channel();
        let call = move || {
            let _ended = ends.recv();
        };
        let turn = lookups.turn(Location::caller()).wait().expect("open");
        let call = lookups.call(turn, call, Location::caller());
        (call.expect("a thread"), end)
    };
    (0..LOOKUPS_MAX).map(hold_one).collect()
}

fn is_pending(turn: Pin<&mut AcquireOwned<Shared>>) -> bool {
    turn.poll(&mut Context::from_waker(Waker::noop()))
        .is_pending()
}

#[test]
fn more_lookups_wait_in_line() {
    let lookups = Lookups::new();
    let mut held = hold(&lookups);
    let (mut dropped, mut late) = (
        Box::pin(lookups.turn(Location::caller())),
        Box::pin(lookups.turn(Location::caller())),
    );
    assert!(is_pending(dropped.as_mut()) && is_pending(late.as_mut()));
    assert_eq!(lookups.threads.threads(), LOOKUPS_MAX);
    drop(dropped);
    // One thread is free, which the next one gets that is still in line.
    let (first, end) = held.pop().expect("a call");
    end.send(()).expect("it waits");
    first.wait().expect("no panic");
    let turn = late.wait().expect("open");
    let late = lookups.call(turn, || 7, Location::caller());
    assert_eq!(late.expect("a thread").wait().expect("no panic"), 7);
    // From one to the next, no thread is more.
    for _ in 0..100 {
        let turn = lookups.turn(Location::caller()).wait().expect("open");
        drop(
            lookups
                .call(turn, || (), Location::caller())
                .expect("a thread"),
        );
    }
    assert_eq!(lookups.threads.threads(), LOOKUPS_MAX);
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
        ("https://localhost/[::1]", "a part of a URL"),
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

#[test]
fn a_stranger_writes_no_command() {
    let failed = |host| failed(host, &ErrorKind::NotFound.into()).to_string();
    let text = failed("[fe80::1%lo]:80");
    assert!(text.contains("`getent ahosts fe80::1%lo`"), "{text}");
    let text = failed("a; reboot\n:80");
    assert!(!text.contains("getent") && !text.contains('\n'), "{text}");
}
