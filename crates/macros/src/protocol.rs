//! `protocol!`: from states and messages to a type for each side and state.
//!
//! What is read is in `read`, what can be wrong with it in `check`, what is written in `write`.

mod check;
mod names;
mod read;
mod write;

pub(crate) use self::write::expand;
