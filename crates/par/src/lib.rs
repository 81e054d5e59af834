//! Computing in parallel: by jobs on the stack, which threads that have nothing to do steal.
//!
//! An internal part of `gossamer-rt`: nothing is promised of this crate alone.
//!
//! * [`Team`]: the threads that compute together for one runtime. It asks the runtime ([`Helpers`]) for more of them.
//! * [`join`]: two closures, perhaps at the same time; all else is made of it.
//! * [`Items`]: what can be split: slices, ranges, chunks; [`map()`], [`for_each`], [`reduce`] go over them.
//! * [`sort_unstable_by`], [`sort_by`].
//! * [`Handed`]: a computation that a helper carries out while a fiber or task waits for it.
//!
//! # Protocol
//! A thread that computes is a *member* of its runtime's team, and has a deque. [`join`] pushes its second closure there
//! as a job (`job.rs`), runs the first, and pops the job again. If it is gone, another member has stolen it; until that
//! has run it, the thread steals and runs other jobs, and sleeps when there are none.
//!
//! A fiber or a task hands its computation over to a helper of its own, and waits (`handed.rs`).
//!
//! Members that compute or look for jobs are *busy*; there are to be as many as the runtime has workers. A push that
//! finds fewer wakes a sleeping member, or asks for a helper: a task that looks for jobs, and ends when there are none.
//! So helpers are scheduled, moved and counted as all tasks are, and a runtime without computations has none of them.
//!
//! *The race it fears:* a job is pushed just after a member's last look, and the pusher believes that member busy.
//!
//! *Why it cannot be:* the pusher writes the job, has the light fence, and reads how many are busy. A member that leaves
//! or sleeps first counts itself out, has the heavy fence, and looks at all deques again. One of the two sees the other. (A
//! surplus helper does not look: enough others are busy. What it misses costs time, as every owner runs its own jobs.)

mod handed;
mod help;
mod in_parts;
mod items;
mod job;
mod map;
mod member;
mod sort;
mod team;

pub use self::handed::{Handed, compute, inside};
pub use self::in_parts::{for_each, reduce};
pub use self::items::{Chunks, ChunksMut, IntoItems, Items, chunks, chunks_mut};
pub use self::map::map;
pub use self::member::{is_inside, join};
pub use self::sort::{sort_by, sort_unstable_by};
pub use self::team::{Help, Helpers, Team, current_team, find_team_by};
