//! The poller: epoll(7), and an eventfd(2) by which other threads end a wait.
//!
//! Descriptors are registered once, for both directions, and edge-triggered: an event comes when something *becomes*
//! ready. The eventfd is, too, so nobody ever reads it.

use std::fmt;
use std::io;
use std::mem::{self, MaybeUninit};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

use gossamer_core::fork::Origin;
use gossamer_core::platform::Mutex;
use gossamer_core::platform::atomic::{AtomicUsize, Ordering};
use gossamer_core::poller::Poller;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::{Errno, retry_on_intr, write};

use crate::slot::{Token, slots};

/// Events that one poll takes at most; the next one takes the rest.
const EVENTS: usize = 256;

/// The eventfd's token: no slot has it.
const BELL: u64 = u64::MAX;

/// Of a socket: both directions, and the peer's end of its own.
const INTEREST: EventFlags = EventFlags::IN
    .union(EventFlags::OUT)
    .union(EventFlags::RDHUP)
    .union(EventFlags::PRI)
    .union(EventFlags::ET);

/// What has happened at a descriptor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Happened {
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// No more will come, or can be sent.
    pub(crate) read_closed: bool,
    pub(crate) write_closed: bool,
}

impl Happened {
    fn of(flags: EventFlags) -> Self {
        let broken = flags.intersects(EventFlags::ERR | EventFlags::HUP);
        Self {
            readable: broken
                || flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::PRI),
            writable: broken || flags.contains(EventFlags::OUT),
            read_closed: flags.intersects(EventFlags::RDHUP | EventFlags::HUP),
            write_closed: flags.contains(EventFlags::HUP),
        }
    }
}

/// A poller of the system's events.
pub(crate) struct Epoll {
    epoll: OwnedFd,
    bell: Waker,
    /// How many descriptors are registered.
    sockets: AtomicUsize,
    /// Whose event it is, and what has happened.
    kept: Mutex<Vec<(Token, EventFlags)>>,
    /// Whether somebody polls at all times.
    pub(crate) is_attended: bool,
    /// A forked child shares the registrations with its parent, and leaves them alone.
    origin: Origin,
}

/// Ends a poll.
struct Bell(OwnedFd);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // It fails only if nobody has polled for 2^64 calls.
        let _rung = retry_on_intr(|| write(&self.0, &1_u64.to_ne_bytes()));
    }
}

impl Epoll {
    /// # Errors
    /// The process has no descriptors left.
    pub(crate) fn new(is_attended: bool) -> io::Result<Arc<Self>> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let wakes = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &bell, EventData::new_u64(BELL), wakes)?;
        Ok(Arc::new(Self {
            epoll,
            bell: Waker::from(Arc::new(Bell(bell))),
            sockets: AtomicUsize::new(0),
            kept: Mutex::new(Vec::with_capacity(EVENTS)),
            is_attended,
            origin: Origin::watched(),
        }))
    }

    /// From now on events at this descriptor are told, as this token's. What is ready by now is such an event.
    ///
    /// # Returns
    /// Whether it is the first one.
    ///
    /// # Errors
    /// The system's: it has no memory, or the descriptor cannot be polled.
    pub(crate) fn add(&self, descriptor: impl AsFd, token: Token) -> io::Result<bool> {
        let data = EventData::new_u64(token.get());
        epoll::add(&self.epoll, descriptor, data, INTEREST)?;
        // Relaxed: who sleeps elsewhere has a fence, and who is called because of this has one too.
        Ok(self.sockets.fetch_add(1, Ordering::Relaxed) == 0)
    }

    /// Nothing is told of it any more; but events that are kept may still come.
    pub(crate) fn remove(&self, descriptor: impl AsFd) {
        // Relaxed: as above.
        self.sockets.fetch_sub(1, Ordering::Relaxed);
        if !self.origin.is_elsewhere() {
            let _gone = epoll::delete(&self.epoll, descriptor);
        }
    }

    /// Whether this process is a forked child of the one that made it.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.origin.is_elsewhere()
    }
}

impl Poller for Epoll {
    fn is_used(&self) -> bool {
        // Relaxed: as in `add`.
        self.sockets.load(Ordering::Relaxed) > 0
    }

    fn poll(&self, limit: Option<Duration>) {
        let mut kept = self.kept.lock();
        if !kept.is_empty() {
            return;
        }
        let mut poll = |limit: Option<Duration>| {
            let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
            let mut events = [const { MaybeUninit::<Event>::uninit() }; EVENTS];
            let (events, _) = epoll::wait(&self.epoll, &mut events[..], limit.as_ref())?;
            let tokens = events.iter().map(|event| (event.data.u64(), event.flags));
            let of_sockets = tokens.filter(|(token, _)| *token != BELL);
            kept.extend(of_sockets.map(|(token, flags)| (Token::of(token), flags)));
            Ok(())
        };
        if poll(limit) == Err(Errno::NOSYS) {
            // Before Linux 5.11 there is no epoll_pwait2(2): whole milliseconds only, and not too early.
            let whole = |limit: Duration| limit.as_millis() as u64 + 1;
            let _again = poll(limit.map(whole).map(Duration::from_millis));
        }
    }

    fn keeps_any(&self) -> bool {
        !self.kept.lock().is_empty()
    }

    fn deliver(&self) -> bool {
        // Taken out, as a foreign waker may do anything.
        let mut kept = mem::take(&mut *self.kept.lock());
        let any = !kept.is_empty();
        for (token, flags) in kept.drain(..) {
            slots().note(token, Happened::of(flags));
        }
        *self.kept.lock() = kept;
        any
    }

    fn waker(&self) -> &Waker {
        &self.bell
    }

    fn end(&self) {
        slots().leave(self);
    }
}

impl fmt::Debug for Epoll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Relaxed: a figure to look at.
        let sockets = self.sockets.load(Ordering::Relaxed);
        f.debug_struct("Epoll").field("sockets", &sockets).finish()
    }
}
