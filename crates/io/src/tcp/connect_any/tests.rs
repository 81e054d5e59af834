//! The order of attempts, and how many there are.

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
