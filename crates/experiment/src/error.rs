//! What is wrong with a description.

use std::error;
use std::fmt::{self, Display};

/// Why a description gave no outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// It drew from nothing: of a die without sides, an empty list, or weights that are all zero. What was asked for.
    NothingToDraw(&'static str),
    /// A pool has sums that are no `u32`, or so many that they are not counted: what is too large.
    TooLarge(&'static str),
    /// It made more draws than are allowed: so many.
    TooManyDraws(usize),
    /// Schedules were to be sampled by priorities with depth zero: no operation at all would have to come in its place.
    NoDepth,
    /// Two schedules of a program had the same operations in the same order at each object, and did not go on alike.
    NotMerged {
        /// One of them, as a [`Schedule`](https://docs.rs/gossamer-rt/latest/gossamer/experiment/struct.Schedule.html) is
        /// written.
        one: String,
        /// The other one.
        other: String,
    },
    /// Run again, it drew from other alternatives than before, or from fewer: at this draw, the first being number 0.
    NotDeterministic {
        /// Which draw.
        draw: usize,
    },
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingToDraw(what) => {
                write!(
                    f,
                    "{what} has nothing to draw from: give it one alternative that can be"
                )
            }
            Self::TooLarge(what) => write!(
                f,
                "{what} is too large: its sums are above {}, or too many to be counted; take fewer dice or sides",
                u32::MAX
            ),
            Self::TooManyDraws(most) => write!(
                f,
                "the experiment made more than {most} draws: it may never end; allow more, or bound it"
            ),
            Self::NoDepth => f.write_str(
                "a sample by priorities has depth 0: a depth is how many operations have to come in a certain order, and at \
                 least 1",
            ),
            Self::NotMerged { one, other } => write!(
                f,
                "after the schedules \"{one}\" and \"{other}\" the program should be in the same state, and does not go on \
                 alike: its tasks share something that is no primitive of Gossamer's (an atomic, a RefCell, a static), or what \
                 does not wait is seen by others (a try_ function, a synchronous send, a dropped end of a channel); run all its schedules, without merging"
            ),
            Self::NotDeterministic { draw } => write!(
                f,
                "run again, the experiment drew from others than before, or from none, in draw number {draw} (from 0): \
                 it must depend on its draws alone, not on a clock or a variable that it changes"
            ),
        }
    }
}

impl error::Error for Error {}
