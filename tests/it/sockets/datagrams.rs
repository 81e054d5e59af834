//! Datagrams.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use gossamer::TimeoutExt;
use gossamer::net::{DatagramSocket, Socket, UdpSocket, UnixDatagram};

use super::{LOCAL, LOCAL_6, OwnPath, everywhere, is_ours, waits};
use crate::conform::Kind;

type Ends<S> = (DatagramSocket<S>, DatagramSocket<S>);

fn udp(address: SocketAddr) -> (UdpSocket, UdpSocket) {
    let new = || UdpSocket::bind(address).expect("a free port");
    let (one, other) = (new(), new());
    let at = |socket: &UdpSocket| socket.local_addr().expect("an address");
    one.connect(at(&other)).expect("an address");
    other.connect(at(&one)).expect("an address");
    (one, other)
}

fn unix() -> (UnixDatagram, UnixDatagram) {
    UnixDatagram::pair().expect("two more descriptors")
}

macro_rules! of_ends {
    ($($rule:ident),* $(,)?) => {
        of_ends! { @udp_4 = super::udp(super::LOCAL); $($rule)* }
        of_ends! { @udp_6 = super::udp(super::LOCAL_6); $($rule)* }
        of_ends! { @unix = super::unix(); $($rule)* }
    };
    (@$name:ident = $ends:expr; $($rule:ident)*) => {
        mod $name {
            $(#[test]
            fn $rule() {
                super::everywhere(|kind| super::$rule(kind, $ends));
            })*
        }
    };
}

of_ends! {
    each_is_whole,
    one_waits_for_another,
    several_at_once,
    trying_does_not_wait,
    none_is_lost,
}

async fn each_is_whole<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    assert!(is_ours(&one).expect("a descriptor"));
    for bytes in [&b"hello"[..], b"", b"to be cut"] {
        let sent = kind.finish(one.send(bytes)).await.expect("there is room");
        assert_eq!(sent, bytes.len());
    }
    let mut buffer = [0; 5];
    assert_eq!(kind.finish(other.recv(&mut buffer)).await.expect("sent"), 5);
    assert_eq!(&buffer, b"hello");
    assert_eq!(kind.finish(other.recv(&mut buffer)).await.expect("sent"), 0);
    assert_eq!(kind.finish(other.recv(&mut buffer)).await.expect("sent"), 5);
    assert_eq!(&buffer, b"to be");
    waits(pin!(other.recv(&mut buffer))).await;
}

async fn one_waits_for_another<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    for _ in 0..3 {
        let (mut first, mut second) = ([0; 9], [0; 9]);
        let mut look = pin!(other.peek_from(&mut first));
        let mut take = pin!(other.recv_from(&mut second));
        waits(look.as_mut()).await;
        waits(take.as_mut()).await;
        one.try_send(b"hello").expect("there is room");
        assert_eq!(kind.finish(look).await.expect("sent").0, 5);
        assert_eq!(kind.finish(take).await.expect("sent").0, 5);
        assert_eq!(first, second);
    }
}

/// Those that are shorter than the buffer say nothing of the next.
async fn several_at_once<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let mut buffer = [0; 99];
    let mut take = pin!(other.recv(&mut buffer));
    waits(take.as_mut()).await;
    for _ in 0..5 {
        one.try_send(b"hello").expect("there is room");
    }
    assert_eq!(kind.finish(take).await.expect("sent"), 5);
    for _ in 1..5 {
        assert_eq!(kind.finish(other.recv(&mut buffer)).await.expect("sent"), 5);
    }
}

async fn trying_does_not_wait<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let mut buffer = [0; 9];
    let error = other.try_recv(&mut buffer).expect_err("there is none");
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    let mut readable = pin!(other.readable());
    waits(readable.as_mut()).await;
    kind.finish(one.writable()).await.expect("it can be polled");
    one.try_send(b"hello").expect("there is room");
    kind.finish(readable).await.expect("it can be polled");
    assert_eq!(other.try_peek_from(&mut buffer).expect("sent").0, 5);
    assert_eq!(other.try_recv_from(&mut buffer).expect("sent").0, 5);
    one.try_send(b"hello").expect("there is room");
    assert_eq!(other.try_recv(&mut buffer).expect("sent"), 5);
}

async fn none_is_lost<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let mut buffer = [0; 9];
    waits(pin!(other.recv(&mut buffer))).await;
    let late = other
        .recv_from(&mut buffer)
        .timeout(Duration::from_millis(1));
    kind.finish(late).await.expect_err("there is none");
    one.try_send(b"hello").expect("there is room");
    assert_eq!(kind.finish(other.recv(&mut buffer)).await.expect("sent"), 5);
    waits(pin!(other.recv(&mut buffer))).await;
}

