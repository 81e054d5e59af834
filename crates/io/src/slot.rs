//! The readiness of each socket, in a table: an event names its place there.
//!
//! Slots are never freed, only used again, so an event may come at any time. Its token has the socket's generation, and
//! one that is meant for a socket that is gone changes nothing. (A pointer as a token would need the poller's consent
//! before the memory is freed.)

use std::os::fd::RawFd;
use std::sync::{Arc, OnceLock};

use gossamer_core::fork::Process;
use gossamer_core::moment::Moment;
use gossamer_core::platform::atomic::Ordering;
use gossamer_core::platform::{Mutex, UnmodelledU32, UnmodelledU64, per_process};
use gossamer_core::poller::{Attended, PollerCell};
use gossamer_sched::is_polled_by;
use gossamer_sync::raw::{Generation, Readiness};

use crate::registry::Registry;

/// Slots in the first part of the table; each later part has twice as many as the one before.
const FIRST: u32 = 64;
/// Parts: more sockets than a process can have.
const PARTS: usize = 24;

/// One direction of a socket.
pub(crate) type Direction = Readiness<gossamer_core::policy::Shared>;

/// What is known of one socket.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) read: Direction,
    pub(crate) write: Direction,
    /// Where it is registered, once it has waited.
    pub(crate) registry: Mutex<Option<Arc<Registry>>>,
    /// The same as [`Registration`] says, or zero: so that one more operation that waits need not take the lock.
    registration: UnmodelledU64,
    /// Since when it has its socket ([`Moment::nanos`]).
    since: UnmodelledU64,
    /// The descriptor, for dumps; or [`NO_DESCRIPTOR`]. It is taken away with the lock of `registry`.
    descriptor: UnmodelledU32,
    index: u32,
}

/// There is none.
const NO_DESCRIPTOR: u32 = u32::MAX;
/// It is a [`Kind::Other`].
const OTHER: u32 = 1 << 31;

/// What a descriptor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A socket of the standard library's type, which keeps its descriptor as long as it lives.
    Socket,
    /// Of a type that may have any descriptor, and change it.
    Other,
}

/// At which poller a socket is registered: the number of its cell, how often the process had been forked by then, and
/// whether somebody polls there at all times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Registration(u64);

impl Registration {
    const ATTENDED: u64 = 1 << 63;

    /// In this cell, from now on.
    pub(crate) fn of(cell: &PollerCell) -> Self {
        let attended = match cell.attended() {
            Attended::Always => Self::ATTENDED,
            _ => 0,
        };
        let forks = u64::from(Process::forks()) << 32 & !Self::ATTENDED;
        Self(attended | forks | u64::from(cell.number()))
    }

    /// Whether it is registered.
    pub(crate) fn is_somewhere(self) -> bool {
        self.0 != 0
    }

    /// Whether this process has registered it: a forked child may find the lock of what it has inherited locked for good.
    fn is_here(self) -> bool {
        self.is_somewhere() && self.of_process() == u64::from(Process::forks())
    }

    /// Whether somebody polls there at all times.
    pub(crate) fn is_attended_always(self) -> bool {
        self.0 & Self::ATTENDED != 0
    }

    /// How often the process had been forked.
    fn of_process(self) -> u64 {
        self.0 << 1 >> 33
    }

    /// Whether it is good for who waits on this thread. `false`: perhaps even so.
    #[inline]
    pub(crate) fn is_attended(self) -> bool {
        let is_here = self.of_process() == u64::from(Process::forks());
        let number = self.0 as u32;
        number != 0 && is_here && (self.is_attended_always() || is_polled_by(number))
    }
}

/// The name of a socket in an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token(u64);

impl Token {
    pub(crate) fn get(self) -> u64 {
        self.0
    }

    pub(crate) fn of(token: u64) -> Self {
        Self(token)
    }

    fn new(index: u32, generation: Generation) -> Self {
        Self(u64::from(generation.get()) << 32 | u64::from(index))
    }

    fn index(self) -> u32 {
        self.0 as u32
    }

    fn generation(self) -> Generation {
        Generation::of((self.0 >> 32) as u32)
    }
}

/// What has happened at a socket.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Happened {
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// A read that gives less than it could is not the last: no more will come, and no event tells so again.
    pub(crate) read_closed: bool,
    /// No more can be sent.
    pub(crate) write_closed: bool,
}

impl Slot {
    fn new(index: u32) -> Self {
        Self {
            read: Direction::new(),
            write: Direction::new(),
            registry: Mutex::new(None),
            registration: UnmodelledU64::new(0),
            since: UnmodelledU64::new(0),
            descriptor: UnmodelledU32::new(NO_DESCRIPTOR),
            index,
        }
    }

    /// Where it is registered, as far as is known without the lock.
    #[inline]
    pub(crate) fn registration(&self) -> Registration {
        // Relaxed: who ends a registration notes an event afterwards, under the lock of the direction, where this one waits by
        // now: so either it reads the new one, or it is woken.
        Registration(self.registration.load(Ordering::Relaxed))
    }

    /// It is registered there from now on; with the lock of `registry`.
    pub(crate) fn set_registration(&self, new: Option<Registration>) {
        // Relaxed: as above.
        self.registration
            .store(new.map_or(0, |new| new.0), Ordering::Relaxed);
    }

