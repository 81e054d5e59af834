//! A message of whichever of four channels has one: by a port set, or by `select!`.

use std::marker::PhantomData;

use channels::{Came, Channel, Set, Tasks, Went};
use gossamer::{select, yield_now};

use crate::turns::{Alike, alike};

/// How many channels there are.
const CHANNELS: usize = 4;

/// The same channels, but received from by `select!`.
pub(crate) struct Selected<C>(PhantomData<C>);

impl<C: Channel> Channel for Selected<C> {
    type Tx = C::Tx;
    type Rx = C::Rx;

    fn pair(capacity: Option<usize>) -> (C::Tx, C::Rx) {
        C::pair(capacity)
    }

    fn send(tx: &mut C::Tx, message: u64) -> impl Future<Output: Went> {
        C::send(tx, message)
    }

    fn recv(rx: &mut C::Rx) -> impl Future<Output: Came> {
        C::recv(rx)
    }
}

impl<C: Channel> Set for Selected<C> {
    type Set = Vec<C::Rx>;

    fn set(rxs: Vec<C::Rx>) -> Vec<C::Rx> {
        rxs
    }

    fn recv_any(rxs: &mut Vec<C::Rx>) -> impl Future<Output: Came> {
        async {
            let [a, b, c, d] = rxs.as_mut_slice() else {
                return None;
            };
            select! {
                came = C::recv(a) => came.message(),
                came = C::recv(b) => came.message(),
                came = C::recv(c) => came.message(),
                came = C::recv(d) => came.message(),
            }
        }
    }
}

/// One task sends into each channel in turn, and receives.
pub(crate) fn ready<C: Set>(times: u64) -> Alike<impl Future<Output = u64> + use<C>> {
    let (mut txs, mut set) = four::<C>();
    alike(vec![async move {
        let mut sum = 0_u64;
        for (number, channel) in (0..times).zip((0..CHANNELS).cycle()) {
            C::send(&mut txs[channel], number).await.went();
            sum += C::recv_any(&mut set).await.message().unwrap_or(0);
        }
        sum
    }])
}

/// The receiver waits for each message. The sender yields each time, so that there is never a second one.
pub(crate) fn waiting<C: Set>(
    times: u64,
) -> Tasks<impl Future<Output = ()> + use<C>, impl Future<Output = u64> + use<C>> {
    let (mut txs, mut set) = four::<C>();
    let sender = async move {
        for (number, channel) in (0..times).zip((0..CHANNELS).cycle()) {
            C::send(&mut txs[channel], number).await.went();
            yield_now().await;
        }
        // Closing them is told to the receiver, which is not what is counted.
        std::mem::forget(txs);
    };
    let receiver = async move {
        let mut sum = 0_u64;
        for _ in 0..times {
            sum += C::recv_any(&mut set).await.message().unwrap_or(0);
        }
        sum
    };
    Tasks {
        senders: vec![sender],
        receivers: vec![receiver],
    }
}

fn four<C: Set>() -> (Vec<C::Tx>, C::Set) {
    let (txs, rxs) = (0..CHANNELS).map(|_| C::pair(Some(1))).unzip();
    (txs, C::set(rxs))
}
