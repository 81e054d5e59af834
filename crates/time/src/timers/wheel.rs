//! The hierarchical timing wheel: who waits for which moment.
//!
//! Varghese and Lauck (SOSP 1987), scheme 7: eight levels of 64 slots. A slot of the lowest level is one *tick* long
//! (65.5 µs), a slot of each other level as long as the whole level below it; 48 bits of ticks and 16 within one
//! reference every moment there is.
//!
//! A timer stands at the level of the highest digit (to the base of 64) in which its tick differs from the time that
//! has *elapsed*, in the slot of that digit. So timers of a lower level come before all those of a higher one, and of
//! the occupied slots of the lowest occupied level the first comes first: finding it takes two looks at bitmaps. When
//! time comes to a slot of a higher level, its timers are moved down (they *cascade*), at most once a level.
//!
//! Ticks only sort: each slot notes the earliest deadline in it, in nanoseconds, and a timer fires by its own. So a
//! lone timer wakes its runner once, on time, whatever its level. A cancelled timer does not correct the note; it may
//! be too early, which costs one look for nothing.
//!
//! A timer that is to fire some time after now is *undated* at first, and dated at the next look (`undated.rs`).
//!
//! All of it is under the lock of the [`Timers`](super::Timers) that own the wheel.

mod undated;

use std::task::Waker;

use gossamer_core::mutant;

use super::clock::{Clock, Look};
use super::node::{Entry, FIRED, Links, NOWHERE};

/// Nanoseconds of a tick, as bits.
pub(super) const TICK_BITS: u32 = 16;
/// Bits of a digit.
const DIGIT_BITS: u32 = 6;
const SLOTS: usize = 1 << DIGIT_BITS;
const LEVELS: usize = 8;

/// The most wakers that are taken out, and timers that are moved, while the lock is held once.
pub(super) const AT_ONCE: usize = if cfg!(any(loom, shuttle)) { 1 } else { 32 };

/// The slot of timers that are not dated yet, after all others.
const FRESH: usize = LEVELS * SLOTS;

#[derive(Debug)]
pub(super) struct Wheel {
    clock: Clock,
    /// All timers of earlier ticks have been taken out.
    elapsed: u64,
    /// A slot of a higher level that time has come to, and from which timers are still to be moved down.
    cascading: u16,
    /// How many of the last in the undated slot have no stamp so far, at most.
    unstamped: u16,
    /// The poll in which the last one was registered, as far as its [`stamp`](gossamer_core::context::stamp) tells.
    turn: u16,
    /// By level: which slots have timers. After the last level: whether there are any that are not dated.
    occupied: [u64; LEVELS + 1],
    slots: [Slot; FRESH + 1],
}

/// A list of timers, the first inserted first.
#[derive(Debug, Clone, Copy)]
struct Slot {
    first: Option<Entry>,
    last: Option<Entry>,
    /// No timer in it has an earlier deadline.
    earliest: u64,
}

impl Slot {
    const EMPTY: Self = Self {
        first: None,
        last: None,
        earliest: u64::MAX,
    };
}

/// How far somebody has looked through a wheel.
#[derive(Debug)]
pub(super) struct Cursor {
    /// The slot that comes next.
    place: usize,
    /// The first of the timers that are left in the slot before it.
    next: Option<Entry>,
}

impl Cursor {
    pub(super) const fn new() -> Self {
        Self {
            place: 0,
            next: None,
        }
    }

    /// The lock is given up: the slot begins anew then.
    pub(super) fn begin_slot_anew(&mut self) {
        self.place = self.place.saturating_sub(1);
        self.next = None;
    }
}

/// The wakers of timers that have fired, to be called after the lock is given up.
#[derive(Debug)]
pub(super) struct Due {
    wakers: [Option<Waker>; AT_ONCE],
    len: usize,
}

impl Due {
    pub(super) const fn new() -> Self {
        Self {
            wakers: [const { None }; AT_ONCE],
            len: 0,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.len == AT_ONCE
    }

    fn push(&mut self, waker: Option<Waker>) {
        self.wakers[self.len] = waker;
        self.len += 1;
    }

    /// All of them, in order, taken out.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Waker> {
        let len = std::mem::take(&mut self.len);
        self.wakers[..len].iter_mut().filter_map(Option::take)
    }
}

impl Wheel {
    /// Not a part of registering a timer, for which its size would be the size of the frame.
    #[cold]
    #[inline(never)]
    pub(super) fn new() -> Box<Self> {
        Box::new(Self {
            clock: Clock::new(),
            elapsed: 0,
            cascading: NOWHERE,
            unstamped: 0,
            turn: 0,
            occupied: [0; LEVELS + 1],
            slots: [Slot::EMPTY; FRESH + 1],
        })
    }

