//! Sockets in dumps, and in a pool's metrics.

use std::io::Write;
use std::net::{self, SocketAddr};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::yield_now;

use gossamer::net::{AsyncFd, TcpListener, TcpStream, UdpSocket, UnixListener, UnixStream};
use gossamer::runtime::{Dump, Interest, OpenSocket, WaitsFor};
use gossamer::{Model, Runtime, Wait, spawn_thread};

use super::{LOCAL, MODELS};
use crate::models::{runtime, watched};

/// The socket of this address, as a dump tells of it.
fn at(
    dump: &Dump,
    local: &str,
    is_it: impl Fn(&OpenSocket) -> bool,
) -> Option<(usize, OpenSocket)> {
    let sockets = dump.sockets().iter().enumerate();
    let mut those = sockets.filter(|(_, socket)| socket.local.as_deref() == Some(local));
    those
        .find(|(_, socket)| is_it(socket))
        .map(|(at, socket)| (at, socket.clone()))
}

/// A dump of a moment when somebody waits for that socket.
fn awaited(rt: &Runtime, local: &str, interest: Interest) -> (Dump, OpenSocket) {
    loop {
        let dump = rt.dump();
        let found = at(&dump, local, |socket| match interest {
            Interest::Read => socket.awaits_read,
            _ => socket.awaits_write,
        });
        if let Some((at, socket)) = found
            && dump.waiters().iter().any(|waiter| {
                waiter.waits_for.iter().any(|what| {
                    matches!(what, WaitsFor::Socket { socket, interest: awaited, called: Some(called) }
                        if (*socket, *awaited) == (at, interest) && called.file().ends_with("dumped.rs"))
                })
            })
        {
            return (dump, socket);
        }
        yield_now();
    }
}

/// Both ends of a connection, and the address of the first one.
fn pair() -> (TcpStream, net::TcpStream, SocketAddr) {
    let listener = net::TcpListener::bind(LOCAL).expect("a free port");
    let peer = net::TcpStream::connect(listener.local_addr().expect("an address"));
    let (one, _) = listener.accept().expect("it connects");
    let one = TcpStream::try_from(one).expect("a connection");
    let address = one.local_addr().expect("an address");
    (one, peer.expect("it listens"), address)
}

#[test]
fn a_dump_says_which_socket_is_waited_for() {
    for model in MODELS {
        // One whose tasks run while the thread waits does not run them while it makes a dump.
        if model != Model::Single {
            watched(&model.to_string(), move || which_is_waited_for(model));
        }
    }
}

fn which_is_waited_for(model: Model) {
    let rt = runtime(model);
    let (one, mut peer, address) = pair();
    let reads = rt.spawn(async move { one.read(&mut [0; 1]).await });
    let (dump, socket) = awaited(&rt, &address.to_string(), Interest::Read);
    assert_eq!(socket.kind, "a TCP connection");
    let its_peer = peer.local_addr().expect("an address").to_string();
    assert_eq!(socket.peer.as_deref(), Some(its_peer.as_str()));
    assert!(
        !socket.awaits_write && socket.age.as_secs() < 600,
        "{socket}"
    );
    let text = format!(" to read, called at {}", file!());
    assert!(dump.to_string().contains(&text), "{dump}");
    assert!(dump.to_string().contains(&socket.to_string()), "{dump}");
    assert!(dump.to_json().contains(&format!(r#""peer":"{its_peer}""#)));
    let sockets = rt.metrics().map(|metrics| metrics.sockets);
    assert!(sockets.is_none_or(|sockets| sockets == 1), "{sockets:?}");
    assert_eq!(peer.write(&[1]).expect("it is open"), 1);
    assert_eq!(reads.wait().expect("no panic").expect("it is open"), 1);
    let dump = rt.dump();
    let is_it = |socket: &OpenSocket| socket.peer.as_deref() == Some(its_peer.as_str());
    assert!(at(&dump, &address.to_string(), is_it).is_none(), "{dump}");
    // Of one that is closed the system would not know the kind.
    let mut sockets = dump.sockets().iter();
    assert!(sockets.all(|socket| socket.kind != "a socket"), "{dump}");
    let sockets = rt.metrics().map(|metrics| metrics.sockets);
    assert!(sockets.is_none_or(|sockets| sockets == 0), "{sockets:?}");
}

/// Of a descriptor that is closed, or another file's by now, the system would not know what socket it is.
#[test]
fn a_dump_asks_of_open_sockets_alone() {
    watched("sockets that come and go", || {
        let is_over = Arc::new(AtomicBool::new(false));
        let busy = [(); 2].map(|()| {
            let is_over = is_over.clone();
            spawn_thread(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let (one, other) = UnixStream::pair().expect("two descriptors");
                    drop(one);
                    drop(std::fs::File::open("/dev/null").expect("a descriptor"));
                    drop(std::os::fd::OwnedFd::from(other));
                }
            })
        });
        let rt = runtime(Model::Single);
        for _ in 0..20 {
            let dump = rt.dump();
            let mut sockets = dump.sockets().iter();
            assert!(sockets.all(|socket| socket.kind != "a socket"), "{dump}");
        }
        is_over.store(true, Ordering::Relaxed);
        for thread in busy {
            thread.wait().expect("no panic");
        }
    });
}

#[test]
fn a_dump_says_what_a_socket_is() {
    let rt = runtime(Model::Pool { workers: 1 });
    let listener = TcpListener::bind(LOCAL).expect("a free port");
    let udp = UdpSocket::bind(LOCAL).expect("a free port");
    let path = std::env::temp_dir().join(format!("gossamer-dumped-{}", std::process::id()));
    let _listens = UnixListener::bind(&path).expect("a free path");
    let one = UnixStream::pair().expect("a pair").0;
    let other = AsyncFd::new(UdpSocket::bind(LOCAL).expect("a free port"));
    let dump = rt.dump();
    let kinds = [
        (
            listener.local_addr().expect("an address").to_string(),
            "a TCP listener",
        ),
        (
            udp.local_addr().expect("an address").to_string(),
            "a UDP socket",
        ),
        (path.display().to_string(), "a Unix listener"),
    ];
    for (address, kind) in kinds {
        let (_, socket) = at(&dump, &address, |socket| socket.kind == kind).expect("it is listed");
        assert_eq!((socket.peer, socket.awaits_read), (None, false));
    }
    let mut expected = vec![
        (one.as_raw_fd(), "a Unix connection"),
        (other.as_raw_fd(), "a descriptor"),
    ];
    for socket in dump.sockets() {
        expected
            .retain(|(descriptor, kind)| (socket.descriptor, &*socket.kind) != (*descriptor, kind));
    }
    assert_eq!(expected, []);
    std::fs::remove_file(path).expect("it is there");
}
