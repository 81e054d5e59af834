//! Stacks out of reservations: addresses that cost memory only where they are touched.
//!
//! ```text
//!   a reservation of the class of 64 KiB       (one mapping)
//!   ┌───────┬─────────────────┬───────┬─────────────────┬───────┬── … ──┐
//!   │ guard │      stack      │ guard │      stack      │ guard │       │
//!   └───────┴─────────────────┴───────┴─────────────────┴───────┴── … ──┘
//!    64 KiB            grows ◀┤label
//! ```
//!
//! A class has the stacks of one size, which is a power of two. Its first reservation is for few stacks, each later one
//! for twice as many, so that a million stacks are some tens of mappings. A stack gets its guard when it is first used,
//! and keeps it: a mark in the page table (Linux 6.13), or, where the kernel has none, a mapping of its own.
//!
//! Who needs a stack takes the one that was given back last, which is in the caches: first the one that its thread has
//! kept, without a lock. So many are kept as they are; the memory of others is given back to the system, and only their
//! addresses are kept.

use std::cell::Cell;
use std::io;
use std::mem;
use std::ptr;

use corosensei::stack::valgrind::ValgrindStackRegistration;
use corosensei::stack::{Stack as CorosenseiStack, StackPointer};
use gossamer_core::platform::{Mutex, per_process, thread_local};

use super::label::Label;
pub(crate) use super::overflow::watch_thread;
use super::overflow::{self, GUARD};

/// The smallest class: a page at least, which has 64 KiB on some machines.
const SMALLEST: usize = match cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
    true => 16 << 10,
    false => 64 << 10,
};
/// Each edge is that of a page, which has so many bytes at least.
const LEAST_PAGE: usize = 4 << 10;
const CLASSES: usize = usize::BITS as usize - SMALLEST.trailing_zeros() as usize;
/// The first reservation of a class has about so many bytes, and one of a large class a single stack.
const FIRST_BYTES: usize = 16 << 20;
/// No reservation has more bytes, unless a stack does: 16 GiB, where there are as many addresses.
const MOST_BYTES: usize = match usize::BITS {
    64 => FIRST_BYTES << 10,
    _ => FIRST_BYTES,
};
/// So many stacks of a class that are not used keep their memory, and so many bytes at most.
const WARM: usize = 1_024;
const WARM_BYTES: usize = 256 << 20;
/// A thread keeps no larger one.
const LARGEST_KEPT: usize = WARM_BYTES / WARM;
/// `MADV_GUARD_INSTALL`, which is not in every `libc` yet; and what no system knows.
const GUARD_INSTALL: libc::c_int = 102;
const UNKNOWN: libc::c_int = 0x7fff;

/// Stacks begin at the edge of a page, so that what is on top of each would meet in the same few sets of a cache. So
/// they begin at so many depths below the edge, this many bytes apart.
const DEPTHS: usize = 16;
const DEPTH: usize = 192;

per_process! {
    /// By size.
    fn stacks() -> [Mutex<Class>; CLASSES] = {
        overflow::handle();
        [const { Mutex::new(Class::NEW) }; CLASSES]
    }
}

/// The unused stacks of a size, each by its edge: the address where it ends.
struct Class {
    /// Not long ago in use, the last one at the end.
    warm: Vec<StackPointer>,
    /// Their memory is the system's.
    cold: Vec<StackPointer>,
    /// Of the newest reservation: where the next stack begins, which has never been used, and where the reservation ends.
    fresh: usize,
    end: usize,
    /// How many stacks the next reservation has; 0: as many as fit the first.
    next: usize,
    /// Whether the system says so if it does not know a mark for guards: an emulator may say yes to everything.
    refuses: bool,
}

thread_local! {
    /// The stack that this thread gave back last. Who spawns one fiber after the other needs no other one.
    static LAST: Cell<Option<Unused>> = const { Cell::new(None) };
}

