//! What the handles of the two sides have in common.

use std::fmt;
use std::ptr::NonNull;

use gossamer_core::waiter::WaitList;

use super::chan::Chan;
use super::flavour::RingPolicy;
use super::receiver::Receiver;
use super::sender::Sender;

/// One of the two handles, as an operation of it sees it.
pub(super) trait End<T, P: RingPolicy> {
    /// The bit that it waits.
    const WAITS: u32;
    /// The bit that the other side is gone.
    const OTHER_GONE: u32;

    fn chan(&self) -> NonNull<Chan<T, P>>;

    /// Where it waits.
    fn line(chan: &Chan<T, P>) -> &WaitList;

    /// Where the other side runs.
    fn other_at(chan: &Chan<T, P>) -> &P::Position;

    /// Whether an operation could go on.
    fn could_go(chan: &Chan<T, P>) -> bool;
}

/// Both sides of a new channel.
#[track_caller]
pub(crate) fn pair<T, P: RingPolicy>(capacity: usize) -> (Sender<T, P>, Receiver<T, P>) {
    let chan = NonNull::from(Box::leak(Box::new(Chan::new(capacity))));
    (Sender::new(chan), Receiver::new(chan))
}

macro_rules! both {
    ($($name:ident)*) => {$(
        impl<T, P: RingPolicy> $name<T, P> {
            /// How many messages wait to be received.
            pub fn len(&self) -> usize {
                let (tail, head) = self.counts();
                tail.wrapping_sub(head)
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Whether there are as many as there may be.
            pub fn is_full(&self) -> bool {
                self.len() >= self.capacity()
            }

            /// How many there may be.
            pub fn capacity(&self) -> usize {
                self.shared().capacity()
            }
        }

        impl<T, P: RingPolicy> fmt::Debug for $name<T, P> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("len", &self.len())
                    .field("capacity", &self.capacity())
                    .finish_non_exhaustive()
            }
        }
    )*};
}

both! { Sender Receiver }
