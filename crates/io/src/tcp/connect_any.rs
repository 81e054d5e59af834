//! Connecting to one of several addresses, by RFC 8305 ("Happy Eyeballs", version 2).
//!
//! Of that it has sections 4 and 5: families take turns, and attempts overlap. Section 3, which begins to connect while a
//! second query is under way, is for who asks name servers itself: `getaddrinfo(3)` gives all addresses at once.

use std::collections::VecDeque;
use std::fmt::Write;
use std::io::{self, ErrorKind};
use std::net::{self, SocketAddr};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use gossamer_core::context::SchedulingPoint;
use gossamer_core::mutant;
use gossamer_time::{Sleep, sleep};

use crate::connection::Connection;
use crate::tcp::connect::Connect;

/// From the beginning of one attempt to that of the next: RFC 8305's recommendation (section 5, "Connection Attempt
/// Delay").
const DELAY: Duration = Duration::from_millis(250);

/// The most addresses that are tried: so many sockets may be open at once.
const ADDRESSES_MAX: usize = 16;

pin_project_lite::pin_project! {
    /// [`TcpStream::connect_any`](Connection::connect_any). Dropped unfinished, it makes no connection, or breaks it.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct ConnectAny {
        attempts: Attempts,
        // None: the next attempt begins when one fails, or there is none.
        #[pin]
        delay: Option<Sleep>,
        point: SchedulingPoint,
    }
}

/// The addresses: those to be tried, those that are, and those that failed.
#[derive(Debug)]
struct Attempts {
    next: VecDeque<SocketAddr>,
    /// The earliest first.
    running: Vec<Pin<Box<Connect>>>,
    failed: Vec<(SocketAddr, io::Error)>,
    /// All that have begun, in this order.
    begun: Vec<SocketAddr>,
    /// Beyond the limit.
    untried: usize,
    /// What the addresses were looked up for.
    host: Option<String>,
    caller: &'static Location<'static>,
}

/// How attempts that run stand.
enum Running {
    Connected(Connection<net::TcpStream>),
    Failed,
    Waiting,
}

impl ConnectAny {
    pub(super) fn new(
        addresses: impl IntoIterator<Item = SocketAddr>,
        host: Option<String>,
        caller: &'static Location<'static>,
    ) -> Self {
        let mut next = in_turns(addresses);
        let untried = next.len().saturating_sub(ADDRESSES_MAX);
        next.truncate(ADDRESSES_MAX);
        Self {
            attempts: Attempts {
                next,
                running: Vec::new(),
                failed: Vec::new(),
                begun: Vec::new(),
                untried,
                host,
                caller,
            },
            delay: None,
            point: SchedulingPoint::new(),
        }
    }
}

impl Future for ConnectAny {
    type Output = io::Result<Connection<net::TcpStream>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (attempts, mut delay) = (this.attempts, this.delay);
        this.point.pass_with(cx.waker(), || {
            loop {
                let begins = match attempts.poll(cx) {
                    Running::Connected(connection) => {
                        delay.set(None);
                        return Poll::Ready(Ok(connection));
                    }
                    Running::Failed => true,
                    Running::Waiting => match delay.as_mut().as_pin_mut() {
                        Some(delay) => {
                            delay.poll(cx).is_ready() && !mutant!("next_address_waits_for_the_last")
                        }
                        None => false,
                    },
                };
                if begins || attempts.running.is_empty() {
                    if !attempts.begin_next() && attempts.running.is_empty() {
                        delay.set(None);
                        return Poll::Ready(Err(attempts.error()));
                    }
                    let has_next = !attempts.next.is_empty();
                    delay.set(has_next.then(|| sleep(DELAY)));
                } else {
                    return Poll::Pending;
                }
            }
        })
    }
}

impl Attempts {
    /// Polls all that run. When one has connected, the others end.
    fn poll(&mut self, cx: &mut Context<'_>) -> Running {
        let (mut at, before) = (0, self.running.len());
        while let Some(attempt) = self.running.get_mut(at) {
            match attempt.as_mut().poll_bare(cx) {
                Poll::Pending => at += 1,
                Poll::Ready(Ok(connection)) => {
                    // Now: whoever has the operation may keep it.
                    if !mutant!("losers_are_kept") {
                        self.running.clear();
                    }
                    return Running::Connected(connection);
                }
                Poll::Ready(Err(error)) => {
                    let attempt = self.running.remove(at);
                    self.failed.push((attempt.address(), error));
                }
            }
        }
        match at < before {
            true => Running::Failed,
            false => Running::Waiting,
        }
    }

    /// Begins one more, if there is an address.
    fn begin_next(&mut self) -> bool {
        let next = self.next.pop_front();
        self.begun.extend(next);
        let attempt = next.map(|address| Box::pin(Connect::new(address, self.caller)));
        let begins = attempt.is_some();
        self.running.extend(attempt);
        begins
    }

    /// Why there is no connection.
    fn error(&mut self) -> io::Error {
        let place = |address| self.begun.iter().position(|begun| *begun == address);
        self.failed.sort_by_key(|(address, _)| place(*address));
        let Some((_, first)) = self.failed.first() else {
            let text = "connect_any() was given no address: it has to have one at least";
            return io::Error::new(ErrorKind::InvalidInput, text);
        };
        // Of the first address: those that this machine cannot reach at all come last, by RFC 6724.
        let kind = first.kind();
        let host = self.host.as_deref();
        let text = match &*self.failed {
            [(address, error)] if host.is_none_or(|host| host == address.to_string()) => {
                format!("cannot connect to {address}: {error}")
            }
            failed => {
                let host = host.unwrap_or("any address");
                let mut text = format!("cannot connect to {host}");
                for (number, (address, error)) in failed.iter().enumerate() {
                    let before = if number == 0 { ": " } else { "; " };
                    write!(text, "{before}{address}: {error}").expect("there is memory");
                }
                text
            }
        };
        let text = match self.untried {
            0 => text,
            untried => {
                format!("{text}; {untried} more were not tried, as {ADDRESSES_MAX} are the most")
            }
        };
        io::Error::new(kind, text)
    }
}

/// The order of attempts: as given, but the families take turns, beginning with the first one's (RFC 8305, section 4, with
/// a "First Address Family Count" of one).
fn in_turns(addresses: impl IntoIterator<Item = SocketAddr>) -> VecDeque<SocketAddr> {
    let mut first: VecDeque<_> = addresses.into_iter().collect();
    let Some(family) = first.front().map(SocketAddr::is_ipv6) else {
        return first;
    };
    if mutant!("families_take_no_turns") {
        return first;
    }
    let (mut first, mut others): (VecDeque<_>, VecDeque<_>) = first
        .drain(..)
        .partition(|address| address.is_ipv6() == family);
    let mut turns = VecDeque::with_capacity(first.len() + others.len());
    while !(first.is_empty() && others.is_empty()) {
        turns.extend(first.pop_front());
        turns.extend(others.pop_front());
    }
    turns
}

#[cfg(test)]
mod tests;