/// An unused stack, which goes to its class when it is dropped: its edge, and its class in bits of that which are zero.
struct Unused(StackPointer);

/// A stack, which is given back when it is dropped: its base, and its class in bits of that which are zero.
pub(crate) struct Stack(StackPointer);

/// Each base is a multiple of this.
const ALIGNED: usize = 64;
const _: () = assert!(
    CLASSES <= ALIGNED
        && Label::PLACE.is_multiple_of(ALIGNED)
        && DEPTH.is_multiple_of(ALIGNED)
        && Label::PLACE + DEPTHS * DEPTH <= LEAST_PAGE
);

impl Stack {
    fn new(edge: StackPointer, class: usize) -> Self {
        let number = edge.get() / overflow::slot(SMALLEST << class);
        // Every 32nd stack has its edge on the same page of the caches: `number / 32` gives each of those another depth.
        let depth = (number + number / 32) % DEPTHS * DEPTH;
        let base = edge.get() - Label::PLACE - depth;
        Self(StackPointer::new(base).expect("below the edge is a stack") | class)
    }

    fn class(&self) -> usize {
        self.0.get() % ALIGNED
    }

    /// Where it ends, which is the edge of a page.
    fn edge(&self) -> StackPointer {
        StackPointer::new(self.0.get().next_multiple_of(LEAST_PAGE)).expect("below it is a stack")
    }

    fn bytes(&self) -> usize {
        SMALLEST << self.class()
    }
}

// SAFETY: the guard catches an overflow; beside it there are at least `SMALLEST` bytes.
unsafe impl CorosenseiStack for Stack {
    // A switch asks for it.
    #[inline(always)]
    fn base(&self) -> StackPointer {
        // SAFETY: a base is no class.
        unsafe { StackPointer::new_unchecked(self.0.get() - self.class()) }
    }

    fn limit(&self) -> StackPointer {
        let limit = self.edge().get() - overflow::slot(self.bytes());
        StackPointer::new(limit).expect("stacks are not at address 0")
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let mut last = Some(Unused(self.edge() | self.class()));
        if self.bytes() <= LARGEST_KEPT {
            // It stays in the place of the one before. (While the thread ends, there is none.)
            let _kept = LAST.try_with(|kept| last = kept.replace(last.take()));
        }
    }
}

impl Unused {
    fn class(&self) -> usize {
        self.0.get() % LEAST_PAGE
    }

    fn edge(&self) -> StackPointer {
        StackPointer::new(self.0.get() - self.class()).expect("below it is a stack")
    }
}

impl Drop for Unused {
    fn drop(&mut self) {
        give_back(self.class(), self.edge());
    }
}

/// A stack of at least so many bytes.
pub(super) fn take(bytes: usize, label: Label) -> io::Result<Stack> {
    let class = class_of(bytes).ok_or(io::ErrorKind::OutOfMemory)?;
    let class = usize::from(class);
    let edge = match LAST.try_with(Cell::take) {
        Ok(Some(last)) if last.class() == class => mem::ManuallyDrop::new(last).edge(),
        _ => take_edge(class)?,
    };
    let place = ptr::with_exposed_provenance_mut::<Label>(edge.get() - Label::PLACE);
    // SAFETY: the highest bytes of a stack that nobody else has, and aligned.
    unsafe { place.write(label) };
    Ok(Stack::new(edge, class))
}

/// The class of the stacks that have at least so many bytes.
fn class_of(bytes: usize) -> Option<u8> {
    let size = bytes.max(SMALLEST).checked_next_power_of_two()?;
    Some((size.trailing_zeros() - SMALLEST.trailing_zeros()) as u8)
}

impl Class {
    const NEW: Self = Self {
        warm: Vec::new(),
        cold: Vec::new(),
        fresh: 0,
        end: 0,
        next: 0,
        refuses: false,
    };
}

