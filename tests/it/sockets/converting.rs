//! From and into the standard library's sockets, and descriptors.

use std::fs::File;
use std::io::{Read, Write};
use std::net;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net as unix;

use gossamer::Wait;
use gossamer::net::{TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream};

use super::{LOCAL, OwnPath, is_ours, tcp_4};

/// One descriptor of each kind, in words.
fn all() -> Vec<(&'static str, OwnedFd)> {
    let path = OwnPath::new();
    vec![
        ("a TCP connection", tcp_4().0.into()),
        (
            "a TCP listener",
            TcpListener::bind(LOCAL).expect("a free port").into(),
        ),
        (
            "a UDP socket",
            UdpSocket::bind(LOCAL).expect("a free port").into(),
        ),
        (
            "a Unix connection",
            UnixStream::pair().expect("more descriptors").0.into(),
        ),
        (
            "a Unix listener",
            UnixListener::bind(&path.0).expect("a free path").into(),
        ),
        (
            "a Unix datagram socket",
            UnixDatagram::unbound().expect("more descriptors").into(),
        ),
    ]
}

/// What is taken, of all kinds.
fn taken<T: TryFrom<OwnedFd, Error = std::io::Error>>(expected: &str) {
    for (name, descriptor) in all() {
        let number = descriptor.as_raw_fd();
        match T::try_from(descriptor) {
            Ok(_) => assert_eq!(name, expected),
            Err(error) => {
                assert_ne!(name, expected);
                let text = format!("descriptor {number} is {name}; expected {expected}");
                assert_eq!(error.to_string(), text);
            }
        }
    }
    let file = File::open("/dev/null").expect("it is there");
    let error = T::try_from(file.into())
        .map(drop)
        .expect_err("it is a file");
    assert!(
        error.to_string().contains("is no socket; expected"),
        "{error}"
    );
}

#[test]
fn only_the_right_kind_is_taken() {
    taken::<TcpStream>("a TCP connection");
    taken::<TcpListener>("a TCP listener");
    taken::<UdpSocket>("a UDP socket");
    taken::<UnixStream>("a Unix connection");
    taken::<UnixListener>("a Unix listener");
    taken::<UnixDatagram>("a Unix datagram socket");
}

/// There and back again: whether it blocks follows.
fn there_and_back<Theirs, Ours>(theirs: Theirs)
where
    Theirs: std::os::fd::AsFd + TryFrom<Ours, Error: std::fmt::Debug>,
    Ours: std::os::fd::AsFd + TryFrom<Theirs, Error: std::fmt::Debug>,
{
    assert!(
        !is_ours(&theirs).expect("a descriptor"),
        "it does not block"
    );
    let ours = Ours::try_from(theirs).expect("a mode can be set");
    assert!(is_ours(&ours).expect("a descriptor"), "it blocks");
    let theirs = Theirs::try_from(ours).expect("a mode can be set");
    assert!(
        !is_ours(&theirs).expect("a descriptor"),
        "it does not block"
    );
}

#[test]
fn of_the_standard_library() {
    let listener = net::TcpListener::bind(LOCAL).expect("a free port");
    let address = listener.local_addr().expect("an address");
    there_and_back::<_, TcpStream>(net::TcpStream::connect(address).expect("it listens"));
    there_and_back::<_, TcpListener>(listener);
    there_and_back::<_, UdpSocket>(net::UdpSocket::bind(LOCAL).expect("a free port"));
    let path = OwnPath::new();
    there_and_back::<_, UnixListener>(unix::UnixListener::bind(&path.0).expect("a free path"));
    there_and_back::<_, UnixStream>(unix::UnixStream::pair().expect("more descriptors").0);
    there_and_back::<_, UnixDatagram>(unix::UnixDatagram::unbound().expect("more descriptors"));
}

/// One that has waited, and so is known to a poller.
#[test]
fn after_it_has_waited() {
    let (one, other) = tcp_4();
    let wrote = gossamer::spawn_thread(move || {
        other.write_all(b"hello").wait().expect("open");
        other
    });
    one.read_exact(&mut [0; 5]).wait().expect("open");
    let other = wrote.wait().expect("no panic");
    let mut one = net::TcpStream::try_from(one).expect("a mode can be set");
    let mut other = net::TcpStream::try_from(other).expect("a mode can be set");
    one.write_all(b"world").expect("open");
    other.read_exact(&mut [0; 5]).expect("open");
    let one = TcpStream::try_from(OwnedFd::from(one)).expect("a TCP connection");
    other.write_all(b"again").expect("open");
    one.read_exact(&mut [0; 5]).wait().expect("open");
}
