//! A pipe: two ends that speak by turns, as a protocol says.
//!
//! A program does not use what is here as it is: `protocol!` makes a type for each side and state of a protocol, and
//! this is what those are made of. The two facts that memory depends on are in the types here: an end either
//! [speaks](SendingEnd) or [listens](ReceivingEnd), and using it gives the other kind.

mod ends;
mod receiving;
mod timeout;
mod word;

pub use self::ends::{ReceivingEnd, SendingEnd, pair};
pub use self::receiving::{Endpoint, Full, Hears, Receiving, Speaks};
pub use self::timeout::{ReceivingInTime, TimedOut};
pub use self::word::{AnyThread, First, PipePolicy, Second, Side};