/// An unused stack, by its edge.
fn take_edge(class: usize) -> io::Result<StackPointer> {
    let mut stacks = self::stacks()[class].lock();
    if let Some(edge) = stacks.warm.pop().or_else(|| stacks.cold.pop()) {
        return Ok(edge);
    }
    let size = SMALLEST << class;
    let slot = overflow::slot(size);
    if stacks.fresh == stacks.end {
        reserve(&mut stacks, size)?;
    }
    let guard = stacks.fresh;
    install_guard(guard, stacks.refuses)?;
    stacks.fresh += slot;
    drop(stacks);
    // It stays a stack.
    let start = ptr::with_exposed_provenance_mut(guard);
    mem::forget(ValgrindStackRegistration::new(start, slot));
    Ok(StackPointer::new(guard + slot).expect("a reservation is not at address 0"))
}

/// Reserves addresses for more stacks.
fn reserve(stacks: &mut Class, size: usize) -> io::Result<()> {
    let slot = overflow::slot(size);
    let [first, most] = [FIRST_BYTES, MOST_BYTES].map(|bytes| (bytes / slot).max(1));
    let mut count = stacks.next.clamp(first, most);
    // A process may have a limit of addresses, which is not for stacks alone.
    let start = loop {
        match map(count * slot) {
            Ok(start) => break start,
            Err(error) if count == 1 => return Err(error),
            Err(_) if count > first => count = first,
            Err(_) => count /= 2,
        }
    };
    if let Err(error) = overflow::know(start, count * slot, size) {
        // SAFETY: it was mapped just now, and nobody knows of it.
        unsafe { libc::munmap(ptr::with_exposed_provenance_mut(start), count * slot) };
        return Err(error);
    }
    (stacks.fresh, stacks.end) = (start, start + count * slot);
    // SAFETY: pages of a mapping of ours that nobody uses; nothing is asked for.
    stacks.refuses =
        unsafe { libc::madvise(ptr::with_exposed_provenance_mut(start), GUARD, UNKNOWN) } != 0;
    stacks.next = count * 2;
    Ok(())
}

/// Maps memory that is there when it is touched.
fn map(bytes: usize) -> io::Result<usize> {
    let (access, flags) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK,
    );
    // SAFETY: a new mapping, wherever the system likes.
    let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // A stack that is used a little must not cost two megabytes. If the kernel has no such pages, it refuses this.
    // SAFETY: the mapping is ours.
    unsafe { libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE) };
    Ok(start.expose_provenance())
}

/// Makes the pages from `guard` on ones that nobody may touch: by marks, if the system would say that it has none.
fn install_guard(guard: usize, refuses: bool) -> io::Result<()> {
    let start = ptr::with_exposed_provenance_mut(guard);
    if gossamer_core::mutant!("stack_without_guard") {
        return Ok(());
    }
    // SAFETY: pages of a mapping of ours that nobody uses.
    if refuses && unsafe { libc::madvise(start, GUARD, GUARD_INSTALL) } == 0 {
        return Ok(());
    }
    // SAFETY: as above.
    if unsafe { libc::mprotect(start, GUARD, libc::PROT_NONE) } == 0 {
        return Ok(());
    }
    Err(io::Error::last_os_error())
}

/// The stack is unused.
fn give_back(class: usize, edge: StackPointer) {
    let size = SMALLEST << class;
    let mut stacks = self::stacks()[class].lock();
    if stacks.warm.len() < WARM.min(WARM_BYTES / size).max(1)
        || gossamer_core::mutant!("stacks_stay_warm")
    {
        stacks.warm.push(edge);
        return;
    }
    drop(stacks);
    let bytes = overflow::slot(size) - GUARD;
    let start = ptr::with_exposed_provenance_mut(edge.get() - bytes);
    // SAFETY: the memory of a stack that nobody uses. (If the system refuses that, it keeps its memory.)
    unsafe { libc::madvise(start, bytes, libc::MADV_DONTNEED) };
    self::stacks()[class].lock().cold.push(edge);
}

#[cfg(test)]
mod tests;