    /// The wheel, which is empty, is another runtime's: its time may be an earlier one, if this one's was virtual.
    pub(super) fn begin_anew(&mut self) {
        self.elapsed = 0;
    }

    /// Puts a timer where its deadline belongs.
    ///
    /// # Safety
    /// It is in no wheel.
    ///
    /// # Returns
    /// Its deadline, in nanoseconds; zero if it is not dated.
    #[inline(always)]
    pub(super) unsafe fn insert(&mut self, timer: Entry) -> u64 {
        if timer.links(|links| links.is_dated) {
            return self.insert_dated(timer);
        }
        self.put_last(timer, FRESH);
        self.count_unstamped();
        0
    }

    #[inline(never)]
    fn insert_dated(&mut self, timer: Entry) -> u64 {
        let deadline = timer.links(|links| links.deadline);
        let (level, digit) = self.place_of(deadline);
        self.put_last(timer, level * SLOTS + digit);
        deadline
    }

    /// The level and the digit for a deadline.
    fn place_of(&self, deadline: u64) -> (usize, usize) {
        let tick = (deadline >> TICK_BITS).max(self.elapsed);
        let highest = ((tick ^ self.elapsed) | 1).ilog2() / DIGIT_BITS;
        let digit = (tick >> (highest * DIGIT_BITS)) as usize % SLOTS;
        (highest as usize % LEVELS, digit)
    }

    #[inline(always)]
    fn put_last(&mut self, timer: Entry, place: usize) {
        self.occupied[place / SLOTS] |= 1 << (place % SLOTS);
        let slot = &mut self.slots[place];
        let before = slot.last.replace(timer);
        timer.links(|links| {
            links.next = None;
            links.prev = before;
            links.place = place as u16;
            slot.earliest = slot.earliest.min(links.deadline);
        });
        match before {
            None => slot.first = Some(timer),
            Some(before) => before.links(|links| links.next = Some(timer)),
        }
    }

    /// Takes a timer out; its waker stays with it.
    ///
    /// # Safety
    /// It is in this wheel.
    #[inline(always)]
    pub(super) unsafe fn remove(&mut self, timer: Entry) {
        self.unlink(timer);
    }

    /// Takes a timer out that was found in this wheel.
    #[inline(always)]
    fn unlink(&mut self, timer: Entry) {
        let (next, prev, place) =
            timer.links(|links| (links.next, links.prev, usize::from(links.place)));
        let slot = &mut self.slots[place];
        match prev {
            None => slot.first = next,
            Some(prev) => prev.links(|links| links.next = next),
        }
        match next {
            None => slot.last = prev,
            Some(next) => next.links(|links| links.prev = prev),
        }
        if slot.first.is_none() {
            slot.earliest = u64::MAX;
            self.occupied[place / SLOTS] &= !(1 << (place % SLOTS));
            if place == usize::from(self.cascading) {
                // The timers that come here next are ahead.
                self.cascading = NOWHERE;
            }
        }
    }

    /// Takes the next timer out that is such, in no order, to go on elsewhere.
    pub(super) fn take_such(
        &mut self,
        cursor: &mut Cursor,
        is_such: impl Fn(&Links) -> bool,
    ) -> Option<Entry> {
        let timer = self.find(cursor, is_such)?;
        self.unlink(timer);
        self.date_taken(timer);
        Some(timer)
    }

    /// The next timer that is such, in no order.
    pub(super) fn find(
        &self,
        cursor: &mut Cursor,
        is_such: impl Fn(&Links) -> bool,
    ) -> Option<Entry> {
        loop {
            while let Some(timer) = cursor.next {
                let found = timer.links(|links| {
                    cursor.next = links.next;
                    is_such(links)
                });
                if found {
                    return Some(timer);
                }
            }
            cursor.next = self.slots.get(cursor.place)?.first;
            cursor.place += 1;
        }
    }

    /// The occupied slot that comes first.
    fn first_slot(&self) -> Option<usize> {
        let cascading = usize::from(self.cascading);
        if let Some(slot) = self.slots.get(cascading)
            && slot.first.is_some()
        {
            return Some(cascading);
        }
        let mut dated = self.occupied[..LEVELS].iter();
        let level = if mutant!("wheel_looks_too_high") {
            dated.rposition(|slots| *slots != 0)?
        } else {
            dated.position(|slots| *slots != 0)?
        };
        Some(level * SLOTS + self.occupied[level].trailing_zeros() as usize)
    }

