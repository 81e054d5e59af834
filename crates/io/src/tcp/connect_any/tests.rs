//! The order of attempts, how many there are, and that a failure holds up none.

use std::net::TcpListener;
use std::task::Waker;

use super::*;

fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
    let address = |text: &&str| text.parse().expect("an address");
    texts.iter().map(address).collect()
}

#[test]
fn families_take_turns() {
    for (given, turns) in [
        (&[][..], &[][..]),
        (&["192.0.2.1:1"], &["192.0.2.1:1"]),
        (
            &["[::1]:1", "[::2]:1", "[::3]:1", "192.0.2.1:1"],
            &["[::1]:1", "192.0.2.1:1", "[::2]:1", "[::3]:1"],
        ),
        (
            &[
                "192.0.2.1:1",
                "192.0.2.2:1",
                "[::1]:1",
                "192.0.2.3:1",
                "[::2]:1",
                "[::3]:1",
            ],
            &[
                "192.0.2.1:1",
                "[::1]:1",
                "192.0.2.2:1",
                "[::2]:1",
                "192.0.2.3:1",
                "[::3]:1",
            ],
        ),
    ] {
        assert_eq!(in_turns(addresses(given)), addresses(turns));
    }
}

#[test]
fn beyond_the_limit_none_is_tried() {
    let address = |port| SocketAddr::from(([192, 0, 2, 1], port));
    let ConnectAny { mut attempts, .. } =
        ConnectAny::new((1..=20).map(address), None, Location::caller());
    let last = attempts.next.back().expect("some are tried");
    assert_eq!((attempts.next.len(), *last), (16, address(16)));
    attempts
        .failed
        .push((address(1), ErrorKind::TimedOut.into()));
    let text = attempts.error().to_string();
    assert!(text.contains("4 more were not tried"), "{text}");
}

#[test]
fn an_error_is_the_first_addresss() {
    let [slow, quick] = [1, 2].map(|port| SocketAddr::from(([192, 0, 2, 1], port)));
    let both = ConnectAny::new([slow, quick], None, Location::caller());
    let mut attempts = both.attempts;
    while attempts.begin_next() {}
    attempts.failed = vec![
        (quick, ErrorKind::NetworkUnreachable.into()),
        (slow, ErrorKind::TimedOut.into()),
    ];
    let error = attempts.error();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    let text = error.to_string();
    assert!(text.find(":1: ") < text.find(":2: "), "{text}");
}

/// Nobody waits between attempts of which each fails.
#[test]
fn a_failure_begins_the_next_at_once() {
    let closed = || {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.local_addr().expect("an address")
    };
    let addresses = [closed(), closed(), closed()];
    let mut connect = Box::pin(ConnectAny::new(addresses, None, Location::caller()));
    let mut cx = Context::from_waker(Waker::noop());
    let mut began = 0;
    while connect.as_mut().poll(&mut cx).is_pending() {
        let attempts = &connect.attempts;
        began = began.max(attempts.failed.len() + attempts.running.len());
        assert_eq!(attempts.running.len(), 1, "no delay has passed");
        std::thread::yield_now();
    }
    assert!(began <= addresses.len());
    assert_eq!(connect.attempts.failed.len(), addresses.len());
}
