//! Names: looking them up, and connecting by them. No name server is asked: there may be none.

use std::fs;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::{self, SocketAddr};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use gossamer::net::{TcpListener, TcpStream, lookup_host};
use gossamer::time::sleep as rest;
use gossamer::{TimeoutExt, Wait};
use gossamer_sim::explore;
use rustix::net::listen;

use super::{LOCAL, LOCAL_6, everywhere, waits};
use crate::again::{again, is_again};
use crate::conform::Kind;
use crate::models::{patience, watched};

/// From one attempt to the next, if none fails.
const DELAY: Duration = Duration::from_millis(250);

/// Polls an operation once, and drops it.
async fn drop_early(operation: impl Future) {
    let mut operation = pin!(operation);
    poll_fn(|cx| {
        let _polled = operation.as_mut().poll(cx);
        Poll::Ready(())
    })
    .await;
}

/// A listener, and its address.
fn listening(address: SocketAddr) -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(address).expect("a free port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// Where nobody listens.
fn closed() -> SocketAddr {
    listening(LOCAL).1
}

/// A listener that has as many connections as may wait there, and the one: the system answers no other.
fn full() -> (TcpListener, SocketAddr, net::TcpStream) {
    let (listener, address) = listening(LOCAL);
    listen(&listener, 0).expect("a limit");
    let one = net::TcpStream::connect(address).expect("there is room for one");
    (listener, address, one)
}

#[test]
fn the_machine_has_a_name() {
    everywhere(|kind| async move {
        let lookup = lookup_host("localhost:80").timeout(patience() / 2);
        let found = kind.finish(lookup).await.expect("files are read");
        let found = found.expect("the machine knows itself");
        assert!(!found.is_empty(), "no address");
        for address in &found {
            assert!(address.ip().is_loopback(), "{found:?}");
            assert_eq!(address.port(), 80);
        }
    });
}

#[test]
fn addresses_are_not_looked_up() {
    everywhere(|_| async {
        for text in ["192.0.2.1:80", "[2001:db8::1]:443", "0.0.0.0:0"] {
            let mut lookup = pin!(lookup_host(text));
            let polled = poll_fn(|cx| Poll::Ready(lookup.as_mut().poll(cx))).await;
            let Poll::Ready(Ok(found)) = polled else {
                panic!("{text}: {polled:?}");
            };
            assert_eq!(found, [text.parse().expect("an address")]);
        }
    });
}

#[test]
fn no_hosts() {
    everywhere(|kind| async move {
        for host in ["", "localhost", "localhost:http", ":80", "::1:80", "a\0:1"] {
            let error = kind.finish(lookup_host(host)).await.expect_err("no host");
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            let text = error.to_string();
            let expected = format!("cannot look up {host:?}: ");
            assert!(text.starts_with(&expected), "{text}");
            assert!(text.contains("\"localhost:80\""), "{text}");
            let error = kind.finish(TcpStream::connect_to(host)).await;
            assert_eq!(error.expect_err("no host").to_string(), text);
        }
    });
}

#[test]
fn nobody_has_that_name() {
    everywhere(|kind| async move {
        // No part of a name is so long, so nobody is asked.
        let host = format!("{}:80", "x".repeat(64));
        let error = kind.finish(lookup_host(&*host)).await.expect_err("no name");
        let text = error.to_string();
        let expected = format!("cannot look up {host:?}: ");
        assert!(text.starts_with(&expected), "{text}");
        assert!(text.contains("`getent ahosts xxx"), "{text}");
        let error = kind.finish(TcpStream::connect_to(host)).await;
        assert_eq!(error.expect_err("no name").to_string(), text);
    });
}

#[test]
fn a_simulation_looks_up_no_names() {
    explore(0..3, || async {
        let error = lookup_host("localhost:80").await.expect_err("from outside");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("in a simulation"), "{error}");
        lookup_host("192.0.2.1:80").await.expect("an address");
    });
}

/// All begin before the first is finished; every third is dropped then.
#[test]
fn more_lookups_than_threads() {
    everywhere(|kind| async move {
        let lookup = |_| Box::pin(lookup_host("localhost:80"));
        let mut all: Vec<_> = (0..36).map(lookup).collect();
        let mut found = Vec::new();
        poll_fn(|cx| {
            all.retain_mut(|one| match one.as_mut().poll(cx) {
                Poll::Ready(early) => {
                    found.push(early);
                    false
                }
                Poll::Pending => true,
            });
            Poll::Ready(())
        })
        .await;
        for (number, one) in all.into_iter().enumerate() {
            if number % 3 > 0 {
                let one = kind.finish(one.timeout(patience() / 2)).await;
                found.push(one.expect("files are read"));
            }
        }
        assert!(found.len() >= 24, "too few were finished");
        for one in found {
            one.expect("the machine knows itself");
        }
    });
}

#[test]
fn lookups_are_dropped() {
    everywhere(|kind| async move {
        for _ in 0..30 {
            drop_early(lookup_host("localhost:80")).await;
            drop_early(TcpStream::connect_to(format!(
                "localhost:{}",
                closed().port()
            )))
            .await;
        }
        let lookup = lookup_host("localhost:80").timeout(patience() / 2);
        let found = kind.finish(lookup).await.expect("files are read");
        found.expect("the machine knows itself");
    });
}

