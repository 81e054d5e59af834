//! The poller of a [`Registry`]: epoll_wait(2).

use std::io;
use std::mem::{self, MaybeUninit};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use gossamer_core::platform::Mutex;
use gossamer_core::poller::Poller;
use rustix::event::epoll::{self, Event, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec};

use crate::registry::{BELL, Registry};
use crate::slot::{Happened, Token, slots};

/// Events that one poll takes at most; the next one takes the rest.
const EVENTS: usize = 256;

/// epoll_wait(2) takes whole milliseconds. The last part of one is waited for by ppoll(2), which takes nanoseconds; Linux
/// 5.11 has one call for both, and seccomp filters that do not know it.
const MILLISECOND: Duration = Duration::from_millis(1);

/// The longest wait: whoever polls looks again.
const LONGEST: Duration = Duration::from_secs(3_600);

fn timespec(limit: Duration) -> Timespec {
    Timespec {
        tv_sec: limit.as_secs() as i64,
        tv_nsec: i64::from(limit.subsec_nanos()),
    }
}

/// A poller of the system's events.
#[derive(Debug)]
pub(crate) struct Epoll {
    pub(crate) registry: Arc<Registry>,
    /// Whose event it is, and what has happened.
    kept: Mutex<Vec<(Token, EventFlags)>>,
}

impl Epoll {
    /// # Errors
    /// The process has no descriptors left.
    pub(crate) fn new() -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            registry: Arc::new(Registry::new()?),
            kept: Mutex::new(Vec::with_capacity(EVENTS)),
        }))
    }
}

impl Poller for Epoll {
    fn sockets(&self) -> usize {
        match self.registry.is_elsewhere() {
            true => 0,
            false => self.registry.sockets(),
        }
    }

    fn is_elsewhere(&self) -> bool {
        self.registry.is_elsewhere()
    }

    fn poll(&self, limit: Option<Duration>) {
        let mut kept = self.kept.lock();
        if !kept.is_empty() {
            return;
        }
        let epoll = self.registry.epoll();
        let mut limit = limit.map(|limit| limit.min(LONGEST));
        if let Some(last) = limit.filter(|limit| !limit.is_zero() && *limit < MILLISECOND) {
            let mut ready = [PollFd::new(epoll, PollFlags::IN)];
            let _events = rustix::event::poll(&mut ready, Some(&timespec(last)));
            limit = Some(Duration::ZERO);
        }
        // What is more than whole milliseconds is left for the next time.
        let whole = limit.map(|limit| limit.as_millis() as u64);
        let whole = whole.map(|limit| timespec(Duration::from_millis(limit)));
        let mut events = [const { MaybeUninit::<Event>::uninit() }; EVENTS];
        // A signal is no event.
        let Ok((events, _)) = epoll::wait(epoll, &mut events[..], whole.as_ref()) else {
            return;
        };
        let tokens = events.iter().map(|event| (event.data.u64(), event.flags));
        let of_sockets = tokens.filter(|(token, _)| *token != BELL);
        kept.extend(of_sockets.map(|(token, flags)| (Token::of(token), flags)));
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
        self.registry.bell()
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
        // A read ends at urgent data as well, and is short, though more is there.
        read_closed: flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::PRI),
        write_closed: flags.contains(EventFlags::HUP),
    }
}
