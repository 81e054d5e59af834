//! The deterministic scheduler: where a newcomer starts, and where every primitive is tested.
//!
//! Use it as `gossamer::sim`, a feature of `gossamer-rt`: nothing is promised of the crate behind it.
//!
//! A simulation runs the same task cells and primitives as production, on one thread, in an order that
//! an oracle chooses. A run is a function of its choices alone, so every failure can be run again.
//!
//! # The rules
//!
//! * Every operation on a primitive is one *scheduling point* before it takes effect: the task gives
//!   way once, and goes on when it is chosen again ([`Sim::without_scheduling_points`] leaves this out).
//! * The next actor is chosen uniformly among the enabled tasks: by a seeded generator ([`run`],
//!   [`explore`]), from a recorded list ([`replay`]), or so that in the end every list of choices
//!   has had its run ([`exhaustive`]).
//! * Time is virtual ([`now`], [`sleep`], and all of `gossamer_time`). It moves only when nothing is enabled, to the
//!   next deadline; equal deadlines become enabled together.
//! * *Quiescence*: when nothing is enabled, and a waiter's condition holds, its wake-up was lost
//!   ([`Cause::LostWakeup`]). [`Sim::look_each_step`] looks before each step as well, so that no later event can repair
//!   the loss unseen. When nothing is enabled, and there is no timer, it is a
//!   [`Cause::Deadlock`]. The [`Report`] says who waits for what, and where it was spawned.
//! * The run ends when the root future does; tasks that are left are dropped.
//!
//! A simulation is a closed world: nothing in it may wait for another OS thread.
//!
//! # Reading order
//!
//! `scheduler.rs` (push, pop, idle: all of the above), `choose.rs`, `world.rs` (clock, trace), `run.rs`
//! (the entry points), `look.rs` and `report.rs` (what a failure says).
//!
//! # Examples
//! ```
//! use std::rc::Rc;
//! use gossamer::sim;
//! use gossamer::local::MVar;
//!
//! sim::explore(0..100, || async {
//!     let mvar = Rc::new(MVar::empty());
//!     let put = sim::spawn({
//!         let mvar = mvar.clone();
//!         async move { mvar.put(7).await }
//!     });
//!     assert_eq!(mvar.take().await, 7);
//!     put.await.expect("the putter does not panic");
//! });
//! ```
#![deny(unsafe_code)]

mod choose;
mod clock;
mod current;
mod failure;
#[allow(unsafe_code)]
mod look;
mod report;
mod run;
mod scheduler;
mod settings;
mod spawn;
mod trace;
mod world;

pub use gossamer_fiber::Fibers;

pub use self::choose::{Choice, choices};
pub use self::clock::{Sleep, now, sleep};
#[doc(hidden)]
pub use self::current::Simulation;
pub use self::failure::{Cause, Failure, Origin};
pub use self::report::{Report, Waits};
#[doc(hidden)]
pub use self::run::test;
pub use self::run::{Explored, Run, exhaustive, explore, replay, run};
pub use self::scheduler::SimScheduler;
pub use self::settings::Sim;
pub use self::spawn::{spawn, spawn_fiber};
pub use self::trace::{End, Trace, TraceEvent};

#[cfg(test)]
mod tests;
