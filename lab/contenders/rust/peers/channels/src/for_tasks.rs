//! The channels for tasks, each as its documentation has it.

use std::future::ready;

use async_unsync::{bounded, unbounded};
use channels::{Came, Channel, Many, Went};
use tokio::sync::{Semaphore, mpsc};

/// No capacity of zero.
pub struct AsyncChannel;
/// One receiver, no capacity of zero, and both ends on one thread, without atomics.
pub struct AsyncUnsync;
/// A type of its own, whose `send` is no future.
pub struct AsyncUnsyncUnbounded;
pub struct Flume;
pub struct Kanal;
/// One receiver, and no capacity of zero.
pub struct Tokio;
/// A type of its own, whose `send` is no future.
pub struct TokioUnbounded;

impl Channel for AsyncChannel {
    type Tx = async_channel::Sender<u64>;
    type Rx = async_channel::Receiver<u64>;

    fn pair(capacity: Option<usize>) -> (Self::Tx, Self::Rx) {
        match capacity {
            Some(capacity) => async_channel::bounded(capacity),
            None => async_channel::unbounded(),
        }
    }

    fn send(tx: &mut Self::Tx, message: u64) -> impl Future<Output: Went> {
        tx.send(message)
    }

    fn recv(rx: &mut Self::Rx) -> impl Future<Output: Came> {
        rx.recv()
    }
}

impl Channel for AsyncUnsync {
    type Tx = bounded::Sender<u64>;
    type Rx = bounded::Receiver<u64>;

    fn pair(capacity: Option<usize>) -> (Self::Tx, Self::Rx) {
        bounded::channel(capacity.unwrap_or(1_024)).into_split()
    }

    fn send(tx: &mut Self::Tx, message: u64) -> impl Future<Output: Went> {
        tx.send(message)
    }

    fn recv(rx: &mut Self::Rx) -> impl Future<Output: Came> {
        rx.recv()
    }
}

impl Channel for AsyncUnsyncUnbounded {
    type Tx = unbounded::UnboundedSender<u64>;
    type Rx = unbounded::UnboundedReceiver<u64>;

    fn pair(_capacity: Option<usize>) -> (Self::Tx, Self::Rx) {
        unbounded::channel().into_split()
    }

    fn send(tx: &mut Self::Tx, message: u64) -> impl Future<Output: Went> {
        ready(tx.send(message))
    }

    fn recv(rx: &mut Self::Rx) -> impl Future<Output: Came> {
        rx.recv()
    }
}

impl Channel for Flume {
    type Tx = flume::Sender<u64>;
    type Rx = flume::Receiver<u64>;

    fn pair(capacity: Option<usize>) -> (Self::Tx, Self::Rx) {
        match capacity {
            Some(capacity) => flume::bounded(capacity),
            None => flume::unbounded(),
        }
    }

    fn send(tx: &mut Self::Tx, message: u64) -> impl Future<Output: Went> {
        tx.send_async(message)
    }

    fn recv(rx: &mut Self::Rx) -> impl Future<Output: Came> {
        rx.recv_async()
    }
}

impl Many for Flume {
    /// `drain` waits for nobody.
    async fn recv_many(rx: &mut Self::Rx, into: &mut Vec<u64>, _most: usize) -> bool {
        into.extend(rx.drain());
        if into.is_empty() {
            into.extend(rx.recv_async().await);
        }
        !into.is_empty()
    }
}

impl Channel for Kanal {
    type Tx = kanal::AsyncSender<u64>;
    type Rx = kanal::AsyncReceiver<u64>;

    fn pair(capacity: Option<usize>) -> (Self::Tx, Self::Rx) {
        match capacity {
            Some(capacity) => kanal::bounded_async(capacity),
            None => kanal::unbounded_async(),
        }
    }

    fn send(tx: &mut Self::Tx, message: u64) -> impl Future<Output: Went> {
        tx.send(message)
    }

    fn recv(rx: &mut Self::Rx) -> impl Future<Output: Came> {
        rx.recv()
    }
}

impl Many for Kanal {
    /// `drain_into` waits for nobody; this is how its documentation uses it.
    async fn recv_many(rx: &mut Self::Rx, into: &mut Vec<u64>, _most: usize) -> bool {
        if rx.drain_into(into).is_ok_and(|count| count == 0) {
            into.extend(rx.recv().await);
        }
        !into.is_empty()
    }
}

impl Channel for Tokio {
    type Tx = mpsc::Sender<u64>;
    type Rx = mpsc::Receiver<u64>;

    fn pair(capacity: Option<usize>) -> (Self::Tx, Self::Rx) {
        mpsc::channel(capacity.unwrap_or(Semaphore::MAX_PERMITS))
    }

    fn send(tx: &mut Self::Tx, message: u64) -> impl Future<Output: Went> {
        tx.send(message)
    }

    fn recv(rx: &mut Self::Rx) -> impl Future<Output: Came> {
        rx.recv()
    }
}

impl Many for Tokio {
    async fn recv_many(rx: &mut Self::Rx, into: &mut Vec<u64>, most: usize) -> bool {
        rx.recv_many(into, most).await > 0
    }
}

impl Channel for TokioUnbounded {
    type Tx = mpsc::UnboundedSender<u64>;
    type Rx = mpsc::UnboundedReceiver<u64>;

    fn pair(_capacity: Option<usize>) -> (Self::Tx, Self::Rx) {
        mpsc::unbounded_channel()
    }

    fn send(tx: &mut Self::Tx, message: u64) -> impl Future<Output: Went> {
        ready(tx.send(message))
    }

    fn recv(rx: &mut Self::Rx) -> impl Future<Output: Came> {
        rx.recv()
    }
}
