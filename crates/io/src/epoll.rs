//! The poller of a [`Registry`]: epoll_wait(2), and an eventfd(2) by which other threads end a wait.
//!
//! The eventfd is registered edge-triggered as well, so nobody ever reads it.

use std::io;
use std::mem::{self, MaybeUninit};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

use gossamer_core::platform::Mutex;
use gossamer_core::poller::Poller;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::{Errno, retry_on_intr, write};

use crate::registry::Registry;
use crate::slot::{Happened, Token, slots};

/// Events that one poll takes at most; the next one takes the rest.
const EVENTS: usize = 256;

/// The eventfd's token: no slot has it.
const BELL: u64 = u64::MAX;

/// A poller of the system's events.
#[derive(Debug)]
pub(crate) struct Epoll {
    pub(crate) registry: Arc<Registry>,
    bell: Waker,
    /// Whose event it is, and what has happened.
    kept: Mutex<Vec<(Token, EventFlags)>>,
}

/// Ends a poll.
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

impl Epoll {
    /// # Errors
    /// The process has no descriptors left.
    pub(crate) fn new(is_attended: bool) -> io::Result<Arc<Self>> {
        let registry = Registry::new(is_attended)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let wakes = EventFlags::IN | EventFlags::ET;
        epoll::add(registry.epoll(), &bell, EventData::new_u64(BELL), wakes)?;
        Ok(Arc::new(Self {
            registry: Arc::new(registry),
            bell: Waker::from(Arc::new(Bell(bell))),
            kept: Mutex::new(Vec::with_capacity(EVENTS)),
        }))
    }
}

impl Poller for Epoll {
    fn is_used(&self) -> bool {
        self.registry.sockets() > 0
    }

    fn poll(&self, limit: Option<Duration>) {
        let mut kept = self.kept.lock();
        if !kept.is_empty() {
            return;
        }
        let mut poll = |limit: Option<Duration>| {
            let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
            let mut events = [const { MaybeUninit::<Event>::uninit() }; EVENTS];
            let (events, _) = epoll::wait(self.registry.epoll(), &mut events[..], limit.as_ref())?;
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
            slots().note(token, happened(flags));
        }
        *self.kept.lock() = kept;
        any
    }

    fn waker(&self) -> &Waker {
        &self.bell
    }

    fn end(&self) {
        slots().leave(&self.registry);
    }
}

/// Of what the system says.
fn happened(flags: EventFlags) -> Happened {
    let broken = flags.intersects(EventFlags::ERR | EventFlags::HUP);
    let comes = EventFlags::IN | EventFlags::RDHUP | EventFlags::PRI;
    Happened {
        readable: broken || flags.intersects(comes),
        writable: broken || flags.contains(EventFlags::OUT),
        read_closed: flags.intersects(EventFlags::RDHUP | EventFlags::HUP),
        write_closed: flags.contains(EventFlags::HUP),
    }
}
