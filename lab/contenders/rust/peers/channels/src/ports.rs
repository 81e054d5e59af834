//! Sets of receivers: crossbeam's `Select`, which is made once; for tokio's channels the `select_all` of futures, which
//! polls only those that were woken.

use channels::{Blocking, Came, Ports, Set, from_set};
use crossbeam_channel::Select;
use futures_util::stream::{self, SelectAll, Stream, StreamExt};
use peer_ring::Failure;
use std::thread;

use crate::for_tasks::Tokio;
use crate::for_threads::Crossbeam;
use crate::{on_tokio, unknown};

type Receives = Box<dyn Stream<Item = u64> + Send + Unpin>;

impl Set for Tokio {
    type Set = SelectAll<Receives>;

    fn set(rxs: Vec<Self::Rx>) -> Self::Set {
        let receives = |mut rx: Self::Rx| Box::new(stream::poll_fn(move |cx| rx.poll_recv(cx)));
        stream::select_all(rxs.into_iter().map(|rx| receives(rx) as Receives))
    }

    fn recv_any(set: &mut Self::Set) -> impl Future<Output: Came> {
        set.next()
    }
}

pub fn run(kind: &str, asked: &Ports) -> Result<u64, Failure> {
    if asked.many {
        return Err(unknown(kind));
    }
    if kind == "crossbeam-threads" {
        return crossbeam(asked);
    }
    let (channel, runtime) = on_tokio(kind)?;
    if channel != "tokio" {
        return Err(unknown(kind));
    }
    let (sender, receiver) = from_set::<Tokio>(asked);
    runtime.block_on(async {
        let sender = tokio::spawn(sender);
        let sum = tokio::spawn(receiver).await?;
        sender.await?;
        Ok(sum)
    })
}

fn crossbeam(asked: &Ports) -> Result<u64, Failure> {
    let (mut txs, rxs): (Vec<_>, Vec<_>) = (0..asked.ports)
        .map(|_| <Crossbeam as Blocking>::pair(Some(1)))
        .unzip();
    let (order, messages) = (asked.order.clone(), asked.messages);
    let sender = thread::Builder::new().spawn(move || {
        for (number, port) in (0..messages).zip(order.iter().cycle()) {
            if !Crossbeam::send(&mut txs[*port], number) {
                break;
            }
        }
        std::mem::forget(txs);
    })?;
    let mut select = Select::new();
    for rx in &rxs {
        select.recv(rx);
    }
    let mut sum = 0_u64;
    for _ in 0..messages {
        let selected = select.select();
        let index = selected.index();
        match selected.recv(&rxs[index]) {
            Ok(message) => sum = sum.wrapping_add(message),
            Err(_) => break,
        }
    }
    let panicked = |_| Failure::Ran("a thread panicked".into());
    sender.join().map_err(panicked)?;
    Ok(sum)
}
