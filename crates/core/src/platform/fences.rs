//! Asymmetric fences: for two sides of which one is always in a hurry and the other is about to sleep.
//!
//! Each side writes, has its fence, and reads what the other writes; then at least one of them sees the
//! other. The heavy fence has the system run a full barrier on every thread of the process
//! (`membarrier(2)`, private expedited), so the light one need only keep the compiler from reordering. Where
//! the system cannot, both are full fences.
//!
//! That is found out once. If the system forbids later what it has granted (a seccomp filter), the process ends with a
//! message: a thread may be past its light fence, which no fence of ours makes a full one afterwards.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};

/// Whether the heavy fence reaches other threads; false until that is known.
static REACHES: AtomicBool = AtomicBool::new(false);
/// Set once that has been found out.
static KNOWN: OnceLock<bool> = OnceLock::new();

/// The fence of the side in a hurry.
#[inline(always)]
pub fn light_fence() {
    // Relaxed: if it is true, every heavy fence from then on knows it too (`KNOWN` was set before).
    if REACHES.load(Ordering::Relaxed) {
        compiler_fence(Ordering::SeqCst); // the processor's part is the heavy fence's
    } else {
        light_fence_at_first();
    }
}

#[cold]
#[inline(never)]
fn light_fence_at_first() {
    KNOWN.get_or_init(register);
    fence(Ordering::SeqCst); // pairs with the one in `heavy_fence`
}

/// The fence of the side that is about to sleep. A few microseconds.
pub fn heavy_fence() {
    if *KNOWN.get_or_init(register) {
        reach_all();
    }
    fence(Ordering::SeqCst); // pairs with the one in `light_fence_at_first`
}

/// Whether the light fence is nothing but an order to the compiler, so that [`quick_fence`] may stand for it.
pub fn is_light() -> bool {
    *KNOWN.get_or_init(register)
}

/// The light fence, where it [is light](is_light).
#[inline(always)]
pub fn quick_fence() {
    compiler_fence(Ordering::SeqCst); // pairs with `heavy_fence`, which has the processor's part
}

/// Announces to the system that this process uses the heavy fence; `false` where it cannot.
fn register() -> bool {
    #[cfg(all(target_os = "linux", not(gossamer_portable)))]
    let reaches = {
        use rustix::thread::{MembarrierCommand, membarrier};
        membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
    };
    #[cfg(not(all(target_os = "linux", not(gossamer_portable))))]
    let reaches = false;
    // Relaxed: the caller's `KNOWN` is set after it, but `heavy_fence` asks `KNOWN`, which waits for us.
    REACHES.store(reaches, Ordering::Relaxed);
    reaches
}

/// Has every thread of the process run a full barrier.
fn reach_all() {
    #[cfg(all(target_os = "linux", not(gossamer_portable)))]
    {
        use rustix::thread::{MembarrierCommand, membarrier};
        let reached = membarrier(MembarrierCommand::PrivateExpedited)
            // A forked child is not registered.
            .or_else(|_| {
                membarrier(MembarrierCommand::RegisterPrivateExpedited)?;
                membarrier(MembarrierCommand::PrivateExpedited)
            })
            .or_else(|_| membarrier(MembarrierCommand::Global));
        if reached.is_err() && !crate::mutant!("fence_forbidden_in_silence") {
            std::eprintln!(
                "gossamer: the system forbids membarrier(2), which it had granted before: \
                 has a seccomp filter been installed since? Let the filter allow membarrier, or install it before the \
                 first use; the process ends, as threads would miss each other's wakes"
            );
            std::process::abort();
        }
    }
}
