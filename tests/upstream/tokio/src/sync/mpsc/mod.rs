//! Channels with one receiver. Ours reserves one place at a time: here who wants many reserves one after the other.

mod ends;
mod permits;

pub mod error;

pub use self::ends::{
    Receiver, Sender, UnboundedReceiver, UnboundedSender, WeakSender, WeakUnboundedSender,
};
pub use self::permits::{OwnedPermit, Permit, PermitIterator};

/// For so many messages.
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    assert!(buffer > 0, "mpsc bounded channel requires buffer > 0");
    let (tx, rx) = gossamer::channel::bounded(buffer);
    (Sender(tx), Receiver(rx))
}

/// For as many messages as fit.
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (tx, rx) = gossamer::channel::unbounded();
    (UnboundedSender(tx), UnboundedReceiver(rx))
}

/// `Debug`, whatever the messages are.
macro_rules! debug_of_any {
    ($($name:ident[$($generics:tt)*])*) => {$(
        impl<$($generics)*> std::fmt::Debug for $name<$($generics)*> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}
use debug_of_any;
