//! Listening and connecting.

use std::io::ErrorKind;
use std::net::{self, SocketAddr};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net as unix;
use std::pin::pin;
use std::time::Duration;

use gossamer::TimeoutExt;
use gossamer::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use rustix::net::listen;
use rustix::net::sockopt::set_socket_linger;

use super::{LOCAL, LOCAL_6, OwnPath, everywhere, is_ours, waits};
use crate::conform::Kind;

async fn connects_and_accepts(kind: Kind, address: SocketAddr) {
    let listener = TcpListener::bind(address).expect("a free port");
    let address = listener.local_addr().expect("an address");
    for _ in 0..3 {
        let mut accept = pin!(listener.accept());
        waits(accept.as_mut()).await;
        let client = kind
            .finish(TcpStream::connect(address))
            .await
            .expect("it listens");
        let (server, from) = kind.finish(accept).await.expect("one has connected");
        assert_eq!(from, client.local_addr().expect("an address"));
        assert_eq!(from, server.peer_addr().expect("an address"));
        assert_eq!(address, client.peer_addr().expect("an address"));
        for socket in [&client, &server] {
            assert!(is_ours(socket).expect("a descriptor"));
        }
        client.set_nodelay(true).expect("an option");
        kind.finish(client.write_all(b"hello")).await.expect("open");
        kind.finish(server.read_exact(&mut [0; 5]))
            .await
            .expect("open");
    }
    assert!(is_ours(&listener).expect("a descriptor"));
}

#[test]
fn by_tcp() {
    everywhere(|kind| connects_and_accepts(kind, LOCAL));
}

#[test]
fn by_tcp_6() {
    everywhere(|kind| connects_and_accepts(kind, LOCAL_6));
}

#[test]
fn within_the_machine() {
    everywhere(|kind| async move {
        let path = OwnPath::new();
        let listener = UnixListener::bind(&path.0).expect("a free path");
        assert!(is_ours(&listener).expect("a descriptor"));
        let mut accept = pin!(listener.accept());
        waits(accept.as_mut()).await;
        let client = kind
            .finish(UnixStream::connect(&path.0))
            .await
            .expect("it listens");
        let (server, from) = kind.finish(accept).await.expect("one has connected");
        assert!(from.is_unnamed(), "{from:?}");
        let at = client.peer_addr().expect("an address");
        assert_eq!(at.as_pathname(), Some(&*path.0));
        for socket in [&client, &server] {
            assert!(is_ours(socket).expect("a descriptor"));
        }
        kind.finish(client.write_all(b"hello")).await.expect("open");
        kind.finish(server.read_exact(&mut [0; 5]))
            .await
            .expect("open");
    });
}

#[test]
fn names_without_a_file() {
    everywhere(|kind| async move {
        let name = OwnPath::new()
            .0
            .clone()
            .into_os_string()
            .into_encoded_bytes();
        let address = unix::SocketAddr::from_abstract_name(&name).expect("it is short");
        let listener = UnixListener::bind_addr(&address).expect("a free name");
        let at = listener.local_addr().expect("an address");
        assert_eq!(at.as_abstract_name(), Some(&*name));
        let client = kind
            .finish(UnixStream::connect_addr(&at))
            .await
            .expect("it listens");
        let (server, _) = kind
            .finish(listener.accept())
            .await
            .expect("one has connected");
        kind.finish(server.write_all(b"hello")).await.expect("open");
        kind.finish(client.read_exact(&mut [0; 5]))
            .await
            .expect("open");
    });
}

/// A listener that may keep one connection, and has it; and the one.
fn full() -> (UnixListener, OwnPath, unix::UnixStream) {
    let path = OwnPath::new();
    let listener = UnixListener::bind(&path.0).expect("a free path");
    listen(&listener, 0).expect("a limit");
    let one = unix::UnixStream::connect(&path.0).expect("there is room for one");
    (listener, path, one)
}

#[test]
fn room_at_a_listener_is_waited_for() {
    everywhere(|kind| async move {
        let (listener, path, _one) = full();
        let mut connect = pin!(UnixStream::connect(&path.0));
        waits(connect.as_mut()).await;
        kind.finish(listener.accept())
            .await
            .expect("one has connected");
        kind.finish(connect).await.expect("there is room");
        kind.finish(listener.accept())
            .await
            .expect("the other has connected");
    });
}

#[test]
fn a_connection_is_given_up() {
    everywhere(|kind| async move {
        let (listener, path, _one) = full();
        let late = UnixStream::connect(&path.0).timeout(Duration::from_millis(1));
        kind.finish(late).await.expect_err("there is no room");
        kind.finish(listener.accept())
            .await
            .expect("one has connected");
        waits(pin!(listener.accept())).await;
    });
}

