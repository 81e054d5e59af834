//! Listening for connections, by TCP or within the machine.

use std::io;
use std::os::fd::AsFd;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use gossamer_core::platform::Mutex;
use gossamer_time::{Sleep, now, sleep_until};
use rustix::io::Errno;
use rustix::net::acceptfrom_with;

use crate::attempt::{Attempt, Moved};
use crate::connection::Connection;
use crate::slot::Kind;
use crate::socket::{FLAGS, ListeningSocket, local_address};
use crate::source::{Source, Way};

/// How long a listener pauses for which the system had no descriptor or no memory: so a loop that goes on accepting does
/// not take all of a processor for failing.
const PAUSE: Duration = Duration::from_millis(100);

/// A socket that takes connections: a [`TcpListener`](crate::TcpListener) or a [`UnixListener`](crate::UnixListener).
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::net::{TcpListener, TcpStream};
///
/// let listener = TcpListener::bind("127.0.0.1:0".parse()?)?;
/// let client = TcpStream::connect(listener.local_addr()?).wait()?;
/// let (server, address) = listener.accept().wait()?;
/// assert_eq!(address, client.local_addr()?);
/// assert_eq!(server.peer_addr()?, address);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Listener<S: AsFd> {
    pub(crate) source: Source<S>,
    /// After an error that comes again at once: when to try again.
    not_before: Mutex<Option<Instant>>,
}

impl<S: ListeningSocket> Listener<S> {
    /// Of a socket that does not block.
    pub(crate) fn of(socket: S) -> Self {
        Self {
            source: Source::new(socket, Kind::Socket),
            not_before: Mutex::new(None),
        }
    }

    /// The socket, which no poller tells of any more.
    pub(crate) fn into_socket(self) -> S {
        self.source.into_socket()
    }

    /// Takes the next connection; the address of its peer comes with it.
    ///
    /// # Cancellation
    /// Dropped unfinished, it has taken none.
    ///
    /// # Errors
    /// The process or the system has no descriptors left, or no memory. Operations that begin in the tenth of a second from
    /// then on wait until it is over: a loop that logs the error and goes on needs no pause of its own. A connection that was broken before
    /// it was taken is no error: the next one is waited for.
    #[track_caller]
    pub fn accept(&self) -> Accept<'_, S> {
        let not_before = self.not_before.lock().filter(|until| now() < *until);
        Accept {
            attempt: Attempt::new(&self.source, Way::In, Location::caller()),
            listener: self,
            pause: not_before.map(sleep_until),
        }
    }

    /// The address that it listens at.
    ///
    /// # Errors
    /// The system's.
    pub fn local_addr(&self) -> io::Result<S::Address> {
        local_address(self.source.socket())
    }
}

pin_project_lite::pin_project! {
    /// [`Listener::accept`]. Dropped unfinished, it has taken no connection.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct Accept<'a, S: AsFd> {
        #[pin]
        attempt: Attempt<&'a Source<S>>,
        listener: &'a Listener<S>,
        // Before it tries.
        #[pin]
        pause: Option<Sleep>,
    }
}

impl<S: ListeningSocket> Future for Accept<'_, S> {
    type Output = io::Result<(Connection<S::Connection>, S::Address)>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Some(pause) = this.pause.as_mut().as_pin_mut() {
            ready!(pause.poll(cx));
            this.pause.set(None);
        }
        let accepted = ready!(
            this.attempt
                .poll(cx, |listener| Ok((accept(listener)?, Moved::ONE)))
        );
        if accepted.as_ref().is_err_and(is_short_of_something) {
            *this.listener.not_before.lock() = Some(now() + PAUSE);
        }
        Poll::Ready(accepted)
    }
}

/// Whether the system, or this process, had no room for one more connection.
fn is_short_of_something(error: &io::Error) -> bool {
    // The last one is epoll(7)'s; without a number: no thread for the process's poller.
    let short = [
        Errno::MFILE,
        Errno::NFILE,
        Errno::NOBUFS,
        Errno::NOMEM,
        Errno::NOSPC,
    ];
    Errno::from_io_error(error).is_none_or(|error| short.contains(&error))
}

/// A connection that was not broken meanwhile, with a socket that does not block.
fn accept<S: ListeningSocket>(listener: &S) -> io::Result<(Connection<S::Connection>, S::Address)> {
    loop {
        match acceptfrom_with(listener, FLAGS) {
            Ok((socket, address)) => {
                return Ok((Connection::of(socket.into()), S::address(address)?));
            }
            Err(Errno::CONNABORTED | Errno::PROTO) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
