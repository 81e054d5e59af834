//! The addresses of a name.
//!
//! The system looks names up by `getaddrinfo(3)`: it knows the machine's files, name servers and settings. It blocks, for
//! half a minute and more while a name server does not answer. So the calls have threads of their own, and few: all other
//! calls that block have theirs, whatever becomes of a name server.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use gossamer_core::context::SchedulingPoint;
use gossamer_core::mutant;
use gossamer_core::platform::per_process;
use gossamer_core::policy::Shared;
use gossamer_sched::{Blocking, BlockingOptions, ThreadOptions, simulated_threads};
use gossamer_sync::raw::{AcquireOwned, OwnedSemaphorePermit, Semaphore};
use gossamer_task::JoinHandle;

/// The most look-ups that a process makes at once; more wait in line.
const LOOKUPS_MAX: usize = 8;

/// The most bytes of a name: RFC 1035 permits 255 as they are sent, which are 253 of text, and a dot behind them.
const NAME_MAX: usize = 254;

/// An error shows so many characters of what it was given.
const SHOWN_MAX: usize = 300;

/// Looks up the addresses of a host: a name and a port, as `"localhost:80"`. An address and a port, as `"192.0.2.1:80"`
/// or `"[::1]:80"`, gives that address, and asks nobody.
///
/// The output has one address at least, and none twice. They are in the order in which they should be tried (RFC 6724),
/// as the system's `getaddrinfo(3)` gives them. It knows `/etc/hosts`, the machine's name servers, and what else
/// `/etc/nsswitch.conf` says. Nothing is kept: each look-up asks anew. It begins when it is first polled.
///
/// To connect to a host, use [`TcpStream::connect_to`](crate::Connection::connect_to).
///
/// # Blocking
/// `.await` it in a task, `.wait()` for it in a fiber or a thread. A thread of its own makes the call, which blocks: a
/// process has at most 8 of them, and more look-ups wait in line. A name server that does not answer holds those threads,
/// and no others.
///
/// # Cancellation
/// Dropped unfinished, it has no effect. A call that has begun cannot be ended: its thread finishes it, and drops the
/// addresses.
///
/// # Errors
/// [`InvalidInput`](ErrorKind::InvalidInput): the text is no host with a port. Or the system's: it knows no such name, no
/// name server answers (after half a minute, mostly: give it a
/// [`timeout`](https://docs.rs/gossamer-rt/latest/gossamer/trait.TimeoutExt.html)), or there is no thread for the call.
/// In a simulation: [`Unsupported`](ErrorKind::Unsupported) for names, since the answer comes from outside.
///
/// # Panics
/// In a forked child, if its call began before the fork; one that stood in line then waits there for good.
///
/// # Examples
/// ```
/// use gossamer::Wait;
/// use gossamer::net::lookup_host;
///
/// for address in lookup_host("localhost:80").wait()? {
///     assert!(address.ip().is_loopback());
///     assert_eq!(address.port(), 80);
/// }
/// assert_eq!(lookup_host("[::1]:80").wait()?, ["[::1]:80".parse()?]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn lookup_host(host: impl Into<String>) -> LookupHost {
    LookupHost::new(host.into(), Location::caller())
}

pin_project_lite::pin_project! {
    /// [`lookup_host`]. Dropped unfinished, it has no effect.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct LookupHost {
        host: String,
        caller: &'static Location<'static>,
        point: SchedulingPoint,
        // In line for one of the threads.
        #[pin]
        turn: Option<AcquireOwned<Shared>>,
        // On it.
        call: Option<JoinHandle<io::Result<Vec<SocketAddr>>>>,
    }
}

impl LookupHost {
    pub(crate) fn new(host: String, caller: &'static Location<'static>) -> Self {
        Self {
            host,
            caller,
            point: SchedulingPoint::new(),
            turn: None,
            call: None,
        }
    }

    /// The host, as it was given.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }
}

impl Future for LookupHost {
    type Output = io::Result<Vec<SocketAddr>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let host = this.host.as_str();
        if this.call.is_none() {
            if this.turn.is_none() {
                ready!(this.point.pass(cx.waker()));
                if let Host::Address(address) = Host::parse(host)? {
                    return Poll::Ready(Ok(vec![address]));
                }
                if simulated_threads().is_some() {
                    return Poll::Ready(Err(simulated(host)));
                }
                this.turn.set(Some(lookups().turn(this.caller)));
            }
            let turn = this.turn.as_mut().as_pin_mut().expect("it is in line");
            let turn = ready!(turn.poll(cx)).expect("nobody closes it");
            let Host::Name(name, port) = Host::parse(host)? else {
                unreachable!("an address is not looked up");
            };
            let name = name.to_string();
            let call = lookups().call(turn, move || addresses(&name, port), this.caller);
            *this.call = Some(call.map_err(|error| no_thread(host, &error))?);
        }
        let call = this.call.as_mut().expect("it has begun");
        let answer = match ready!(Pin::new(call).poll(cx)) {
            Ok(answer) => answer,
            // The system granted no thread.
            Err(_) => Err(io::Error::other("no thread has made the call")),
        };
        Poll::Ready(answer.map_err(|error| failed(host, &error)))
    }
}

