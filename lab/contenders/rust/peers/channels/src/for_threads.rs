//! The channels for threads.

use std::sync::mpsc;

use channels::Blocking;

use crate::for_tasks::{Flume, Kanal};

pub struct Crossbeam;
/// One receiver.
pub struct Std;
/// The same without bounds, which is a type of its own.
pub struct StdUnbounded;

macro_rules! blocking {
    ($name:ty, $krate:ident) => {
        impl Blocking for $name {
            type Tx = $krate::Sender<u64>;
            type Rx = $krate::Receiver<u64>;

            fn pair(capacity: Option<usize>) -> (Self::Tx, Self::Rx) {
                match capacity {
                    Some(capacity) => $krate::bounded(capacity),
                    None => $krate::unbounded(),
                }
            }

            fn send(tx: &mut Self::Tx, message: u64) -> bool {
                tx.send(message).is_ok()
            }

            fn recv(rx: &mut Self::Rx) -> Option<u64> {
                rx.recv().ok()
            }
        }
    };
}

blocking!(Crossbeam, crossbeam_channel);
blocking!(Flume, flume);
blocking!(Kanal, kanal);

impl Blocking for Std {
    type Tx = mpsc::SyncSender<u64>;
    type Rx = mpsc::Receiver<u64>;

    fn pair(capacity: Option<usize>) -> (Self::Tx, Self::Rx) {
        mpsc::sync_channel(capacity.unwrap_or(usize::MAX))
    }

    fn send(tx: &mut Self::Tx, message: u64) -> bool {
        tx.send(message).is_ok()
    }

    fn recv(rx: &mut Self::Rx) -> Option<u64> {
        rx.recv().ok()
    }
}

impl Blocking for StdUnbounded {
    type Tx = mpsc::Sender<u64>;
    type Rx = mpsc::Receiver<u64>;

    fn pair(_capacity: Option<usize>) -> (Self::Tx, Self::Rx) {
        mpsc::channel()
    }

    fn send(tx: &mut Self::Tx, message: u64) -> bool {
        tx.send(message).is_ok()
    }

    fn recv(rx: &mut Self::Rx) -> Option<u64> {
        rx.recv().ok()
    }
}
