//! Our mailboxes and streams, in both flavours, as Savina's programs see them.

use gossamer::{channel, local};
use savina::{Forest, Mail, Stream};

/// For any thread.
pub(crate) struct Shared;
/// For one thread.
pub(crate) struct Local;

/// A mailbox is a channel that is never full: sending needs no future. A stream is a ring.
macro_rules! flavour {
    ($name:ident, $($module:ident)::+) => {
        impl Mail for $name {
            type Tx<T: Send + 'static> = $($module)::+::Sender<T>;
            type Rx<T: Send + 'static> = $($module)::+::Receiver<T>;

            fn mailbox<T: Send + 'static>(room: usize) -> (Self::Tx<T>, Self::Rx<T>) {
                $($module)::+::bounded(room)
            }

            fn send<T: Send + 'static>(tx: &Self::Tx<T>, message: T) {
                let _lost_if_nobody_receives = tx.try_send(message);
            }

            async fn recv<T: Send + 'static>(rx: &mut Self::Rx<T>) -> Option<T> {
                rx.recv().await.ok()
            }

            async fn recv_many<T: Send + 'static>(
                rx: &mut Self::Rx<T>,
                into: &mut Vec<T>,
                most: usize,
            ) -> bool {
                rx.recv_many(into, most).await.is_ok()
            }
        }

        impl Stream for $name {
            type Tx<T: Send + 'static> = $($module)::+::spsc::Sender<T>;
            type Rx<T: Send + 'static> = $($module)::+::spsc::Receiver<T>;

            fn pair<T: Send + 'static>(capacity: usize) -> (Self::Tx<T>, Self::Rx<T>) {
                $($module)::+::spsc(capacity)
            }

            async fn send<T: Send + 'static>(tx: &mut Self::Tx<T>, message: T) -> bool {
                tx.send(message).await.is_ok()
            }

            async fn recv_many<T: Send + 'static>(
                rx: &mut Self::Rx<T>,
                into: &mut Vec<T>,
                most: usize,
            ) -> bool {
                rx.recv_many(into, most).await.is_ok()
            }
        }
    };
}

flavour!(Shared, channel);
flavour!(Local, local::channel);

impl Forest for Shared {
    type Tx<T: Send + 'static> = channel::Sender<T>;
    type Rx<T: Send + 'static> = channel::Receiver<T>;

    fn mailbox<T: Send + 'static>(room: usize) -> (Self::Tx<T>, Self::Rx<T>) {
        <Self as Mail>::mailbox(room)
    }

    fn send<T: Send + 'static>(tx: &Self::Tx<T>, message: T) {
        <Self as Mail>::send(tx, message);
    }

    async fn recv<T: Send + 'static>(rx: &mut Self::Rx<T>) -> Option<T> {
        rx.recv().await.ok()
    }

    fn spawn(future: impl Future<Output = ()> + Send + 'static) {
        drop(gossamer::spawn(future));
    }
}
