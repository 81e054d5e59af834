//! The one platform to atomics, cells, locks and threads.
//!
//! Everything above asks here, so that loom can stand behind it: with `--cfg loom` the same code
//! runs on loom's types and every interleaving is explored. With `--cfg shuttle` it runs on shuttle's, and many
//! interleavings are tried at random. Without the feature `std` only the parts that need no operating system are
//! left.

#[cfg(all(
    feature = "std",
    target_family = "wasm",
    not(target_feature = "atomics")
))]
compile_error!("gossamer needs threads, which this target does not have: build for another one");
#[cfg(all(feature = "std", not(target_has_atomic = "64")))]
compile_error!(
    "gossamer needs atomics of 64 bits, which this target does not have: build for another one"
);

/// Like [`UnmodelledU32`], for a pointer that is set once.
pub use core::sync::atomic::AtomicPtr as QuietPtr;
/// A word that one thread writes, with `Relaxed`, and of which others read only bits that never change; or a
/// counter of the whole process. loom has nothing to find there, and every access it knows of multiplies its work.
pub use core::sync::atomic::AtomicU32 as UnmodelledU32;
/// Like [`UnmodelledU32`], for counts that other threads may read.
#[cfg(target_has_atomic = "64")]
pub use core::sync::atomic::{AtomicI64 as UnmodelledI64, AtomicU64 as UnmodelledU64};

#[cfg(loom)]
mod loomed;
#[cfg(loom)]
pub use loomed::*;
#[cfg(loom)]
pub mod model;

#[cfg(shuttle)]
mod shuttled;
#[cfg(shuttle)]
pub use shuttled::*;

#[cfg(not(loom))]
mod plain;
#[cfg(not(loom))]
pub use plain::*;

#[cfg(all(feature = "std", not(any(loom, shuttle))))]
mod system;
#[cfg(all(feature = "std", not(any(loom, shuttle))))]
pub use system::*;

#[cfg(all(feature = "std", not(any(loom, shuttle))))]
mod forks;
#[cfg(all(feature = "std", not(any(loom, shuttle))))]
pub use forks::*;

#[cfg(all(feature = "std", not(any(loom, shuttle))))]
mod fences;
#[cfg(all(feature = "std", not(any(loom, shuttle))))]
pub use fences::*;

#[cfg(feature = "std")]
mod backoff;
#[cfg(feature = "std")]
pub use backoff::Backoff;

#[cfg(all(
    feature = "std",
    target_os = "linux",
    not(any(loom, shuttle, gossamer_portable))
))]
pub mod asleep;

#[cfg(feature = "std")]
mod permit;
#[cfg(feature = "std")]
pub use permit::Permit;

#[cfg(feature = "std")]
mod processor;
#[cfg(feature = "std")]
pub use processor::{counter, has_counter, prefetch, prefetch_around};

#[cfg(feature = "std")]
mod start;
#[cfg(feature = "std")]
pub use start::{Started, call_at_end_of_threads, is_started_here, start_thread, start_to_join};

#[cfg(feature = "std")]
mod thread_look;
#[cfg(feature = "std")]
pub use thread_look::{ThreadLook, ThreadNumber};
