//! Sockets, each with what it needs on its other side.

use std::fs::File;
use std::future::poll_fn;
use std::io::{Cursor, IoSlice, IoSliceMut};
use std::net;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net as unix;
use std::pin::Pin;

use futures_io::AsyncRead;
use gossamer::net::{
    AsyncFd, BufReader, TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream,
    copy, lookup_host,
};

use super::{Case, Turn, cases};

fn connection() -> (UnixStream, UnixStream) {
    UnixStream::pair().expect("two more descriptors")
}

fn datagrams() -> (UnixDatagram, UnixDatagram) {
    UnixDatagram::pair().expect("two more descriptors")
}

/// A name that nobody has.
fn nobody() -> unix::SocketAddr {
    unix::SocketAddr::from_abstract_name("gossamer: nobody").expect("it is short")
}

pub(super) fn connections(turn: &Turn) -> Vec<Case> {
    cases! { turn;
        "io::op::Read": { let (one, other) = connection(); } {
            other.try_write(b"x").expect("there is room");
            one.read(&mut [0]).await.expect("open")
        };
        "io::op::Read, by a trait that polls": { let (mut one, _) = connection(); } {
            poll_fn(|cx| Pin::new(&mut one).poll_read(cx, &mut [0])).await
        };
        "io::op::Read, of the end": { let one = connection().0; } one.read(&mut [0]).await;
        "io::op::ReadVectored": { let one = connection().0; } {
            one.read_vectored(&mut [IoSliceMut::new(&mut [0])]).await
        };
        "io::op::Peek": { let (one, other) = connection(); other.try_write(b"x").expect("room"); } {
            one.peek(&mut [0]).await.expect("open")
        };
        "io::op::Write": { let (one, other) = connection(); } {
            one.write(b"x").await.expect("open");
            other.try_read(&mut [0]).expect("it was written")
        };
        "io::op::WriteVectored": { let (one, other) = connection(); } {
            one.write_vectored(&[IoSlice::new(b"x")]).await.expect("open");
            other.try_read(&mut [0]).expect("it was written")
        };
        "io::op::Ready": { let (one, _other) = connection(); } one.writable().await;
        "io::whole::WriteAll": { let (one, other) = connection(); } {
            one.write_all(b"x").await.expect("open");
            other.try_read(&mut [0]).expect("it was written")
        };
        "io::whole::WriteAll, of none": { let (one, _other) = connection(); } one.write_all(b"").await;
        "io::whole::WriteAllFrom": { let (one, _other) = connection(); } {
            one.write_all_from(&mut Cursor::new(b"")).await
        };
        "io::whole::ReadExact": { let (one, other) = connection(); } {
            other.try_write(b"x").expect("there is room");
            one.read_exact(&mut [0]).await.expect("open")
        };
        "io::whole::ReadExact, of none": { let (one, _other) = connection(); } one.read_exact(&mut []).await;
        "io::whole::ReadExactInto": { let (one, _other) = connection(); } {
            one.read_exact_into(&mut Cursor::new([])).await
        };
    }
}