/// The system answers nobody beyond the limit, so the second one waits.
#[test]
fn a_connection_by_tcp_is_given_up() {
    everywhere(|kind| async move {
        let listener = TcpListener::bind(LOCAL).expect("a free port");
        listen(&listener, 0).expect("a limit");
        let address = listener.local_addr().expect("an address");
        let _one = net::TcpStream::connect(address).expect("there is room for one");
        let late = TcpStream::connect(address).timeout(Duration::from_millis(1));
        kind.finish(late).await.expect_err("there is no room");
        kind.finish(listener.accept())
            .await
            .expect("one has connected");
        waits(pin!(listener.accept())).await;
    });
}

#[test]
fn a_dropped_accept_takes_none() {
    everywhere(|kind| async move {
        let listener = TcpListener::bind(LOCAL).expect("a free port");
        let address = listener.local_addr().expect("an address");
        {
            let mut first = pin!(listener.accept());
            let mut second = pin!(listener.accept());
            waits(first.as_mut()).await;
            waits(second.as_mut()).await;
        }
        let late = listener.accept().timeout(Duration::from_millis(1));
        kind.finish(late).await.expect_err("nobody has connected");
        let client = net::TcpStream::connect(address).expect("it listens");
        let (_, from) = kind
            .finish(listener.accept())
            .await
            .expect("one has connected");
        assert_eq!(from, client.local_addr().expect("an address"));
    });
}

/// Linux gives a connection that was broken before it was taken, as one that is.
#[test]
fn broken_before_it_is_taken() {
    everywhere(|kind| async move {
        let listener = TcpListener::bind(LOCAL).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let broken = net::TcpStream::connect(address).expect("it listens");
        set_socket_linger(&broken, Some(Duration::ZERO)).expect("an option");
        drop(broken);
        let whole = net::TcpStream::connect(address).expect("it listens");
        let (first, _) = kind
            .finish(listener.accept())
            .await
            .expect("one has connected");
        let whole = whole.local_addr().expect("an address");
        if first.peer_addr().ok() == Some(whole) {
            return;
        }
        let error = kind
            .finish(first.read(&mut [0; 9]))
            .await
            .expect_err("broken");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        let (_, from) = kind
            .finish(listener.accept())
            .await
            .expect("one has connected");
        assert_eq!(from, whole);
    });
}

#[test]
fn nobody_listens() {
    everywhere(|kind| async move {
        let listener = TcpListener::bind(LOCAL).expect("a free port");
        let address = listener.local_addr().expect("an address");
        drop(listener);
        let error = kind
            .finish(TcpStream::connect(address))
            .await
            .expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let expected = format!("cannot connect to {address}: Connection refused");
        assert!(error.to_string().starts_with(&expected), "{error}");

        let path = OwnPath::new();
        let error = kind
            .finish(UnixStream::connect(&path.0))
            .await
            .expect_err("no file");
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let expected = format!("cannot connect to {}: No such file", path.0.display());
        assert!(error.to_string().starts_with(&expected), "{error}");
        drop(UnixListener::bind(&path.0).expect("a free path"));
        let error = kind
            .finish(UnixStream::connect(&path.0))
            .await
            .expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let long = "x".repeat(200);
        let error = kind
            .finish(UnixStream::connect(&long))
            .await
            .expect_err("too long");
        assert!(error.to_string().contains(&long), "{error}");
    });
}

#[test]
fn addresses_in_use() {
    let listener = TcpListener::bind(LOCAL).expect("a free port");
    let address = listener.local_addr().expect("an address");
    let error = TcpListener::bind(address).expect_err("it is in use");
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    let text = error.to_string();
    assert!(
        text.starts_with(&format!("cannot bind a socket to {address}: ")),
        "{text}"
    );
    assert!(text.contains("another socket has it"), "{text}");
    let elsewhere = "192.0.2.1:0".parse().expect("an address");
    let error = TcpListener::bind(elsewhere).expect_err("it is not ours");
    assert_eq!(error.kind(), ErrorKind::AddrNotAvailable);
    assert!(error.to_string().contains("0.0.0.0"), "{error}");

    let path = OwnPath::new();
    let _listener = UnixListener::bind(&path.0).expect("a free path");
    let error = UnixListener::bind(&path.0).expect_err("it is in use");
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    assert!(error.to_string().contains("remove the file"), "{error}");
    let error = UnixListener::bind(path.0.join("below")).expect_err("no folder");
    assert!(
        error.to_string().contains(&*path.0.to_string_lossy()),
        "{error}"
    );
    let error = UnixListener::bind("x".repeat(200)).expect_err("too long");
    assert!(error.to_string().contains("107 bytes"), "{error}");
}

/// A port is free at once when its listener is gone, though connections linger.
#[test]
fn a_port_is_used_again() {
    everywhere(|kind| async move {
        let listener = TcpListener::bind(LOCAL).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let client = kind
            .finish(TcpStream::connect(address))
            .await
            .expect("it listens");
        let (server, _) = kind
            .finish(listener.accept())
            .await
            .expect("one has connected");
        drop(server);
        drop((client, listener));
        TcpListener::bind(address).expect("it is free again");
    });
}