async fn connects_to(kind: Kind, host: &str, at: SocketAddr) {
    let (listener, address) = listening(at);
    let host = format!("{host}:{}", address.port());
    let connect = TcpStream::connect_to(&*host).timeout(patience() / 2);
    let client = kind.finish(connect).await.expect("it listens");
    let client = client.expect("it listens");
    assert_eq!(client.peer_addr().expect("an address"), address);
    let (_, from) = kind
        .finish(listener.accept())
        .await
        .expect("one has connected");
    assert_eq!(from, client.local_addr().expect("an address"));
    drop(listener);
    let error = kind.finish(TcpStream::connect_to(&*host)).await;
    let error = error.expect_err("nobody listens");
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    let text = error.to_string();
    let expected = format!("cannot connect to {host}: ");
    assert!(text.starts_with(&expected), "{text}");
    let reason = match host == address.to_string() {
        true => expected + "Connection refused",
        false => format!("{address}: Connection refused"),
    };
    assert!(text.contains(&reason), "{text}");
}

#[test]
fn by_name() {
    everywhere(|kind| async move {
        // The first one: another test may listen at that port of the second.
        let found = kind.finish(lookup_host("localhost:0")).await;
        let at = found.expect("the machine knows itself")[0];
        connects_to(kind, "localhost", at).await;
    });
}

#[test]
fn by_address() {
    everywhere(|kind| async move {
        connects_to(kind, "127.0.0.1", LOCAL).await;
        connects_to(kind, "[::1]", LOCAL_6).await;
    });
}

/// The first one neither answers nor refuses.
#[test]
fn the_next_address_is_not_kept_waiting() {
    everywhere(|kind| async move {
        let ((hanging, at_hanging, _one), (_open, at_open)) = (full(), listening(LOCAL));
        let began = Instant::now();
        let connect = TcpStream::connect_any([at_hanging, at_open]);
        let connected = kind.finish(connect.timeout(patience() / 2)).await;
        let client = connected.expect("the second listens");
        let client = client.expect("the second listens");
        assert!(began.elapsed() >= DELAY, "the first had no time");
        assert_eq!(client.peer_addr().expect("an address"), at_open);
        kind.finish(hanging.accept()).await.expect("the one");
        waits(pin!(hanging.accept())).await;
    });
}

#[test]
fn after_a_refusal_the_next_address_is_tried() {
    everywhere(|kind| async move {
        let (_open, at_open) = listening(LOCAL);
        let addresses = [closed(), closed(), at_open];
        let client = kind
            .finish(TcpStream::connect_any(addresses))
            .await
            .expect("the last listens");
        assert_eq!(client.peer_addr().expect("an address"), at_open);
    });
}

/// The next address is tried while the first one goes on. (Once: its system tries again after a second.)
#[test]
fn the_first_may_answer_late() {
    watched("two that hang", || {
        let ((first, at_first, _one), (_second, at_second, _other)) = (full(), full());
        let mut connect = pin!(TcpStream::connect_any([at_first, at_second]));
        waits(connect.as_mut()).wait();
        rest(DELAY * 2).wait();
        // The second attempt begins.
        waits(connect.as_mut()).wait();
        first.accept().wait().expect("the one");
        let client = connect.as_mut().wait().expect("there is room");
        assert_eq!(client.peer_addr().expect("an address"), at_first);
    });
}

#[test]
fn nobody_listens_anywhere() {
    everywhere(|kind| async move {
        let addresses = [closed(), closed(), closed()];
        let error = kind.finish(TcpStream::connect_any(addresses)).await;
        let error = error.expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let text = error.to_string();
        let expected = "cannot connect to any address: ";
        assert!(text.starts_with(expected), "{text}");
        for address in addresses {
            let reason = format!("{address}: Connection refused");
            assert!(text.contains(&reason), "{text}");
        }
        let error = kind.finish(TcpStream::connect_any([])).await;
        assert_eq!(
            error.expect_err("no address").kind(),
            ErrorKind::InvalidInput
        );
    });
}

#[test]
fn connecting_is_given_up() {
    everywhere(|kind| async move {
        let (hanging, address, _one) = full();
        let late = TcpStream::connect_any([address]).timeout(Duration::from_millis(1));
        kind.finish(late).await.expect_err("there is no room");
        let late = TcpStream::connect_to(address.to_string()).timeout(Duration::from_millis(1));
        kind.finish(late).await.expect_err("there is no room");
        kind.finish(hanging.accept()).await.expect("the one");
        waits(pin!(hanging.accept())).await;
    });
}

/// In a process of its own, which opens no other descriptors meanwhile.
#[test]
fn attempts_keep_no_descriptors() {
    if is_again() {
        attempts_end();
        return;
    }
    let ended = again("sockets::names::attempts_keep_no_descriptors").output();
    let ended = ended.expect("one more process");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("it is there").count()
}

fn attempts_end() {
    let ((_hanging, at_hanging, _one), (open, at_open)) = (full(), listening(LOCAL));
    let connect = || TcpStream::connect_any([at_hanging, at_open]);
    // The poller has its descriptors from now on.
    drop(connect().wait().expect("the second listens"));
    open.accept().wait().expect("one has connected");
    let before = descriptors();
    {
        let mut connect = pin!(connect());
        let _client = connect.as_mut().wait().expect("the second listens");
        assert_eq!(descriptors(), before + 1, "the loser is there still");
    }
    open.accept().wait().expect("one has connected");
    assert_eq!(descriptors(), before);
    {
        let mut connect = pin!(connect());
        waits(connect.as_mut()).wait();
        assert_eq!(descriptors(), before + 1);
    }
    assert_eq!(descriptors(), before);
}
