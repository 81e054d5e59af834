//! What the Rust contenders share in the workloads about channels: all but the channels, the runtimes and the threads,
//! so that they differ in nothing else.
//!
//! A channel is described by [`Channel`] for tasks and by [`Blocking`] for threads; what the senders and receivers do is
//! made of it once, and the caller runs that where it wants to. Whether its futures may go to another thread is seen
//! where they are spawned, so a channel for one thread fits, too.

#![forbid(unsafe_code)]

mod asked;
mod ports;
mod tasks;
mod threads;

pub use asked::{Asked, Messages};
pub use ports::{Ports, Set, SetMany, from_array, from_set, from_set_at_once};
pub use tasks::{
    Came, Channel, Many, Tasks, Went, one_to_one, ring, to_and_fro, to_one, to_one_at_once, to_set,
    to_several,
};
pub use threads::{
    Blocking, Threads, ring_of_threads, thread_to_thread, threads_to_and_fro, threads_to_one,
    threads_to_several,
};
