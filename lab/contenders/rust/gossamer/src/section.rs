//! A critical section for a program of one thread: it keeps nobody out, as nobody is there.
//!
//! This is what a single-core chip has, less the two instructions that keep interrupts out. It is sound here because
//! this program enters sections in the ring `fixed-one-core` alone, which runs on the main thread and has no other.

use std::sync::atomic::{Ordering, compiler_fence};

use critical_section::{Impl, RawRestoreState, set_impl};

struct OneThread;

// SAFETY: one thread enters sections, and no signal handler does. The fences tell the compiler what a chip's
// instructions tell it: words are read after the section began, and written before it ends.
unsafe impl Impl for OneThread {
    unsafe fn acquire() -> RawRestoreState {
        compiler_fence(Ordering::SeqCst);
    }

    unsafe fn release(_state: RawRestoreState) {
        compiler_fence(Ordering::SeqCst);
    }
}

set_impl!(OneThread);
