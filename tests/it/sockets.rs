//! Sockets: every operation in a task, in a blocking call, in a fiber and in a thread, under every model that differs.
//!
//! Nothing is ordered by time. An operation that is to wait is polled once, by [`waits`], before its event is made.

mod buffered;
mod connections;
mod converting;
mod datagrams;
mod descriptors;
mod dumped;
mod halves;
mod listening;
mod losing;
mod names;
mod polling;
mod shortage;

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::{self, SocketAddr};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::pin::Pin;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use gossamer::net::{Connection, Socket, TcpStream, UnixStream};
use gossamer::{Model, Wait};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};

use crate::conform::{KINDS, Kind, World};
use crate::models::{runtime, watched};

/// Those whose threads wait for the system in different ways.
const MODELS: [Model; 4] = [
    Model::Single,
    Model::Pool { workers: 1 },
    Model::Pool { workers: 2 },
    Model::Threads,
];

/// Runs a body in a task, a fiber, a thread and a blocking call under each model, and in a thread without a runtime.
fn everywhere<F>(body: impl Fn(Kind) -> F + Send + Sync + 'static)
where
    F: Future<Output = ()> + Send + 'static,
{
    everywhere_boxed(Arc::new(move |kind| -> Boxed { Box::pin(body(kind)) }));
}

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// All bodies by one function, which would take long to compile for each of them.
fn everywhere_boxed(body: Arc<dyn Fn(Kind) -> Boxed + Send + Sync>) {
    for model in MODELS {
        let body = body.clone();
        watched(&model.to_string(), move || {
            let rt = Arc::new(runtime(model));
            rt.block_on(body(Kind::Task));
            for kind in KINDS {
                let ended = World::Real(rt.clone()).run(kind, body(kind));
                rt.block_on(ended).expect("no panic");
            }
        });
    }
    watched("without a runtime", move || body(Kind::Thread).wait());
}

/// Polls an operation that has to wait.
#[track_caller]
fn waits<O: Future>(mut operation: Pin<&mut O>) -> impl Future<Output = ()> {
    let caller = std::panic::Location::caller();
    poll_fn(move |cx| {
        let polled = operation.as_mut().poll(cx);
        assert!(polled.is_pending(), "it does not wait: {caller}");
        Poll::Ready(())
    })
}

/// Does two things at a time.
fn both<A: Future, B: Future>(one: A, other: B) -> impl Future<Output = (A::Output, B::Output)> {
    let (mut one, mut other) = (Box::pin(one), Box::pin(other));
    let (mut of_one, mut of_other) = (None, None);
    poll_fn(move |cx| {
        if of_one.is_none() {
            of_one = ready_now(one.as_mut().poll(cx));
        }
        if of_other.is_none() {
            of_other = ready_now(other.as_mut().poll(cx));
        }
        match (of_one.take(), of_other.take()) {
            (Some(one), Some(other)) => Poll::Ready((one, other)),
            (one, other) => {
                (of_one, of_other) = (one, other);
                Poll::Pending
            }
        }
    })
}

fn ready_now<T>(polled: Poll<T>) -> Option<T> {
    match polled {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// The address of a machine itself: any port that is free.
const LOCAL: SocketAddr = SocketAddr::new(net::IpAddr::V4(net::Ipv4Addr::LOCALHOST), 0);
const LOCAL_6: SocketAddr = SocketAddr::new(net::IpAddr::V6(net::Ipv6Addr::LOCALHOST), 0);

/// How much the system keeps of what is under way.
const KEPT: usize = 1 << 17;

/// Two ends of a connection by TCP.
fn tcp(address: SocketAddr) -> (TcpStream, TcpStream) {
    let listener = net::TcpListener::bind(address).expect("a free port");
    let address = listener.local_addr().expect("an address");
    let one = net::TcpStream::connect(address).expect("it listens");
    let (other, _) = listener.accept().expect("one has connected");
    let ours = |theirs| {
        // So that they are soon full.
        set_socket_send_buffer_size(&theirs, KEPT).expect("an option");
        set_socket_recv_buffer_size(&theirs, KEPT).expect("an option");
        TcpStream::try_from(theirs).expect("a mode can be set")
    };
    (ours(one), ours(other))
}

fn tcp_4() -> (TcpStream, TcpStream) {
    tcp(LOCAL)
}

fn tcp_6() -> (TcpStream, TcpStream) {
    tcp(LOCAL_6)
}

fn unix() -> (UnixStream, UnixStream) {
    UnixStream::pair().expect("two more descriptors")
}

/// Makes tests of rules about both ends of a connection: of each kind of connections, everywhere.
macro_rules! of_connections {
    ($($rule:ident),* $(,)?) => {
        crate::sockets::of_connections! { @tcp_4 $($rule)* }
        crate::sockets::of_connections! { @tcp_6 $($rule)* }
        crate::sockets::of_connections! { @unix $($rule)* }
    };
    (@$ends:ident $($rule:ident)*) => {
        mod $ends {
            $(#[test]
            fn $rule() {
                crate::sockets::everywhere(|kind| super::$rule(kind, crate::sockets::$ends()));
            })*
        }
    };
}
use of_connections;

/// Two ends.
type Ends<S> = (Connection<S>, Connection<S>);

/// Sends until there is no room, and says how many bytes that were.
fn fill<S: Socket>(connection: &Connection<S>) -> usize {
    let (mut sent, bytes) = (0, vec![7; 1 << 16]);
    loop {
        match connection.try_write(&bytes) {
            Ok(written) => sent += written,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                return sent;
            }
        }
    }
}

/// A path that no other test has; its file is removed in the end.
struct OwnPath(PathBuf);

impl OwnPath {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("gossamer-{}-{number}.socket", process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for OwnPath {
    fn drop(&mut self) {
        let _gone = std::fs::remove_file(&self.0);
    }
}

/// Whether no other program inherits it, and it does not block.
fn is_ours(socket: impl AsFd) -> io::Result<bool> {
    let is_closed = rustix::io::fcntl_getfd(&socket)?.contains(rustix::io::FdFlags::CLOEXEC);
    let blocks_not = rustix::fs::fcntl_getfl(&socket)?.contains(rustix::fs::OFlags::NONBLOCK);
    Ok(is_closed && blocks_not)
}
