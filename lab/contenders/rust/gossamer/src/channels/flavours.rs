//! Our channels, in both flavours, as the workloads see them.

use channels::{Blocking, Came, Channel, Many, Went};
use gossamer::{Wait, channel, local};

/// For any thread.
pub(crate) struct Shared;
/// For one thread.
pub(crate) struct Local;

macro_rules! flavour {
    ($name:ident, $($module:ident)::+) => {
        impl Channel for $name {
            type Tx = $($module)::+::Sender<u64>;
            type Rx = $($module)::+::Receiver<u64>;

            fn pair(capacity: Option<usize>) -> (Self::Tx, Self::Rx) {
                match capacity {
                    Some(0) => $($module)::+::rendezvous(),
                    Some(capacity) => $($module)::+::bounded(capacity),
                    None => $($module)::+::unbounded(),
                }
            }

            fn send(tx: &Self::Tx, message: u64) -> impl Future<Output: Went> {
                tx.send(message)
            }

            fn recv(rx: &mut Self::Rx) -> impl Future<Output: Came> {
                rx.recv()
            }
        }

        impl Many for $name {
            async fn recv_many(rx: &mut Self::Rx, into: &mut Vec<u64>, most: usize) -> bool {
                rx.recv_many(into, most).await.is_ok()
            }
        }
    };
}

flavour!(Shared, channel);
flavour!(Local, local::channel);

impl Blocking for Shared {
    type Tx = <Shared as Channel>::Tx;
    type Rx = <Shared as Channel>::Rx;

    fn pair(capacity: Option<usize>) -> (Self::Tx, Self::Rx) {
        <Shared as Channel>::pair(capacity)
    }

    fn send(tx: &Self::Tx, message: u64) -> bool {
        tx.send(message).wait().is_ok()
    }

    fn recv(rx: &Self::Rx) -> Option<u64> {
        rx.recv().wait().ok()
    }
}
