//! tokio's channels as Savina's programs see them: a mailbox is its unbounded channel, whose send is no future, and a
//! stream its bounded one.

use savina::{Forest, Mail, Stream};
use tokio::sync::mpsc;

pub(crate) struct Tokio;

impl Mail for Tokio {
    type Tx<T: Send + 'static> = mpsc::UnboundedSender<T>;
    type Rx<T: Send + 'static> = mpsc::UnboundedReceiver<T>;

    fn mailbox<T: Send + 'static>(_room: usize) -> (Self::Tx<T>, Self::Rx<T>) {
        mpsc::unbounded_channel()
    }

    fn send<T: Send + 'static>(tx: &Self::Tx<T>, message: T) {
        let _lost_if_nobody_receives = tx.send(message);
    }

    async fn recv<T: Send + 'static>(rx: &mut Self::Rx<T>) -> Option<T> {
        rx.recv().await
    }

    async fn recv_many<T: Send + 'static>(
        rx: &mut Self::Rx<T>,
        into: &mut Vec<T>,
        most: usize,
    ) -> bool {
        rx.recv_many(into, most).await > 0
    }
}

impl Stream for Tokio {
    type Tx<T: Send + 'static> = mpsc::UnboundedSender<T>;
    type Rx<T: Send + 'static> = mpsc::UnboundedReceiver<T>;

    fn pair<T: Send + 'static>(_capacity: usize) -> (Self::Tx<T>, Self::Rx<T>) {
        mpsc::unbounded_channel()
    }

    async fn send<T: Send + 'static>(tx: &mut Self::Tx<T>, message: T) -> bool {
        tx.send(message).is_ok()
    }

    async fn recv_many<T: Send + 'static>(
        rx: &mut Self::Rx<T>,
        into: &mut Vec<T>,
        most: usize,
    ) -> bool {
        rx.recv_many(into, most).await > 0
    }
}

impl Forest for Tokio {
    type Tx<T: Send + 'static> = mpsc::UnboundedSender<T>;
    type Rx<T: Send + 'static> = mpsc::UnboundedReceiver<T>;

    fn mailbox<T: Send + 'static>(room: usize) -> (Self::Tx<T>, Self::Rx<T>) {
        <Self as Mail>::mailbox(room)
    }

    fn send<T: Send + 'static>(tx: &Self::Tx<T>, message: T) {
        <Self as Mail>::send(tx, message);
    }

    async fn recv<T: Send + 'static>(rx: &mut Self::Rx<T>) -> Option<T> {
        rx.recv().await
    }

    fn spawn(future: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(future);
    }
}
