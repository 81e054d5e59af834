//! Random experiments: described once, then simulated, enumerated, or asked for a probability.
//!
//! A description is ordinary code that draws what is random from [`Choices`], and returns an outcome:
//!
//! ```
//! use gossamer::experiment::{Choices, Distribution, Error, Expectation, Simulation};
//!
//! fn roll_3d6(c: &mut Choices) -> u32 {
//!     c.die(6) + c.die(6) + c.die(6)
//! }
//!
//! let once = Simulation::seeded(7).run(roll_3d6)?;
//! assert!((3..=18).contains(&once));
//!
//! let all = Distribution::of(roll_3d6)?;
//! assert_eq!(all.probability(&3).to_string(), "1/216");
//!
//! let good = Expectation::that(roll_3d6, |sum| *sum >= 15)?;
//! assert_eq!(good.probability().to_string(), "5/54");
//! # Ok::<(), Error>(())
//! ```
//!
//! An [`Interpreter`] answers the draws, and so decides what becomes of the description:
//!
//! | | |
//! | --- | --- |
//! | [`Simulation`] | draws at random, from a seed: one outcome, or a histogram of many |
//! | [`Distribution`] | every outcome with its exact probability |
//! | [`Expectation`] | the exact probability of what a condition says |
//! | your own | [`attempt`] runs a description by it |
//!
//! A [`Dist`] is the second form of a description: a value, made of others, in which equal outcomes are one. It is by far
//! quicker where it fits: the sum of a hundred dice has 501 values, and more paths than anybody will run.
//!
//! # Enumeration
//! The second and the third run a description again and again, each time along another path of choices, until there
//! is no other one. So a description must do the same each time but for what it draws. One that does not is found out
//! ([`Error::NotDeterministic`]) if another number of alternatives, or other weights, are drawn from than before; what it
//! does with them nobody looks at. How long they go on has [`Limits`]; beyond those they say how probable the rest is,
//! exactly.
//!
//! They run paths beside each other, on the workers of the runtime that they are called in; what they find does not
//! depend on how many there are. Without a runtime they run on the calling thread alone.
//!
//! # Blocking
//! An enumeration blocks, as the functions of [`gossamer::par`](https://docs.rs/gossamer-rt/latest/gossamer/par/) do: in a
//! task it holds its worker. A simulation is run by the calling thread.
//!
//! # Programs
//! With the feature `sim`, a concurrent program is a random experiment as well, whose dice are the choices of a scheduler:
//! `Distribution::of_schedules` runs it in all its schedules, and `Distribution::of_merged_schedules` those that lead to
//! equal states as one. Its outcomes are what it returns, a panic, a deadlock; each has its probability, and a schedule that
//! leads to it. What it draws inside, by the function `draw`, is one more choice, with its weight.
//! Of a program that has too many schedules, `Simulation::sample` runs some at random. And `Outcomes::of_schedules` says
//! which outcomes there are, without their probabilities, for which it need not run all.
//!
//! # Panics
//! A panic of a description is its caller's. A path that is not followed to its end, and a draw from nothing, unwind the
//! description without a message, which a program without unwinding cannot have.
//!
//! # Source
//! One description for three interpreters: "Warm fuzzy things for random simulations" (eigenclass.org, 2008). Running a
//! program again along another path: Kiselyov and Shan, *Embedded Probabilistic Programming* (2009), does so with
//! continuations, of which Rust's are of one use.

#![forbid(unsafe_code)]

mod attempt;
mod choices;
mod dist;
mod distribution;
#[cfg(feature = "schedules")]
mod drawing;
mod enumeration;
mod error;
mod expectation;
mod interpreter;
mod limits;
#[cfg(feature = "schedules")]
mod merging;
#[cfg(feature = "schedules")]
mod of_schedules;
#[cfg(feature = "schedules")]
mod outcomes;
mod path;
mod path_end;
mod pools;
mod probability;
#[cfg(feature = "schedules")]
mod samples;
#[cfg(feature = "schedules")]
mod schedules;
mod simulation;
mod weight;

/// Integers and fractions of any size, exact, which [`Among`] and [`Probability`] are made of.
pub use dashu_int::UBig;
/// As above.
pub use dashu_ratio::RBig;

pub use self::attempt::attempt;
pub use self::choices::Choices;
pub use self::dist::{Dist, Number};
pub use self::distribution::Distribution;
#[cfg(feature = "schedules")]
pub use self::drawing::draw;
pub use self::error::Error;
pub use self::expectation::Expectation;
pub use self::interpreter::{Among, Interpreter};
pub use self::limits::{Limit, Limits};
#[cfg(feature = "schedules")]
pub use self::outcomes::Outcomes;
pub use self::probability::Probability;
#[cfg(feature = "schedules")]
pub use self::samples::{Samples, Sampling};
#[cfg(feature = "schedules")]
pub use self::schedules::{Outcome, Schedule, Schedules};
pub use self::simulation::Simulation;
