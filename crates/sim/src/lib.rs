//! Testing a program in many orders of its steps: a failure can be run again, as often as one likes.
//!
//! Use it as `gossamer::sim`, a feature of `gossamer-rt`: nothing is promised of the crate behind it.
//!
//! A simulation runs the same tasks and primitives as production, one at a time, in an order that a seed chooses; its time
//! is virtual. The program need not know: `gossamer::spawn`, `Handle::current()`, scopes, `JoinSet` and timers lead into
//! the simulation that runs.
//!
//! # In one's tests
//!
//! The feature `sim` of `gossamer-rt` belongs among the `dev-dependencies`:
//!
//! ```toml
//! [dev-dependencies]
//! gossamer-rt = { version = "…", features = ["sim"] }
//! ```
//!
//! Then a test of which each run is one order, for each of a thousand seeds:
//!
//! ```
//! use std::sync::Arc;
//! use gossamer::sync::Mutex;
//!
//! async fn transfer(from: &Mutex<u32>, to: &Mutex<u32>) {
//!     let mut from = from.lock().await;
//!     *to.lock().await += *from;
//!     *from = 0;
//! }
//!
//! #[gossamer::test(sim, seeds = 0..1000)]
//! # #[should_panic(expected = "deadlock")]
//! async fn there_and_back() {
//!     let accounts = Arc::new([Mutex::new(1), Mutex::new(2)]);
//!     let theirs = accounts.clone();
//!     let task = gossamer::spawn(async move { transfer(&theirs[1], &theirs[0]).await });
//!     transfer(&accounts[0], &accounts[1]).await;
//!     task.await.expect("no panic");
//! }
//! # fn main() {}
//! ```
//!
//! It fails at the first seed in whose order each has one lock and waits for the other, and says which task waits for what,
//! what happened before, and what to write to run that order alone:
//!
//! ```text
//! simulation with seed 0: deadlock: nothing is enabled, and somebody waits
//!   task 0, the root, waits for Mutex::lock on Mutex #1, called at tests/bank.rs:6:9, held by task 1
//!   task 1, spawned at tests/bank.rs:14:16, waits for Mutex::lock on Mutex #2, called at tests/bank.rs:6:9, held by task 0
//! the last of 7 events:
//!      0 task 0 runs (of 1 enabled)
//!      1 task 1 spawned at tests/bank.rs:14:16
//! …
//! to run it again: #[gossamer::test(sim, seeds = 0..1)]
//! ```
//!
//! `examples/philosophers.rs` goes the whole way: a program that hangs now and then, its seed, the replay, the mended one.
//!
//! | | |
//! | --- | --- |
//! | [`explore`] | the same in a function: a run for each seed, a panic at the first that fails |
//! | [`run`] | one seed; a [`Failure`] instead of a panic |
//! | [`replay`] | a run from a list of choices, as a failure records them |
//! | [`exhaustive`] | all orders there are, of a small program |
//! | [`Sim`] | settings, and these four as its methods |
//! | [`Cell`] | a value whose reads and writes are operations |
//! | [`spawn`] | as `gossamer::spawn`, for a future that need not be `Send` |
//!
//! # What makes a run fail
//!
//! [`Cause`] lists them: a panic of any task, a deadlock, a lost wake-up, no end, and waiting for what is outside.
//!
//! A simulation sees what waits for Gossamer's operations. A simulated thread that sleeps or waits by std's means
//! (`thread::sleep`, a channel of std, a lock of std that another thread holds over a `.wait()`, a system call) keeps all
//! others from running meanwhile. After ten seconds a line on the standard error names it; if it never comes back, nor does
//! the simulation. A simulation waits for its threads to be gone: the destructor of a thread-local that waits in one, for
//! what has not come by then, ends the process with a message (by std's means: it hangs, unnamed).
//!
//! A simulation is a closed world. It does not see real threads (those of `std::thread`, of a runtime outside) nor I/O, and
//! does not wait for them: a task that waits for one is at rest for ever. Threads that belong to the program are started by
//! `gossamer::spawn_thread`, calls that block are made by `gossamer::blocking`; a runtime cannot be built inside.
//!
//! # The rules
//!
//! * Every operation on a primitive is one *scheduling point* before it takes effect: the task gives
//!   way once, and goes on when it is chosen again ([`Sim::without_scheduling_points`] leaves this out).
//! * The next actor is chosen uniformly among the enabled tasks: by a seeded generator ([`run`],
//!   [`explore`]), from a recorded list ([`replay`]), or so that in the end every list of choices
//!   has had its run ([`exhaustive`]).
//! * With [`Sim::only_operations`] the choices are fewer: an actor is a task whose next operation would take effect, and it
//!   takes effect when the task is chosen; whatever is between two operations is done at once. So a program's outcomes have
//!   probabilities (`gossamer::experiment`); but primitives are better tested with the points above, where operations wait.
//! * Time is virtual ([`now`], and all of `gossamer::time`). It moves only when nothing is enabled, to the
//!   next deadline; equal deadlines become enabled together.
//! * *Quiescence*: when nothing is enabled, and a waiter's condition holds, its wake-up was lost
//!   ([`Cause::LostWakeup`]). [`Sim::look_each_step`] looks before each step as well, so that no later event can repair
//!   the loss unseen. When nothing is enabled, and there is no timer, it is a
//!   [`Cause::Deadlock`]. The [`Report`] says who waits for what, and where it was spawned.
//! * A thread that is spawned inside, by `spawn_thread`, `spawn_blocking` or `blocking`, is a *simulated thread*: a real
//!   OS thread, with thread-locals of its own, that runs only while it is chosen. Each `.wait()` of it is what an `.await`
//!   is in a task, its time is virtual, and it counts as a task in reports and traces.
//! * The run ends when the root future does; tasks that are left are dropped, and threads that are left unwind out of
//!   their waits.
//! * A run is a function of its choices, as long as the program is: it must not depend on addresses, on the machine's clock,
//!   or on chance of its own. One that does is found out when it is run again ([`Cause::NonDeterministic`]).
#![deny(unsafe_code)]

