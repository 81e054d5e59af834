//! Five programs of the Savina actor benchmarks (Imam, Sarkar 2014) on tasks and channels, written once for all
//! contenders in Rust, so that these differ in channels and runtimes alone.
//!
//! An actor is a task that owns the receiving end of its mailbox; a table of sending ends stands for the actors'
//! addresses. The caller spawns what a program returns, so a mailbox for one thread fits, too. What each program does,
//! and which numbers are published, is in the lab's README.

#![forbid(unsafe_code)]

mod bank;
mod big;
mod bounded_buffer;
mod fork_join;
mod random;
mod uts;

use std::future::Ready;

pub use bank::{Bank, bank};
pub use big::{Big, big};
pub use bounded_buffer::{BoundedBuffer, bounded_buffer};
pub use fork_join::{ForkJoin, fork_join};
pub use uts::{Uts, uts};

/// How many messages a task takes out of its mailbox at a time.
const MOST: usize = 128;

/// A mailbox: many senders, one receiver, and a send that never waits.
pub trait Mail: 'static {
    /// An actor's address.
    type Tx<T: Send + 'static>: Clone + 'static;
    /// Its mailbox.
    type Rx<T: Send + 'static>: 'static;

    /// A mailbox in which never more than `room` messages lie; the program sees to that.
    fn mailbox<T: Send + 'static>(room: usize) -> (Self::Tx<T>, Self::Rx<T>);
    /// Sends. A message that is lost makes the answer wrong, or none comes; the lab sees both.
    fn send<T: Send + 'static>(tx: &Self::Tx<T>, message: T);
    /// The next message; `None` when all senders have gone.
    fn recv<T: Send + 'static>(rx: &mut Self::Rx<T>) -> impl Future<Output = Option<T>>;
    /// Waits for a message, and takes what else is there, as far as `most`; whether there was any.
    fn recv_many<T: Send + 'static>(
        rx: &mut Self::Rx<T>,
        into: &mut Vec<T>,
        most: usize,
    ) -> impl Future<Output = bool>;
}

/// A channel from one sender to one receiver, which holds so many messages.
pub trait Stream: 'static {
    /// The side that sends.
    type Tx<T: Send + 'static>: 'static;
    /// The side that receives.
    type Rx<T: Send + 'static>: 'static;

    /// A new one.
    fn pair<T: Send + 'static>(capacity: usize) -> (Self::Tx<T>, Self::Rx<T>);
    /// Sends, and waits while it is full; whether somebody receives.
    fn send<T: Send + 'static>(tx: &mut Self::Tx<T>, message: T) -> impl Future<Output = bool>;
    /// As [`Mail::recv_many`].
    fn recv_many<T: Send + 'static>(
        rx: &mut Self::Rx<T>,
        into: &mut Vec<T>,
        most: usize,
    ) -> impl Future<Output = bool>;
}

/// Mailboxes for any thread, and tasks that spawn tasks.
pub trait Forest: 'static {
    /// An actor's address.
    type Tx<T: Send + 'static>: Clone + Send + Sync + 'static;
    /// Its mailbox.
    type Rx<T: Send + 'static>: Send + 'static;

    /// As [`Mail::mailbox`].
    fn mailbox<T: Send + 'static>(room: usize) -> (Self::Tx<T>, Self::Rx<T>);
    /// As [`Mail::send`].
    fn send<T: Send + 'static>(tx: &Self::Tx<T>, message: T);
    /// As [`Mail::recv`].
    fn recv<T: Send + 'static>(rx: &mut Self::Rx<T>) -> impl Future<Output = Option<T>> + Send;
    /// Spawns a task from within one, and leaves it alone.
    fn spawn(future: impl Future<Output = ()> + Send + 'static);
}

/// What is to be spawned, in this order. The answer is the sum of what all tasks return.
#[derive(Debug)]
pub struct Tasks<A, B, C> {
    /// The actors of the first kind.
    pub first: Vec<A>,
    /// Those of the second kind, if there is one.
    pub second: Vec<B>,
    /// The one of which there is only one.
    pub one: C,
}

/// The second kind where there is none.
pub type NoSecond = Ready<u64>;

/// The number of an option, which a program asks for by its name and with what it usually is.
pub trait Number: Fn(&str, u64) -> Result<u64, String> {}

impl<F: Fn(&str, u64) -> Result<u64, String>> Number for F {}

/// The number of an option that counts things in memory.
fn count(number: &impl Number, name: &str, usual: u64) -> Result<usize, String> {
    let number = number(name, usual)?;
    usize::try_from(number).map_err(|error| format!("{name} {number}: {error}"))
}