/// Of what is not connected yet.
pub(super) fn connecting(turn: &Turn) -> Vec<Case> {
    cases! { turn;
        "io::tcp::connect::Connect, to nobody": {
            let free = net::TcpListener::bind("127.0.0.1:0").expect("a free port");
            let at = free.local_addr().expect("an address");
            drop(free);
        } TcpStream::connect(at).await;
        "io::tcp::connect::Connect, to what is no address": {} {
            TcpStream::connect("255.255.255.255:1".parse().expect("an address")).await
        };
        "io::tcp::connect_any::ConnectAny, to none": {} TcpStream::connect_any([]).await;
        "io::tcp::connect_any::ConnectAny, to nobody": {
            let nobody = "255.255.255.255:1".parse().expect("an address");
        } TcpStream::connect_any([nobody, nobody]).await;
        "io::tcp::connect_to::ConnectTo, to nobody": {} TcpStream::connect_to("255.255.255.255:1").await;
        "io::tcp::connect_to::ConnectTo, to what is no host": {} TcpStream::connect_to("localhost").await;
        "io::names::LookupHost, of an address": {} lookup_host("192.0.2.1:80").await;
        "io::names::LookupHost, of a name": {} lookup_host("localhost:80").await;
        "io::names::LookupHost, of what is no host": {} lookup_host("localhost").await;
        "io::unix::connect::ConnectUnix, to nobody": {} UnixStream::connect_addr(&nobody()).await;
        "io::listener::Accept": {
            let name = format!("gossamer: {:p}", &raw const *turn);
            let name = unix::SocketAddr::from_abstract_name(name).expect("it is short");
            let listener = UnixListener::bind_addr(&name).expect("a free name");
        } {
            let _client = unix::UnixStream::connect_addr(&name).expect("it listens");
            listener.accept().await.expect("one has connected")
        };
        "io::listener::Accept, of what does not listen": {
            let listener = TcpListener::bind("127.0.0.1:0".parse().expect("an address"));
            let listener = listener.expect("a free port");
            rustix::net::shutdown(&listener, rustix::net::Shutdown::Both).expect("it listens");
        } listener.accept().await;
    }
}

pub(super) fn buffered(turn: &Turn) -> Vec<Case> {
    cases! { turn;
        "io::buffered::Fill": {
            let (one, other) = connection();
            let mut one = BufReader::new(one);
            other.try_write(b"x").expect("there is room");
        } one.fill().await.expect("open");
        "io::buffered::Fill, of the end": { let mut one = BufReader::new(connection().0); } one.fill().await;
        "io::buffered::line::NextLine": {
            let (one, other) = connection();
            let mut one = BufReader::new(one);
        } {
            if one.buffer().is_empty() {
                other.try_write(&[b'\n'; 4_000]).expect("there is room");
            }
            one.next_line().await.expect("open")
        };
        "io::buffered::line::NextLine, of one that is too long": {
            let (one, other) = connection();
            let mut one = BufReader::new(one);
            one.set_line_limit(0);
            other.try_write(b"xx").expect("there is room");
        } one.next_line().await;
        "io::buffered::copy::CopyAll": {
            let (mut one, (to, _reads)) = (BufReader::new(connection().0), connection());
        } copy(&mut one, &to).await;
    }
}

pub(super) fn others(turn: &Turn) -> Vec<Case> {
    cases! { turn;
        "io::op::Recv": { let (one, other) = datagrams(); } {
            other.try_send(b"x").expect("there is room");
            one.recv(&mut [0]).await.expect("sent")
        };
        "io::op::RecvFrom": { let (one, other) = datagrams(); } {
            other.try_send(b"x").expect("there is room");
            one.recv_from(&mut [0]).await.expect("sent")
        };
        "io::op::PeekFrom": { let (one, other) = datagrams(); other.try_send(b"x").expect("room"); } {
            one.peek_from(&mut [0]).await.expect("sent")
        };
        "io::op::SendDatagram": { let (one, other) = datagrams(); } {
            one.send(b"x").await.expect("there is room");
            other.try_recv(&mut [0]).expect("sent")
        };
        "io::udp::SendTo": {
            let one = UdpSocket::bind("127.0.0.1:0".parse().expect("an address"));
            let one = one.expect("a free port");
            let to = one.local_addr().expect("an address");
        } {
            one.send_to(b"x", to).await.expect("there is room");
            one.try_recv(&mut [0])
        };
        "io::unix::datagram::SendToUnix, to nobody": { let one = datagrams().0; }
            one.send_to_addr(b"x", &nobody()).await;
        "io::async_fd::AttemptWith": {
            let file = AsyncFd::new(File::open("/dev/null").expect("it is there"));
        } file.read_with(|_| Ok(())).await;
    }
}
