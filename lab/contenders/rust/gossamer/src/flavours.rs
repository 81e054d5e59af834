//! Our channels, in both flavours, as the workloads see them.

use channels::{Blocking, Came, Channel, Many, Went};
use gossamer::{Wait, channel, local};

/// For any thread.
pub struct Shared;
/// For one thread.
pub struct Local;

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

            fn send(tx: &mut Self::Tx, message: u64) -> impl Future<Output: Went> {
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

/// One sender and one receiver, for any thread.
pub struct Spsc;
/// The same for one thread.
pub struct LocalSpsc;

macro_rules! ring {
    ($name:ident, $($module:ident)::+) => {
        impl Channel for $name {
            type Tx = $($module)::+::spsc::Sender<u64>;
            type Rx = $($module)::+::spsc::Receiver<u64>;

            fn pair(capacity: Option<usize>) -> (Self::Tx, Self::Rx) {
                $($module)::+::spsc(capacity.unwrap_or(1_024))
            }

            fn send(tx: &mut Self::Tx, message: u64) -> impl Future<Output: Went> {
                tx.send(message)
            }

            fn recv(rx: &mut Self::Rx) -> impl Future<Output: Came> {
                rx.recv()
            }
        }
    };
}

ring!(Spsc, channel);
ring!(LocalSpsc, local::channel);

impl Blocking for Spsc {
    type Tx = <Spsc as Channel>::Tx;
    type Rx = <Spsc as Channel>::Rx;

    fn pair(capacity: Option<usize>) -> (Self::Tx, Self::Rx) {
        <Spsc as Channel>::pair(capacity)
    }

    fn send(tx: &mut Self::Tx, message: u64) -> bool {
        tx.send(message).wait().is_ok()
    }

    fn recv(rx: &mut Self::Rx) -> Option<u64> {
        rx.recv().wait().ok()
    }
}

impl Blocking for Shared {
    type Tx = <Shared as Channel>::Tx;
    type Rx = <Shared as Channel>::Rx;

    fn pair(capacity: Option<usize>) -> (Self::Tx, Self::Rx) {
        <Shared as Channel>::pair(capacity)
    }

    fn send(tx: &mut Self::Tx, message: u64) -> bool {
        tx.send(message).wait().is_ok()
    }

    fn recv(rx: &mut Self::Rx) -> Option<u64> {
        rx.recv().wait().ok()
    }
}
