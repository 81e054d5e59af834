//! The readiness of each socket, in a table: an event names its place there.
//!
//! Slots are never freed, only used again, so an event may come at any time. Its token has the socket's generation, and
//! one that is meant for a socket that is gone changes nothing. (A pointer as a token would need the poller's consent
//! before the memory is freed.)

use std::sync::{Arc, OnceLock};

use gossamer_core::platform::{Mutex, per_process};
use gossamer_sync::raw::{Generation, Readiness};

use crate::epoll::{Epoll, Happened};

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
    /// The poller that tells of its events, once it has waited.
    pub(crate) poller: Mutex<Option<Arc<Epoll>>>,
    index: u32,
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

impl Slot {
    fn new(index: u32) -> Self {
        Self {
            read: Direction::new(),
            write: Direction::new(),
            poller: Mutex::new(None),
            index,
        }
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

/// All slots.
pub(crate) struct Slots {
    parts: [OnceLock<Box<[Slot]>>; PARTS],
    free: Mutex<Free>,
}

/// The slots that no socket has.
#[derive(Default)]
struct Free {
    again: Vec<u32>,
    /// All from here on have never been used.
    unused: u32,
}

per_process! {
    fn of_process() -> Slots = Slots {
        parts: [const { OnceLock::new() }; PARTS],
        free: Mutex::new(Free::default()),
    }
}

/// The slots of this process.
#[inline]
pub(crate) fn slots() -> &'static Slots {
    of_process()
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

    /// One for a new socket.
    pub(crate) fn take(&'static self) -> &'static Slot {
        let index = {
            let mut free = self.free.lock();
            free.again.pop().unwrap_or_else(|| {
                free.unused += 1;
                free.unused - 1
            })
        };
        let (part, begin) = part_of(index);
        let part = self.parts[part].get_or_init(|| {
            let end = begin + FIRST * (1 << part);
            (begin..end).map(Slot::new).collect()
        });
        &part[(index - begin) as usize]
    }

    /// Its socket is gone, and nobody waits for it.
    pub(crate) fn give_back(&self, slot: &'static Slot) {
        let is_own = self
            .at(slot.index)
            .is_some_and(|own| std::ptr::eq(own, slot));
        if !is_own {
            // In a forked child: it is the parent's.
            return;
        }
        slot.read.begin_anew();
        slot.write.begin_anew();
        self.free.lock().again.push(slot.index);
    }

    /// Something has happened at a socket.
    pub(crate) fn note(&self, token: Token, happened: Happened) {
        if let Some(slot) = self.at(token.index()) {
            slot.note(token.generation(), happened);
        }
    }

    /// This poller tells of nothing any more: those that wait for it try again, and find another one.
    pub(crate) fn leave(&self, poller: &Epoll) {
        for slot in self.parts.iter().filter_map(OnceLock::get).flatten() {
            let mut at = slot.poller.lock();
            if at.as_deref().is_some_and(|at| std::ptr::eq(at, poller)) {
                *at = None;
                drop(at);
                let generation = slot.read.generation();
                slot.read.note(generation, false);
                slot.write.note(generation, false);
            }
        }
    }
}
