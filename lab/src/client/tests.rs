//! What programs that watch and load a server print, and what a reply must be.

use super::server::{Did, Threads};
use super::talk::Talk;
use super::*;

#[test]
fn wrk_is_read() {
    let text = "Running 3s test\n  Latency Distribution\n     50%  512.00us\n     99%    1.50ms\n  \
                120000 requests in 3.00s, 12.30MB read\nRequests/sec:  40000.00\n";
    let seen = wrk::seen(text).expect("it is whole");
    assert_eq!(
        (seen.requests, seen.took),
        (120_000, Duration::from_secs(3))
    );
    assert!((seen.p99_us - 1_500.0).abs() < 1e-6);
    for wrong in [
        "  Socket errors: connect 0, read 7\n",
        "  Non-2xx or 3xx responses: 3\n",
    ] {
        let error = wrk::seen(&format!("{text}{wrong}")).expect_err("it says so");
        assert!(error.to_string().contains(wrong.trim()), "{error}");
    }
    assert!(wrk::seen("unable to connect").is_err());
}

#[test]
fn counters_are_read() {
    let strace = "% time     seconds  usecs/call     calls    errors syscall\n\
                  ------ ----------- ----------- --------- --------- ------\n\
                  100.00    0.000000           0        29         1 total\n";
    assert_eq!(counted::read("strace", strace), Some(29));
    let without_errors = "100.00    0.004000           0     12029           total\n";
    assert_eq!(counted::read("strace", without_errors), Some(12_029));
    assert_eq!(
        counted::read("perf", "# started\n\n1234,,instructions:u,1,100.00,,\n"),
        Some(1_234)
    );
    assert_eq!(
        counted::read("perf", "<not supported>,,instructions:u,0,100.00,,\n"),
        None
    );
    assert_eq!(
        counted::read("valgrind", "==7== Events    : Ir\n==7== Collected : 99\n"),
        Some(99)
    );
}

#[test]
fn replies_are_verified() {
    let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 32\r\n\r\nThe same 32 bytes for everybody\n";
    for end in 0..reply.len() {
        assert!(
            !Talk::Http
                .is_whole(&reply[..end], false)
                .expect("right so far")
        );
        assert!(Talk::Http.is_whole(&reply[..end], true).is_err());
    }
    assert!(Talk::Http.is_whole(reply, false).expect("right"));
    assert!(
        Talk::Http.is_whole(reply, true).is_err(),
        "it is to be kept"
    );
    assert!(
        !Talk::Connect.is_whole(reply, false).expect("right"),
        "it is to be closed"
    );
    assert!(Talk::Connect.is_whole(reply, true).expect("right"));
    let error = Talk::Http.is_whole(b"HTTP/1.1 404 Not Found\r\n\r\n", false);
    assert!(error.expect_err("wrong").to_string().contains("404"));
    assert!(
        Talk::Http
            .is_whole(b"HTTP/1.1 200 OK\r\n\r\nsomething", false)
            .is_err()
    );
    assert!(
        Talk::Echo
            .is_whole(Talk::Echo.request(), false)
            .expect("right")
    );
    assert!(Talk::Echo.is_whole(b"wrong", false).is_err());
}

#[test]
fn percentiles_are_times_that_were_seen() {
    let mut times: Vec<Duration> = (1..=200).rev().map(Duration::from_millis).collect();
    let ms = |times: &mut Vec<Duration>, share| percentile(times, share).as_millis();
    assert_eq!(
        [0.5, 0.99, 1.0].map(|share| ms(&mut times, share)),
        [100, 198, 200]
    );
    assert_eq!(percentile(&mut [], 0.5), Duration::ZERO);
}

#[test]
fn what_threads_did_is_told_apart_by_their_numbers() {
    let did = |voluntary, involuntary, ms| Did {
        voluntary,
        involuntary,
        cpu: Duration::from_millis(ms),
    };
    let threads = |list: &[(&str, Did)]| {
        let list = list.iter().map(|(number, did)| ((*number).into(), *did));
        Threads(list.collect())
    };
    let before = threads(&[("7", did(5, 1, 30)), ("8", did(900, 90, 9_000))]);
    // One goes on, one has ended and hides nothing, one is new.
    let after = threads(&[("7", did(8, 3, 34)), ("9", did(10, 20, 100))]);
    assert_eq!(after.since(&before), did(13, 22, 104));
    assert_eq!((after.count(), before.since(&before)), (2, did(0, 0, 0)));
}
