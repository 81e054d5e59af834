//! A pipe: two ends that speak by turns, as a protocol says.
//!
//! A program does not use what is here as it is: `protocol!` makes a type for each side and state of a protocol, and
//! this is what those are made of. The two facts that memory depends on are in the types here: an end either
//! [speaks](SendingEnd) or [listens](ReceivingEnd), and using it gives the other kind.
//!
//! # Protocol
//!
//! One allocation for the whole session: a word, and a slot for one message, which is reused. The word says whose turn
//! it is, and who of the other side waits for it:
//!
//! ```text
//!  63             3         2         1      0
//! +----------------+----------------+------+------+
//! |     waker      | GONE or LOANED | TASK | turn |
//! +----------------+----------------+------+------+
//! ```
//!
//! A waker is packed with two tags: `TASK` says that it is a task's, not a box of a foreign one, and `LOANED`, beside
//! that, that the pointer has no reference of its own. So the third bit alone, with no waker and no `TASK`, is `GONE`.
//!
//! | the word | meaning | who may leave it |
//! | --- | --- | --- |
//! | turn, no waker | it is that side's turn; its message, if it has not taken it so far, is in the slot | that side: gives the turn; the other: puts its waker there |
//! | turn, waker | the same; the other side waits, and the word owns its waker | the same |
//! | turn, `GONE` | one side is gone | the side that is left: frees |
//!
//! Only the side whose turn it is touches the slot. A sender fills the slot and gives the turn in one exchange, which
//! also takes the waker of a waiting receiver out. A receiver reads the word; if it has to wait, it puts its waker
//! there in one exchange. So a message costs one exchange, or two if its receiver waits. (One waker is enough: the side
//! that has the turn does not wait.)
//!
//! When one side sends several messages in a row, the other gives the turn back after each, with an empty slot; the
//! sender waits for that as for a message. That is one exchange more.
//!
//! A side that goes says so in the word and leaves the turn as it is, so that a message that it has sent is still
//! received. The second side to go frees the allocation. The side to which a message was sent drops it if it has not
//! taken it; if that side had gone before, the sender has the message back.
//!
//! The race to fear: one side gives the turn, or goes, as the other registers, or goes. All of them are
//! read-modify-writes of the one word: the second one sees what the first has done. A side that goes takes the
//! other's waker out by the same exchange, so the allocation may be freed before the waker is called.

mod ends;
mod receiving;
mod timeout;
mod word;

pub use self::ends::{ReceivingEnd, SendingEnd, pair};
pub use self::receiving::{Endpoint, Full, Hears, Receiving, Speaks};
pub use self::timeout::{ReceivingInTime, TimedOut};
pub use self::word::{AnyThread, First, PipePolicy, Second, Side};
