//! The sockets of which one poller tells: an instance of epoll(7).
//!
//! Descriptors are registered once, for both directions, and edge-triggered: an event comes when something *becomes*
//! ready.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use gossamer_core::fork::Origin;
use gossamer_core::mutant;
use gossamer_core::platform::atomic::{AtomicUsize, Ordering};
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

/// Of a socket: both directions, and the peer's end of its own.
const INTEREST: EventFlags = EventFlags::IN
    .union(EventFlags::OUT)
    .union(EventFlags::RDHUP)
    .union(EventFlags::PRI)
    .union(EventFlags::ET);

/// The sockets of one poller.
#[derive(Debug)]
pub(crate) struct Registry {
    epoll: OwnedFd,
    /// How many are registered.
    sockets: AtomicUsize,
    /// Whether somebody polls at all times.
    pub(crate) is_attended: bool,
    /// A forked child shares the registrations with its parent, and leaves them alone.
    origin: Origin,
}

impl Registry {
    /// # Errors
    /// The process has no descriptors left.
    pub(crate) fn new(is_attended: bool) -> io::Result<Self> {
        Ok(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            sockets: AtomicUsize::new(0),
            is_attended,
            origin: Origin::watched(),
        })
    }

    /// What is polled.
    pub(crate) fn epoll(&self) -> &OwnedFd {
        &self.epoll
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
        self.sockets.fetch_sub(1, Ordering::Relaxed);
        if !self.is_elsewhere() || mutant!("child_takes_registrations") {
            let _gone = epoll::delete(&self.epoll, descriptor);
        }
    }

    /// Whether this process is a forked child of the one that made it.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.origin.is_elsewhere()
    }
}
