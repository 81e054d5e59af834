//! The cross-crate suite: one test binary, so that it links once.
//!
//! * [`mvar`]: every rule of `MVar`, in both flavours, on the deterministic scheduler.
//! * [`conform`]: what every primitive promises to every pair of task, fiber and thread, under every model and on sim.
//! * [`channel`]: what only one kind of channels promises.
//! * [`every_channel`]: rules, panics and cancelling, over all flavours of channels.
//! * [`every_lock`]: the same over all locks and cells.
//! * [`hanging`]: what a test says that hangs.
//! * [`locks`]: locks and cells.
//! * [`many`]: two hundred that wait for the same, at each primitive.
//! * [`models`]: the same bodies under every model.
//! * [`par`]: computing in parallel.
//! * [`ports`]: sets of receiving ends.
//! * [`pipe`]: pipes, by a protocol that has all that a protocol can have.
//! * [`select`]: whichever of several operations comes first.
//! * [`sim`]: the simulator itself: what it chooses, how time moves, what it finds.
//! * [`simulated`]: programs that know nothing of simulations, in one.
//! * [`sockets`]: operations that wait for the operating system, under every model.
//! * [`time`]: sleeps, timeouts and intervals, on the virtual clock and under every model.
//! * [`single`]: the runtime of the model M:1, on real threads.
//! * [`structure`]: scopes, join sets, cancellation tokens, task-locals, bounded spawning, calls that block.
//!
//! Every random failure prints the seed that runs it again.
#![deny(unsafe_code)]
// What only the others use.
#![cfg_attr(gossamer_share, allow(dead_code, unused_imports, unused_macros))]

mod again;
mod bad_wakers;
#[allow(unsafe_code)]
mod contract;
mod exploring;
mod flavour;
mod hand;
mod hanging;
#[path = "../patience.rs"]
mod patience;
mod tally;

mod models;
mod single;

// The others: all together take a minute to compile, which `cargo xtask portable` has not.
#[cfg(not(gossamer_share))]
mod channel;
#[cfg(not(gossamer_share))]
mod conform;
#[cfg(not(gossamer_share))]
mod every_channel;
#[cfg(not(gossamer_share))]
mod every_lock;
#[cfg(not(gossamer_share))]
mod locks;
#[cfg(not(gossamer_share))]
mod many;
#[cfg(not(gossamer_share))]
mod mvar;
#[cfg(not(gossamer_share))]
mod par;
#[cfg(not(gossamer_share))]
mod pipe;
#[cfg(not(gossamer_share))]
mod ports;
#[cfg(not(gossamer_share))]
mod select;
#[cfg(not(gossamer_share))]
mod sim;
#[cfg(not(gossamer_share))]
mod simulated;
#[cfg(not(gossamer_share))]
mod sockets;
#[cfg(not(gossamer_share))]
mod structure;
#[cfg(not(gossamer_share))]
mod time;