// Where to begin reading: `scheduler.rs` (push, pop, idle: all of the rules), `choose.rs` and `chooser.rs`, `world.rs` (tasks), `run.rs` (the
// entry points), `thread.rs` and `relay.rs` (simulated threads), `look.rs` and `report.rs` (what a failure says).
mod cell;
mod choice;
mod choose;
mod chooser;
mod clock;
mod current;
mod draw;
mod each_schedule;
mod experimental;
mod failure;
mod histories;
#[allow(unsafe_code)]
mod look;
mod pct;
mod reduction;
#[allow(unsafe_code)]
mod relay;
mod report;
mod run;
mod scheduler;
mod settings;
mod spawn;
#[allow(unsafe_code)]
mod thread;
mod trace;
mod world;

pub use gossamer_fiber::Fibers;

pub use self::cell::Cell;
pub use self::choice::{Choice, choices};
pub use self::chooser::Reached;
#[doc(hidden)]
pub use self::chooser::{Draw, Weights, is_simulated};
pub use self::clock::now;
#[doc(hidden)]
pub use self::current::Simulation;
#[doc(hidden)]
pub use self::draw::draw;
pub use self::each_schedule::EachSchedule;
#[doc(hidden)]
pub use self::experimental::Search;
pub use self::failure::{Cause, Failure, Origin};
pub use self::report::{Holder, Report, Waits};
pub use self::run::{Explored, Run, exhaustive, explore, replay, run};
#[doc(hidden)]
pub use self::run::{test, test_all};
pub use self::scheduler::SimScheduler;
pub use self::settings::Sim;
pub use self::spawn::{spawn, spawn_fiber};
pub use self::trace::{End, Trace, TraceEvent};