    /// Whether it is the first one, which the process's first socket has.
    pub(crate) fn is_first(&self) -> bool {
        self.index == 0
    }

    /// A descriptor has it from now on.
    pub(crate) fn begin(&self, descriptor: RawFd, kind: Kind) {
        // Relaxed: for dumps, and those that see it late have no such socket.
        self.since
            .store(Moment::real_now().nanos(), Ordering::Relaxed);
        let mark = if kind == Kind::Other { OTHER } else { 0 };
        // Relaxed: as above.
        self.descriptor
            .store(descriptor as u32 | mark, Ordering::Relaxed);
    }

    /// Since when it has it.
    pub(crate) fn since(&self) -> Moment {
        Moment::from_nanos(self.since.load(Ordering::Relaxed)) // Relaxed: as above
    }

    /// Its socket is about to go, or to be taken; with the lock of `registry`.
    pub(crate) fn end(&self) {
        // Relaxed: the lock orders it.
        self.descriptor.store(NO_DESCRIPTOR, Ordering::Relaxed);
    }

    /// Its descriptor. A [`Kind::Socket`] stays open while the caller has the lock of
    /// `registry`.
    pub(crate) fn descriptor(&self) -> Option<(RawFd, Kind)> {
        // Relaxed: the number alone is used, and only `end` makes it wrong, with the lock.
        let marked = self.descriptor.load(Ordering::Relaxed);
        let kind = if marked & OTHER == 0 {
            Kind::Socket
        } else {
            Kind::Other
        };
        (marked != NO_DESCRIPTOR).then_some(((marked & !OTHER) as RawFd, kind))
    }

    /// Of the socket that has it now.
    pub(crate) fn token(&self) -> Token {
        Token::new(self.index, self.read.generation())
    }

    fn note(&self, generation: Generation, happened: Happened) {
        if happened.readable {
            self.read.note(generation, happened.read_closed);
        }
        if happened.writable {
            self.write.note(generation, happened.write_closed);
        }
    }
}

/// All slots, of this process and, in a forked child, those of the sockets that it has inherited.
pub(crate) struct Slots {
    parts: [OnceLock<Box<[Slot]>>; PARTS],
    /// All from here on have never been used.
    unused: UnmodelledU32,
}

static SLOTS: Slots = Slots {
    parts: [const { OnceLock::new() }; PARTS],
    unused: UnmodelledU32::new(0),
};

/// What a process has of the table to itself.
struct Own {
    /// Slots that were used, and that no socket has now.
    free: Mutex<Vec<u32>>,
    /// Before its first socket. What a forked child has inherited is older.
    began: Moment,
}

per_process! {
    fn own() -> Own = Own {
        free: Mutex::new(Vec::new()),
        began: Moment::real_now(),
    }
}

/// The slots.
#[inline(always)]
pub(crate) fn slots() -> &'static Slots {
    &SLOTS
}

/// In which part a slot is, and where that begins.
fn part_of(index: u32) -> (usize, u32) {
    let part = (index / FIRST + 1).ilog2();
    (part as usize, FIRST * ((1 << part) - 1))
}

impl Slots {
    fn at(&self, index: u32) -> Option<&Slot> {
        let (part, begin) = part_of(index);
        self.parts.get(part)?.get()?.get((index - begin) as usize)
    }

    fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.parts.iter().filter_map(OnceLock::get).flatten()
    }

    /// Those that this process has begun to use. (Of those that it has inherited, another thread of its parent's may have
    /// had the lock when it was forked, and then it stays locked here.)
    pub(crate) fn begun_here(&self) -> impl Iterator<Item = &Slot> {
        let began = own().began;
        self.iter().filter(move |slot| slot.since() >= began)
    }

    /// One for a new socket.
    pub(crate) fn take(&'static self) -> &'static Slot {
        let again = own().free.lock().pop();
        // Relaxed: each number once.
        let index = again.unwrap_or_else(|| self.unused.fetch_add(1, Ordering::Relaxed));
        let (part, begin) = part_of(index);
        if self.parts[part].get().is_none() {
            let end = begin + FIRST * (1 << part);
            // Another thread may have been quicker.
            let _made = self.parts[part].set((begin..end).map(Slot::new).collect());
        }
        self.at(index).expect("its part is there")
    }

    /// Its socket is gone, and nobody waits for it.
    pub(crate) fn give_back(&self, slot: &Slot) {
        slot.read.begin_anew();
        slot.write.begin_anew();
        own().free.lock().push(slot.index);
    }

    /// Something has happened at a socket.
    pub(crate) fn note(&self, token: Token, happened: Happened) {
        if let Some(slot) = self.at(token.index()) {
            slot.note(token.generation(), happened);
        }
    }

    /// Nobody polls these any more: those that wait for it try again, and find another one.
    pub(crate) fn leave(&self, registry: &Registry) {
        let registered = self.iter().filter(|slot| slot.registration().is_here());
        for slot in registered {
            let mut at = slot.registry.lock();
            if at.as_deref().is_some_and(|at| std::ptr::eq(at, registry)) {
                *at = None;
                slot.set_registration(None);
                drop(at);
                if gossamer_core::mutant!("end_of_a_poller_untold") {
                    continue;
                }
                let generation = slot.read.generation();
                slot.read.note(generation, false);
                slot.write.note(generation, false);
            }
        }
    }
}