/// What makes look-ups.
struct Lookups {
    /// One for each thread: who waits for a turn, and is dropped, leaves nothing behind. (Those of a name server that does
    /// not answer would else stand before all others.)
    turns: Arc<Semaphore<Shared>>,
    threads: Blocking,
}

per_process! {
    fn lookups() -> Lookups = Lookups::new()
}

impl Lookups {
    fn new() -> Self {
        let mut threads = ThreadOptions::default();
        threads.set_name(|| "gossamer-names".to_string());
        let most = match mutant!("lookups_take_all_threads") {
            true => Semaphore::<Shared>::MAX_PERMITS,
            false => LOOKUPS_MAX,
        };
        Self {
            turns: Arc::new(Semaphore::<Shared>::new(most)),
            threads: Blocking::with_options(BlockingOptions {
                // A turn ends a little earlier than its thread is free again.
                threads_max: most,
                threads,
                ..BlockingOptions::default()
            }),
        }
    }

    fn turn(&self, caller: &'static Location<'static>) -> AcquireOwned<Shared> {
        self.turns.clone().acquire_owned_at(caller)
    }

    /// Has a thread make the call.
    ///
    /// # Errors
    /// There is no thread yet, and the system grants none.
    fn call<T: Send + 'static>(
        &self,
        turn: OwnedSemaphorePermit<Shared>,
        call: impl FnOnce() -> T + Send + 'static,
        caller: &'static Location<'static>,
    ) -> io::Result<JoinHandle<T>> {
        let call = move || {
            let _turn = turn;
            call()
        };
        self.threads.try_spawn(call, caller)
    }
}

/// Asks the system; this blocks.
fn addresses(name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let mut addresses = Vec::new();
    for address in (name, port).to_socket_addrs()? {
        // Files may have one twice.
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    match addresses.is_empty() {
        true => Err(io::Error::new(ErrorKind::NotFound, "it has no address")),
        false => Ok(addresses),
    }
}

/// What a host's text says.
#[derive(Debug, PartialEq, Eq)]
enum Host<'a> {
    Address(SocketAddr),
    /// For `getaddrinfo(3)`: a name; or an address that only the system can read, as one with the name of an interface.
    Name(&'a str, u16),
}

impl<'a> Host<'a> {
    /// # Errors
    /// It is no name or address with a port behind it.
    fn parse(host: &'a str) -> io::Result<Self> {
        if let Ok(address) = host.parse() {
            return Ok(Self::Address(address));
        }
        if host.contains("://") {
            return Err(no_host(host, "a host is a part of a URL"));
        }
        let (name, port) = match host.rsplit_once(':') {
            Some(parts) if !host.ends_with(']') => parts,
            _ => return Err(no_host(host, "there is no port")),
        };
        let in_brackets = name
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'));
        let name = match in_brackets {
            Some(address) if !address.contains(':') => {
                return Err(no_host(host, "brackets are for addresses of IPv6"));
            }
            Some(address) => address,
            None if name.contains(':') => {
                return Err(no_host(host, "an address of IPv6 has brackets around it"));
            }
            None => name,
        };
        let Ok(port) = port.parse() else {
            return Err(no_host(host, "the port is no number from 0 to 65535"));
        };
        match name.len() {
            0 => Err(no_host(host, "there is no name before the port")),
            1..=NAME_MAX if name.contains('\0') => Err(no_host(host, "the name has a zero byte")),
            1..=NAME_MAX => Ok(Self::Name(name, port)),
            bytes => {
                let found = format!("the name has {bytes} bytes, and {NAME_MAX} are the most");
                Err(no_host(host, &found))
            }
        }
    }
}

/// The text is no host.
fn no_host(host: &str, found: &str) -> io::Error {
    let shown: String = host.chars().take(SHOWN_MAX).collect();
    let more = match shown.len() < host.len() {
        true => "…",
        false => "",
    };
    let text = format!(
        "cannot look up {shown:?}{more}: {found}; \
         give a name or an address, and a port, as \"localhost:80\", \"192.0.2.1:80\" or \"[::1]:80\""
    );
    io::Error::new(ErrorKind::InvalidInput, text)
}

/// The system's answer is no address.
fn failed(host: &str, error: &io::Error) -> io::Error {
    let mut text = format!("cannot look up {host:?}: {error}");
    if let Ok(Host::Name(name, _)) = Host::parse(host)
        && name.bytes().all(is_of_a_name)
    {
        text += &format!("; `getent ahosts {name}` shows what the system finds");
    }
    io::Error::new(error.kind(), text)
}

/// Whether a shell takes it as it is. (The name may be a stranger's.)
fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b".:%_-".contains(&byte)
}

fn no_thread(host: &str, error: &io::Error) -> io::Error {
    // Not of its own kind, which is `WouldBlock`: that would say that the operation waits.
    io::Error::other(format!(
        "cannot look up {host:?}: no thread could be started for it: {error}; \
         permit the process more threads (ulimit -u), or try again later"
    ))
}

fn simulated(host: &str) -> io::Error {
    let text = format!(
        "cannot look up {host:?} in a simulation, where the answer would come from outside: give the program an address in \
         its place"
    );
    io::Error::new(ErrorKind::Unsupported, text)
}

#[cfg(test)]
mod tests;