async fn to_addresses(kind: Kind, address: SocketAddr) {
    let new = || UdpSocket::bind(address).expect("a free port");
    let (one, other) = (new(), new());
    let at = |socket: &UdpSocket| socket.local_addr().expect("an address");
    let sent = kind.finish(one.send_to(b"hello", at(&other))).await;
    assert_eq!(sent.expect("there is room"), 5);
    let (length, from) = kind
        .finish(other.recv_from(&mut [0; 9]))
        .await
        .expect("sent");
    assert_eq!((length, from), (5, at(&one)));
    other.try_send_to(b"back", from).expect("there is room");
    let (length, from) = kind.finish(one.peek_from(&mut [0; 9])).await.expect("sent");
    assert_eq!((length, from), (4, at(&other)));
    other.peer_addr().expect_err("it is not connected");
    let error = kind
        .finish(one.send(b"x"))
        .await
        .expect_err("it is not connected");
    assert_eq!(
        error.raw_os_error(),
        Some(rustix::io::Errno::DESTADDRREQ.raw_os_error())
    );
    let error = kind.finish(one.send_to(&[0; 70_000], at(&other))).await;
    let error = error.expect_err("it is too long").raw_os_error();
    assert_eq!(error, Some(rustix::io::Errno::MSGSIZE.raw_os_error()));
}

#[test]
fn to_addresses_of_udp() {
    everywhere(|kind| to_addresses(kind, LOCAL));
}

#[test]
fn to_addresses_of_udp_6() {
    everywhere(|kind| to_addresses(kind, LOCAL_6));
}

/// One that nobody receives is told to a socket that is connected: to those that wait, too.
#[test]
fn nobody_is_there() {
    everywhere(|kind| async move {
        let (one, other) = udp(LOCAL);
        let mut buffer = [0; 9];
        let mut take = pin!(one.recv(&mut buffer));
        waits(take.as_mut()).await;
        drop(other);
        one.try_send(b"hello").expect("there is room");
        let error = kind.finish(take).await.expect_err("nobody is there");
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn to_paths() {
    everywhere(|kind| async move {
        let (here, there) = (OwnPath::new(), OwnPath::new());
        let one = UnixDatagram::bind(&here.0).expect("a free path");
        let other = UnixDatagram::bind(&there.0).expect("a free path");
        assert!(is_ours(&one).expect("a descriptor"));
        let sent = kind.finish(one.send_to(b"hello", &there.0)).await;
        assert_eq!(sent.expect("there is room"), 5);
        let (length, from) = kind
            .finish(other.recv_from(&mut [0; 9]))
            .await
            .expect("sent");
        assert_eq!((length, from.as_pathname()), (5, Some(&*here.0)));
        let sent = kind.finish(other.send_to_addr(b"back", &from)).await;
        assert_eq!(sent.expect("there is room"), 4);
        assert_eq!(kind.finish(one.recv(&mut [0; 9])).await.expect("sent"), 4);

        let unnamed = UnixDatagram::unbound().expect("one more descriptor");
        unnamed.connect(&there.0).expect("it is there");
        kind.finish(unnamed.send(b"x"))
            .await
            .expect("there is room");
        unnamed.try_send_to(b"y", &here.0).expect("there is room");
        let (_, from) = kind
            .finish(other.recv_from(&mut [0; 9]))
            .await
            .expect("sent");
        assert!(from.is_unnamed(), "{from:?}");
        let error = kind.finish(one.send_to(b"x", here.0.join("below"))).await;
        error.expect_err("no such path");
        let error = UnixDatagram::bind(&here.0).expect_err("it is in use");
        assert!(error.to_string().contains("remove the file"), "{error}");
    });
}

/// Sends until its peer has no room.
fn fill(socket: &UnixDatagram, path: &OwnPath) -> usize {
    let full = (0..).find(|_| socket.try_send_to(b"hello", &path.0).is_err());
    full.expect("there is a limit")
}

#[test]
fn room_at_a_path_is_waited_for() {
    everywhere(|kind| async move {
        let path = OwnPath::new();
        let to = UnixDatagram::bind(&path.0).expect("a free path");
        let from = UnixDatagram::unbound().expect("one more descriptor");
        let sent = fill(&from, &path);
        let late = from
            .send_to(b"never", &path.0)
            .timeout(Duration::from_millis(1));
        kind.finish(late).await.expect_err("there is no room");
        let mut send = pin!(from.send_to(b"last", &path.0));
        waits(send.as_mut()).await;
        kind.finish(to.recv(&mut [0; 9])).await.expect("sent");
        kind.finish(send).await.expect("there is room");
        for _ in 1..sent {
            assert_eq!(kind.finish(to.recv(&mut [0; 9])).await.expect("sent"), 5);
        }
        assert_eq!(kind.finish(to.recv(&mut [0; 9])).await.expect("sent"), 4);
    });
}

/// Of a peer that it is connected to, the system tells.
#[test]
fn room_at_the_peer_is_waited_for() {
    everywhere(|kind| async move {
        let path = OwnPath::new();
        let to = UnixDatagram::bind(&path.0).expect("a free path");
        let from = UnixDatagram::unbound().expect("one more descriptor");
        from.connect(&path.0).expect("it is there");
        let sent = (0..).find(|_| from.try_send(b"hello").is_err());
        waits(pin!(from.send(b"never"))).await;
        let mut send = pin!(from.send(b"last"));
        waits(send.as_mut()).await;
        for _ in 0..sent.expect("there is a limit") {
            assert_eq!(kind.finish(to.recv(&mut [0; 9])).await.expect("sent"), 5);
        }
        kind.finish(send).await.expect("there is room");
        assert_eq!(kind.finish(to.recv(&mut [0; 9])).await.expect("sent"), 4);
    });
}
