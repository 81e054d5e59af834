//! A channel for one sender and one receiver: a ring of places, and no lock on the way.
//!
//! ```
//! use gossamer::Wait;
//! let (mut tx, mut rx) = gossamer::channel::spsc(2);
//! let sends = std::thread::spawn(move || {
//!     for number in 0..1_000 {
//!         tx.send(number).wait().unwrap();
//!     }
//! });
//! assert_eq!(rx.iter().sum::<u32>(), 499_500);
//! sends.join().unwrap();
//! ```

// # Protocol
//
// Two numbers that only grow (and wrap), each written by one side: `tail`, how many messages have been sent, and
// `head`, how many have been received. Message number *i* is in place *i* modulo the ring's length, a power of two.
// Each side keeps the other's number as it last saw it, and looks again only when by that one it could not go: so as a
// rule an operation writes its own number, reads one word that hardly ever changes, and that is all.
//
// That word is a lock's, with these bits:
//
// | bit | set by | until |
// | --- | --- | --- |
// | the sender, the receiver waits | that side, before its last look | the lock is given up while nobody of that side is in its queue |
// | a set waits | the port set that has the receiver | the sender wakes it, or the receiver leaves the set |
// | the sender, the receiver is gone | that side, when its handle is dropped | for ever |
//
// The lock is taken only to park, to wake and to close. Nobody waits for it while a message passes.
//
// # The race to fear
//
// A side parks just as the other one does what it waits for. Each writes and then reads what the other one writes: the
// one that parks its bit, then the number; the other one its number, then the bit. With a fence in between on both
// sides, at least one sees the other. So a side that finds nothing first sets its bit, and goes on to the fence; from
// then on the other side takes the lock after each step. It takes the lock itself, looks once more, and parks: a step
// of the other side comes before that look, or finds the side in its queue. (If the bit has gone meanwhile, it
// begins anew: whoever gives the lock up takes the bit of a side that is not in its queue, be it the other side after a
// late look at a step before.) A port set registers its waker under the lock, goes on
// to the fence, and looks then.
//
// The fences are those of [`gossamer_core::platform`]: the one that passes messages pays nothing, the one that parks
// has all other threads run a barrier. Closing is the same race: a receiver that goes takes along (and drops) what has
// been sent before, and a sender that finds, *after* it has put a message, that the receiver is gone asks under the
// lock whether it was; if not it takes the message back.
//
// A barrier on all threads takes a microsecond or more, and is for nothing if both sides run on one worker. So each
// side notes on which worker it is, and when it comes to another one, it writes that down, and has a full fence,
// before it goes on. The one that parks has a full fence after its bit is set, and looks there. If it reads its own
// worker, then what the other one has done so far, it did there, in order; and what it is going to do elsewhere comes
// after its fence, and sees the bit. (The same holds if the other one has done nothing so far.) A side that runs on a
// bare thread is on no worker: then there is a barrier. A process of one thread needs none, and sets the bit with the
// parking.
//
// # Waking
//
// A side that waits is woken by the first message, or the first free place, and its bit goes, so what follows wakes
// nobody. A sender is *not* kept waiting until a good part of the ring is free: the receiver may wait for what
// comes after that message before it receives more. Between tasks of one worker that is no loss, as the sender runs
// when the receiver has to wait; between threads the receiver goes on while the sender wakes up.

mod chan;
mod ends;
mod flavour;
mod iter;
mod op;
mod pause;
mod receiver;
mod sender;
mod side;

/// The handles and iterators, generic over the lock policy.
pub mod raw {
    pub use super::flavour::RingPolicy;
    pub use super::iter::{IntoIter, Iter, TryIter};
    pub use super::op::{Receiving, ReceivingMany, Sending};
    pub use super::receiver::Receiver;
    pub use super::sender::Sender;
}

/// The names of one flavour.
macro_rules! constructors {
    ($policy:ty) => {
        /// A channel for one sender, one receiver and at most `capacity` messages that have not been received.
        ///
        /// The memory for the messages, `capacity` rounded up to a power of two, is asked for when the first one is
        /// sent, and kept until both handles are gone.
        ///
        /// # Examples
        /// ```
        /// use gossamer::channel::spsc;
        ///
        /// let (mut tx, mut rx) = spsc(2);
        /// tx.try_send(1).unwrap();
        /// assert_eq!(rx.try_recv(), Ok(1));
        /// ```
        ///
        /// # Panics
        /// If `capacity` is zero (that is `rendezvous`), too large for any memory, or above the greatest power of two.
        #[track_caller]
        pub fn spsc<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
            crate::spsc::pair(capacity)
        }

        /// The side that sends.
        pub type Sender<T> = crate::spsc::raw::Sender<T, $policy>;
        /// The side that receives.
        pub type Receiver<T> = crate::spsc::raw::Receiver<T, $policy>;
    };
}
pub(crate) use constructors;
pub(crate) use ends::pair;

constructors!(gossamer_core::policy::Shared);
