//! The sockets of which one poller tells: an instance of epoll(7), and what ends a wait there.
//!
//! Descriptors are registered once, for both directions, and edge-triggered: an event comes when something *becomes*
//! ready.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::task::{Wake, Waker};

use gossamer_core::fork::Process;
use gossamer_core::mutant;
use gossamer_core::platform::atomic::{AtomicUsize, Ordering};
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{retry_on_intr, write};

/// Of a socket: both directions, and the peer's end of its own.
const INTEREST: EventFlags = EventFlags::IN
    .union(EventFlags::OUT)
    .union(EventFlags::RDHUP)
    .union(EventFlags::PRI)
    .union(EventFlags::ET);

/// The eventfd's token: no slot has it.
pub(crate) const BELL: u64 = u64::MAX;

/// An eventfd(2). It is registered edge-triggered as well, so nobody ever reads it.
struct Bell(OwnedFd);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // It fails only if it has been rung 2^64 times.
        let _rung = retry_on_intr(|| write(&self.0, &1_u64.to_ne_bytes()));
    }
}

/// The sockets of one poller.
#[derive(Debug)]
pub(crate) struct Registry {
    epoll: OwnedFd,
    /// Ends a poll.
    bell: Waker,
    /// How many are registered.
    sockets: AtomicUsize,
    /// A forked child shares the registrations with its parent, and leaves them alone.
    process: Process,
}

impl Registry {
    /// # Errors
    /// The process has no descriptors left.
    pub(crate) fn new() -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let wakes = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &bell, EventData::new_u64(BELL), wakes)?;
        Ok(Self {
            epoll,
            bell: Waker::from(Arc::new(Bell(bell))),
            sockets: AtomicUsize::new(0),
            process: Process::this(),
        })
    }

    /// What is polled.
    pub(crate) fn epoll(&self) -> &OwnedFd {
        &self.epoll
    }

    /// Ends a poll.
    pub(crate) fn bell(&self) -> &Waker {
        &self.bell
    }

    /// How many sockets are registered.
    pub(crate) fn sockets(&self) -> usize {
        // Relaxed: who sleeps elsewhere has a fence, and who is called because of the first one has one too.
        self.sockets.load(Ordering::Relaxed)
    }

    /// From now on events at this descriptor are told, with this token. What is ready by now is such an event.
    ///
    /// # Returns
    /// Whether it is the first one.
    ///
    /// # Errors
    /// The system's: it has no memory, or the descriptor cannot be polled.
    pub(crate) fn add(&self, descriptor: impl AsFd, token: u64) -> io::Result<bool> {
        let data = EventData::new_u64(token);
        epoll::add(&self.epoll, descriptor, data, INTEREST)?;
        // Relaxed: as above.
        Ok(self.sockets.fetch_add(1, Ordering::Relaxed) == 0)
    }

    /// Nothing is told of it any more; but events that are kept may still come.
    pub(crate) fn remove(&self, descriptor: impl AsFd) {
        // Relaxed: as above.
        let is_last = self.sockets.fetch_sub(1, Ordering::Relaxed) == 1;
        if is_last && !self.is_elsewhere() {
            // Who polls may sleep for good from now on, where it is seen that nobody will wake it.
            self.bell.wake_by_ref();
        }
        if !self.is_elsewhere() || mutant!("child_takes_registrations") {
            let _gone = epoll::delete(&self.epoll, descriptor);
        }
    }

    /// Whether this process is a forked child of the one that made it.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.process.is_elsewhere()
    }
}
