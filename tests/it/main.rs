//! The cross-crate suite: one test binary, so that it links once.
//!
//! * [`mvar`]: every rule of `MVar`, in both flavours, on the deterministic scheduler.
//! * [`conform`]: what every primitive promises to every pair of task, fiber and thread, under every model and on sim.
//! * [`models`]: the same bodies under every model.
//! * [`time`]: sleeps, timeouts and intervals, on the virtual clock and under every model.
//! * [`single`]: the runtime of the model M:1, on real threads.
//!
//! Every random failure prints the seed that runs it again.
#![forbid(unsafe_code)]

mod flavour;
mod hand;
mod tally;

mod conform;
mod models;
mod mvar;
mod single;
mod time;
