//! The vocabulary of Gossamer, with no policy in it.
//!
//! An internal part of `gossamer-rt`: nothing is promised of this crate alone.
//!
//! * [`platform`]: the one way to atomics, threads and thread-locals (std, or loom or shuttle behind it).
//! * [`header`]: what every task begins with, and the table of its states.
//! * [`waker`]: the one waker vtable; how a wake finds the task's shard.
//! * [`context`]: what the current thread is running, and the tasks woken meanwhile.
//! * [`shard`]: where tasks of one runtime live: the inbox other threads write to.
//! * [`wait_queue`]: how operations wait for an object, and how they are woken.
//! * [`waiter`]: the node inside a waiting operation, and the list of them inside a primitive.
//! * [`policy`]: the lock around a primitive: none ([`policy::Local`]) or atomic ([`policy::Shared`]).
//! * [`moment`]: points in time; the crate `time` has the timers.
//! * [`group`]: what makes at most one branch of a select take effect.
//! * [`poller`]: sleeping until the system has something to tell.
//! * [`wait`]: finishing an operation from an OS thread.
//! * `waits`: who waits for what, for tests that hang.
//! * [`roll_call`]: who waits for what, as all say when they are asked; [`dump`], as it is told.
//! * [`recording`]: since when they wait, and who holds a lock, where somebody asks for that beforehand.
//! * `sleepers`: whether all threads of the process sleep.
//! * [`fork`]: what is refused in a forked child.
//! * [`fixed`]: statically allocated tasks without heap or threads.
//! * [`mutants`]: bugs that show that a gate can fail.
//!
//! Nothing here knows a scheduler: what must wake something holds a waiter, never a worker.
//!
//! # Layers
//!
//! Each uses those before it, file by file (`cargo xtask tidy` finds a cycle):
//!
//! 1. `platform`, `policy`, `moment`;
//! 2. a task's own memory: `header`, its states, counts and lists; the memory of a node;
//! 3. the thread's `context`; the `shard`; `panics` and deferred wakers, which count there;
//! 4. what takes all three, each an `impl` in the file of its concept: `context/waking` and `inside`, the `shard`'s
//!    files, `header/running` and `loan`;
//! 5. `waker`; `waiter`; `wait_queue`; `header/join`, which publishes an output;
//! 6. `dump`, `recording`, `sleepers`, `roll_call`;
//! 7. `fork`, `poller`, `parker`, `wait`.
#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod debug;
#[cfg(not(any(loom, shuttle)))]
pub mod fixed;
pub mod mutants;
pub mod platform;
pub mod policy;
pub mod wait_queue;
pub mod waiter;

#[cfg(feature = "std")]
pub mod context;
#[cfg(not(feature = "std"))]
#[path = "context_bare.rs"]
pub mod context;
#[cfg(feature = "std")]
pub mod dump;
#[cfg(feature = "std")]
pub mod fiber;
#[cfg(feature = "std")]
pub mod fork;
#[cfg(feature = "std")]
pub mod group;
#[cfg(feature = "std")]
pub mod header;
#[cfg(feature = "std")]
pub mod moment;
#[cfg(feature = "std")]
pub mod panics;
#[cfg(feature = "std")]
pub mod parker;
#[cfg(feature = "std")]
pub mod poller;
#[cfg(feature = "std")]
pub mod recording;
#[cfg(not(feature = "std"))]
#[path = "recording_bare.rs"]
pub mod recording;
#[cfg(feature = "std")]
pub mod roll_call;
#[cfg(feature = "std")]
pub mod shard;
#[cfg(all(
    feature = "std",
    target_os = "linux",
    not(any(loom, shuttle, gossamer_portable))
))]
pub mod sleepers;
#[cfg(all(
    feature = "std",
    any(not(target_os = "linux"), loom, shuttle, gossamer_portable)
))]
#[path = "sleepers_bare.rs"]
pub mod sleepers;
#[cfg(feature = "std")]
pub mod wait;
#[cfg(all(feature = "std", not(any(loom, shuttle))))]
pub mod waits;
#[cfg(feature = "std")]
pub mod waker;
#[cfg(not(feature = "std"))]
#[path = "waker_bare.rs"]
mod waker;
