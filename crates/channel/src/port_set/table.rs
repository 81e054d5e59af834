//! The places of a set, and the ports in them.
//!
//! A place is *announced* when its port may have something: then its index is in the queue, once, or with somebody who
//! has taken it from there and is about to look. A place whose port has gone may still be announced, and so may the
//! next port in it: looking at one that has nothing does no harm.

use std::mem;

use gossamer_core::door::UnsafeCell;
use gossamer_core::policy::Word;
use gossamer_core::waiter::Deferred;

use super::Key;
use super::port::Placed;
use crate::mpmc::fetch;
use crate::spsc::raw::Flavour;

/// The places, under a lock of their own. The locks of the ports' channels are taken inside it.
pub(super) struct Table<T, P: Flavour> {
    word: P::Word,
    places: UnsafeCell<Places<T, P>>,
}

/// The places.
pub(super) struct Places<T, P: Flavour> {
    all: Vec<Place<T, P>>,
    /// The first one that is free, or [`NONE`].
    free: u32,
}

struct Place<T, P: Flavour> {
    /// How many ports it has had before.
    generation: u32,
    content: Content<T, P>,
}

enum Content<T, P: Flavour> {
    Port(Placed<T, P>),
    Free { next: u32, announced: bool },
}

/// No place.
const NONE: u32 = u32::MAX;

impl<T, P: Flavour> Table<T, P> {
    pub(super) fn new(word: P::Word) -> Self {
        let places = Places {
            all: Vec::new(),
            free: NONE,
        };
        Self {
            word,
            places: UnsafeCell::new(places),
        }
    }

    /// Does something under the lock; no user code.
    #[inline(always)]
    pub(super) fn with<R>(&self, act: impl FnOnce(&mut Places<T, P>) -> R) -> R {
        let bits = self.word.lock();
        // SAFETY: under the lock, and not again inside `act`: that is no user code.
        let output = self.places.with_mut(|places| act(unsafe { &mut *places }));
        self.word.unlock(bits);
        output
    }

    /// A place for a port; memory is asked for without the lock.
    pub(super) fn reserve(&self) -> u32 {
        let mut larger = Vec::new();
        loop {
            let place = self.with(|places| places.take_free(&mut larger));
            match place {
                Ok(index) => return index,
                Err(places) => larger = Vec::with_capacity(places),
            }
        }
    }
}

impl<T, P: Flavour> Places<T, P> {
    /// A free place, taken; or how much memory `larger` should have. It is swapped for what there was.
    fn take_free(&mut self, larger: &mut Vec<Place<T, P>>) -> Result<u32, usize> {
        if let Some(place) = self.all.get(self.free as usize) {
            let index = self.free;
            if let Content::Free { next, .. } = place.content {
                self.free = next;
            }
            return Ok(index);
        }
        if self.all.len() == self.all.capacity() {
            if larger.capacity() <= self.all.len() {
                return Err((2 * self.all.len()).max(4));
            }
            larger.append(&mut self.all);
            mem::swap(larger, &mut self.all);
        }
        let index = u32::try_from(self.all.len()).ok().filter(|at| *at != NONE);
        self.all.push(Place {
            generation: 0,
            content: Content::Free {
                next: NONE,
                announced: false,
            },
        });
        Ok(index.expect("a set has fewer than four thousand million ports"))
    }

    /// Puts a port into a place that has been taken; also whether the place is announced.
    pub(super) fn fill(&mut self, index: u32, placed: Placed<T, P>) -> (Key, &Placed<T, P>, bool) {
        let place = &mut self.all[index as usize];
        let announced = matches!(
            place.content,
            Content::Free {
                announced: true,
                ..
            }
        );
        place.content = Content::Port(placed);
        let Content::Port(placed) = &place.content else {
            unreachable!("it has just been put there");
        };
        let generation = place.generation;
        (Key { index, generation }, placed, announced)
    }

    /// The port whose place was announced, and its key; none: the place is free, and no longer announced.
    #[inline(always)]
    pub(super) fn look(&mut self, index: u32) -> Option<(Key, &mut Placed<T, P>)> {
        let place = &mut self.all[index as usize];
        match &mut place.content {
            Content::Port(placed) => {
                let generation = place.generation;
                Some((Key { index, generation }, placed))
            }
            Content::Free { announced, .. } => {
                *announced = false;
                None
            }
        }
    }

    /// Has the processor fetch the port in this place, as it is its turn soon.
    #[inline(always)]
    pub(super) fn fetch_place(&self, index: u32) {
        if let Some(place) = self.all.get(index as usize) {
            fetch(place);
        }
    }

    /// The same of the port's channel.
    #[inline(always)]
    pub(super) fn fetch(&self, index: u32) {
        if let Content::Port(placed) = &self.all[index as usize].content {
            placed.fetch();
        }
    }

    /// Whether the port is there.
    pub(super) fn has(&self, key: Key) -> bool {
        let place = self.all.get(key.index as usize);
        place.is_some_and(|place| {
            place.generation == key.generation && matches!(place.content, Content::Port(_))
        })
    }

    /// Takes a port out, which is there; `looked`: the caller has taken the place from the queue.
    pub(super) fn take(&mut self, index: u32, looked: bool) -> Placed<T, P> {
        let place = &mut self.all[index as usize];
        let free = Content::Free {
            next: self.free,
            announced: false,
        };
        let Content::Port(placed) = mem::replace(&mut place.content, free) else {
            unreachable!("the caller has seen a port there");
        };
        let is_announced = placed.leave(looked);
        if let Content::Free { announced, .. } = &mut place.content {
            *announced = is_announced && !gossamer_core::mutant!("port_announced_twice");
        }
        place.generation = place.generation.wrapping_add(1);
        self.free = index;
        placed
    }

    /// A sender that waits for what a look at this port has taken.
    pub(super) fn let_sender_go(&self, key: Key) -> Option<(Deferred, bool)> {
        match &self.all.get(key.index as usize)?.content {
            Content::Port(placed) if self.has(key) => placed.let_sender_go(),
            _ => None,
        }
    }

    /// Takes all ports' places back; gives what is to be dropped without the lock.
    pub(super) fn close(&mut self) -> impl Sized + use<T, P> {
        for place in &self.all {
            if let Content::Port(placed) = &place.content {
                placed.leave(false);
            }
        }
        mem::take(&mut self.all)
    }
}
