//! `protocol!`: from states and messages to a type for each side and state.
//!
//! `read` parses a protocol, `check` finds its errors, and `write` generates its module.

mod check;
mod names;
mod read;
mod write;

pub(crate) use self::write::expand;
