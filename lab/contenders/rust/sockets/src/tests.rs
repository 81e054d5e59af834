//! A request's end, however it comes.

use super::*;

const HEAD: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\r\n\n\r\r\n\r\n";

#[test]
fn an_end_is_found_wherever_a_request_is_cut() {
    for cut in 0..=HEAD.len() {
        let mut ends = Ends::default();
        let counts = [&HEAD[..cut], &HEAD[cut..], HEAD].map(|part| ends.count(part));
        assert_eq!(counts[0] + counts[1], 1, "cut at {cut}");
        assert_eq!(counts[2], 1);
    }
    let twice = [HEAD, HEAD].concat();
    assert_eq!(Ends::default().count(&twice), 2);
}

#[test]
fn the_reply_says_how_long_its_body_is() {
    let reply = String::from_utf8_lossy(REPLY);
    let (head, body) = reply.split_once("\r\n\r\n").expect("a head and a body");
    assert_eq!(body, BODY);
    assert!(head.ends_with(&format!("Content-Length: {}", BODY.len())));
}
