//! Features of the processor beyond the language: a counter of time as good as a clock, and hints to its caches.

/// How far the processor's count is: a few nanoseconds' work, where the system's clock takes some twenty-five.
///
/// It counts at a constant rate, unknown here, on all processors alike; `None` where it is not sure to.
#[inline(always)]
pub fn counter() -> Option<u64> {
    #[cfg(all(
        target_arch = "x86_64",
        not(any(loom, shuttle, miri, gossamer_portable))
    ))]
    if tsc::is_invariant() {
        return Some(tsc::read());
    }
    None
}

/// Whether there is such a count. Reading it takes as long as some dozens of instructions; asking this does not.
#[inline(always)]
pub fn has_counter() -> bool {
    #[cfg(all(
        target_arch = "x86_64",
        not(any(loom, shuttle, miri, gossamer_portable))
    ))]
    if tsc::is_invariant() {
        return true;
    }
    false
}

/// Hints that the value is used soon: the processor starts to load it into its caches.
#[inline(always)]
pub fn prefetch<T>(soon: &T) {
    prefetch_around(core::ptr::NonNull::from(soon), 0, size_of::<T>());
}

/// Hints that what lies around this address is used soon: so many bytes before it, and as many from it on.
#[inline(always)]
pub fn prefetch_around<T>(soon: core::ptr::NonNull<T>, before: usize, from: usize) {
    #[cfg(all(target_arch = "x86_64", not(any(miri, gossamer_portable))))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let first = soon.as_ptr().cast::<i8>().wrapping_sub(before);
        for line in (0..before + from).step_by(64) {
            // SAFETY: a hint; the processor ignores an address that it cannot load.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(line)) };
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(any(miri, gossamer_portable)))))]
    let _ = (soon, before, from);
}

#[cfg(all(
    target_arch = "x86_64",
    not(any(loom, shuttle, miri, gossamer_portable))
))]
mod tsc {
    //! The time stamp counter (Intel's manual, volume 3, 17.17; AMD's, volume 2, 13.2.4).

    use core::arch::x86_64::{__cpuid, _rdtsc};

    use crate::platform::UnmodelledU32;
    use crate::platform::atomic::Ordering;

    const UNKNOWN: u32 = 0;
    const NO: u32 = 1;
    const YES: u32 = 2;

    static INVARIANT: UnmodelledU32 = UnmodelledU32::new(UNKNOWN);

    /// Whether it counts at the same rate in all states of the processor.
    #[inline(always)]
    pub(super) fn is_invariant() -> bool {
        // Relaxed: whoever asks finds the same.
        match INVARIANT.load(Ordering::Relaxed) {
            UNKNOWN => ask(),
            known => known == YES,
        }
    }

    #[cold]
    fn ask() -> bool {
        const POWER: u32 = 0x8000_0007;
        const INVARIANT_TSC: u32 = 1 << 8;
        let highest = __cpuid(0x8000_0000).eax;
        let is = highest >= POWER && __cpuid(POWER).edx & INVARIANT_TSC != 0;
        // Relaxed: as above.
        INVARIANT.store(if is { YES } else { NO }, Ordering::Relaxed);
        is
    }

    #[inline(always)]
    pub(super) fn read() -> u64 {
        // SAFETY: every x86-64 processor has it; where a system forbids it, no program gets so far, as the C
        // library's clock reads it too.
        unsafe { _rdtsc() }
    }
}