    /// The first tick of a slot.
    fn start_of(&self, place: usize) -> u64 {
        let (level, digit) = ((place / SLOTS) as u32, (place % SLOTS) as u64);
        let shift = level * DIGIT_BITS;
        let above = self.elapsed >> (shift + DIGIT_BITS) << (shift + DIGIT_BITS);
        above | digit << shift
    }

    /// When to look again, in nanoseconds: no timer's deadline is earlier; the highest number if there is none.
    pub(super) fn next(&mut self) -> u64 {
        if self.has_undated() {
            0
        } else {
            self.earliest()
        }
    }

    /// No timer's deadline is earlier than this, in nanoseconds. Those that are not dated are taken for as old as the
    /// first of them.
    pub(super) fn earliest(&mut self) -> u64 {
        let dated = match self.first_slot() {
            None => u64::MAX,
            // A timer that was moved down already may be earlier than those that are left.
            Some(place) if place == usize::from(self.cascading) => 0,
            Some(place) => self.slots[place].earliest,
        };
        let Some(oldest) = self.slots[FRESH].first else {
            return dated;
        };
        self.stamp();
        let stamp = oldest.links(|links| links.stamp);
        dated.min(self.clock.peek().date(stamp, self.slots[FRESH].earliest))
    }

    /// Fires what is due at `now`, in nanoseconds, of what was registered before the first of these calls: takes timers
    /// out and notes their wakers. `look` is of that call.
    ///
    /// # Returns
    /// Whether that was all. If not, give up the lock, wake those, and call again.
    pub(super) fn fire(&mut self, now: u64, look: &mut Option<Look>, due: &mut Due) -> bool {
        let tick = now >> TICK_BITS;
        let mut moves = AT_ONCE;
        if self.has_undated() {
            // Each time: what has come since the look, and has no stamp, is not of before it.
            if look.is_none() || !mutant!("wheel_stamps_once") {
                self.stamp();
            }
            let look = *look.get_or_insert_with(|| self.clock.look());
            if !self.date(&look, &mut moves) {
                return false;
            }
        }
        while let Some(place) = self.first_slot() {
            let start = self.start_of(place);
            if start > tick {
                break;
            }
            self.elapsed = self.elapsed.max(start);
            let all = if place < SLOTS {
                self.fire_slot(place, now, due)
            } else {
                self.cascade(place, &mut moves)
            };
            if !all {
                return false;
            }
            if place < SLOTS && start == tick {
                // The timers that are left in the slot come later in this tick.
                return true;
            }
        }
        self.elapsed = self.elapsed.max(tick);
        true
    }

    /// Fires what is due of a slot of the lowest level; `false` if there was no room for all.
    fn fire_slot(&mut self, place: usize, now: u64, due: &mut Due) -> bool {
        let mut next = self.slots[place].first;
        let mut earliest = u64::MAX;
        while let Some(timer) = next {
            let deadline;
            (next, deadline) = timer.links(|links| (links.next, links.deadline));
            if deadline > now {
                earliest = earliest.min(deadline);
                continue;
            }
            if due.is_full() {
                return false;
            }
            self.unlink(timer);
            // SAFETY: it is in no list any more, and this was the last look at it.
            due.push(unsafe { timer.give_back(FIRED) });
        }
        self.slots[place].earliest = earliest;
        true
    }

    /// Moves the timers of a slot down, to which time has come; `false` if there were more than so many.
    fn cascade(&mut self, place: usize, moves: &mut usize) -> bool {
        self.cascading = place as u16;
        while let Some(timer) = self.slots[place].first {
            if *moves == 0 {
                return false;
            }
            *moves -= 1;
            self.unlink(timer);
            // To a lower level, as its digit is the elapsed one.
            self.insert_dated(timer);
        }
        true
    }

    /// The earliest deadline, exactly, in nanoseconds; time moves on to its tick.
    pub(super) fn advance(&mut self) -> Option<u64> {
        loop {
            let place = self.first_slot()?;
            self.elapsed = self.elapsed.max(self.start_of(place));
            if place >= SLOTS {
                self.cascade(place, &mut { usize::MAX });
                continue;
            }
            let mut next = self.slots[place].first;
            let mut earliest = u64::MAX;
            while let Some(timer) = next {
                let deadline;
                (next, deadline) = timer.links(|links| (links.next, links.deadline));
                earliest = earliest.min(deadline);
            }
            self.slots[place].earliest = earliest;
            return Some(earliest);
        }
    }
}
