//! Channels, in both flavours, and what waits for several.

use std::future::{pending, poll_fn, ready};
use std::pin::{Pin, pin};
use std::task::Context;

use futures_core::Stream;
use gossamer::channel::{join_pattern, oneshot};
use gossamer::sync::Event;
use gossamer::{protocol, select};

use super::{Case, Turn, cases};

protocol! {
    protocol Asking between asker and answerer {
        Ask: asker { ask(u32) -> End },
    }
}

/// The next item of a stream.
async fn next<S: Stream>(stream: &mut Pin<&mut S>) -> Option<S::Item> {
    poll_fn(|cx: &mut Context<'_>| stream.as_mut().poll_next(cx)).await
}

/// Channels for many senders, and ports; `$pipe` makes a pipe.
macro_rules! flavour {
    ($name:ident, $($channel:ident)::+, $pipe:ident) => {
        pub(super) fn $name(turn: &Turn) -> Vec<Case> {
            use gossamer::$($channel)::+::{PortSet, SharedSender, bounded, spsc, unbounded};
            cases! { turn;
                "channel::mpmc::operations::Sending": { let (tx, rx) = bounded(1); } {
                    tx.send(1).await.expect("there is room");
                    rx.try_recv().expect("it was sent")
                };
                "channel::mpmc::operations::Sending, to nobody": { let tx = bounded(1).0; } tx.send(1).await;
                "channel::mpmc::operations::SendingFrom": { let (tx, rx) = bounded(1); } {
                    tx.send_from(&mut Some(1)).await.expect("there is room");
                    rx.try_recv().expect("it was sent")
                };
                "channel::mpmc::permits::Reserving": { let (tx, _rx) = bounded::<u32>(1); }
                    tx.reserve().await.map(drop);
                "channel::mpmc::permits::ReservingOwned": { let (tx, _rx) = bounded::<u32>(1); }
                    tx.clone().reserve_owned().await.map(drop);
                "channel::mpmc::closing::WaitForClose": { let (tx, rx) = bounded::<u32>(1); rx.close(); }
                    tx.closed().await;
                "channel::mpmc::operations::Receiving": { let (tx, rx) = unbounded(); } {
                    tx.try_send(1).expect("it is received");
                    rx.recv().await.expect("it was sent")
                };
                "channel::mpmc::operations::Receiving, from nobody": { let rx = unbounded::<u32>().1; }
                    rx.recv().await;
                "channel::mpmc::operations::ReceivingMany": { let (tx, rx) = unbounded(); } {
                    tx.try_send(1).expect("it is received");
                    rx.recv_many(&mut Vec::new(), 9).await.expect("it was sent")
                };
                "channel::mpmc::operations::ReceivingMany, none": { let (_tx, rx) = unbounded::<u32>(); }
                    rx.recv_many(&mut Vec::new(), 0).await;
                "channel::mpmc::operations::Messages": {
                    let (tx, rx) = unbounded();
                    let mut messages = pin!(rx.stream());
                } {
                    tx.try_send(1).expect("it is received");
                    next(&mut messages).await.expect("it was sent")
                };
                "channel::mpmc::operations::Messages, over": {
                    let rx = unbounded::<u32>().1;
                    let mut messages = pin!(rx.stream());
                } next(&mut messages).await;
                "channel::mpmc::owned::OwnedMessages": {
                    let (tx, rx) = unbounded();
                    let mut messages = pin!(rx.into_stream());
                } {
                    tx.try_send(1).expect("it is received");
                    next(&mut messages).await.expect("it was sent")
                };
                "channel::join_pattern::JoinPattern": { let (one, two) = (unbounded(), unbounded()); } {
                    one.0.try_send(1).expect("it is received");
                    two.0.try_send(1).expect("it is received");
                    join_pattern((&one.1, &two.1)).await.expect("they were sent")
                };
                "channel::spsc::op::Sending": { let (mut tx, mut rx) = spsc::spsc(1); } {
                    tx.send(1).await.expect("there is room");
                    rx.try_recv().expect("it was sent")
                };
                "channel::spsc::op::Receiving": { let (mut tx, mut rx) = spsc::spsc(1); } {
                    tx.try_send(1).expect("there is room");
                    rx.recv().await.expect("it was sent")
                };
                "channel::spsc::op::ReceivingMany": { let (mut tx, mut rx) = spsc::spsc(1); } {
                    tx.try_send(1).expect("there is room");
                    rx.recv_many(&mut Vec::new(), 9).await.expect("it was sent")
                };
                "channel::spsc::op::ReceivingMany, none": { let (_tx, mut rx) = spsc::spsc::<u32>(1); }
                    rx.recv_many(&mut Vec::new(), 0).await;
                "channel::shared::SendingShared": {
                    let (tx, rx) = bounded(1);
                    let tx: SharedSender<u32> = SharedSender::new(tx);
                } {
                    tx.send(1).await.expect("there is room");
                    rx.try_recv().expect("it was sent")
                };
                "channel::port_set::recv::PortReceiving": {
                    let ((tx, rx), set) = (unbounded(), PortSet::new());
                    set.add(rx).expect("it is in no set");
                } {
                    tx.try_send(1).expect("it is received");
                    set.recv().await.expect("it was sent")
                };
                "channel::port_set::recv::PortReceiving, without ports": {
                    let set = PortSet::<u32>::new();
                } set.recv().await;
                "channel::port_set::recv::PortsReceiving": {
                    let ((tx, rx), set) = (unbounded(), PortSet::new());
                    set.add(rx).expect("it is in no set");
                } {
                    tx.try_send(1).expect("it is received");
                    set.recv_many(&mut Vec::new(), 9).await
                };
                "channel::port_set::recv::PortsReceiving, none": {
                    let set = PortSet::<u32>::new();
                } set.recv_many(&mut Vec::new(), 0).await;
                "channel::pipe::receiving::Receiving, from nobody": {} {
                    let (asker, answerer) = asking::$pipe();
                    drop(asker);
                    answerer.recv().await
                };
                "channel::pipe::timeout::ReceivingInTime, from nobody": {} {
                    let (asker, answerer) = asking::$pipe();
                    drop(asker);
                    answerer.recv().timeout(std::time::Duration::MAX).await
                };
            }
        }
    };
}

flavour!(shared, channel, pipe);
flavour!(local, local::channel, local_pipe);

/// Channels for many receivers.
macro_rules! to_many {
    ($name:ident, $($channel:ident)::+) => {
        pub(super) fn $name(turn: &Turn) -> Vec<Case> {
            use gossamer::$($channel)::+::{broadcast, watch};
            cases! { turn;
                "channel::broadcast::ends::Receiving": { let (tx, mut rx) = broadcast::broadcast(2); } {
                    tx.send(1).expect("it is received");
                    rx.recv().await.expect("it was sent")
                };
                "channel::broadcast::messages::ReceivingMany": {
                    let (tx, mut rx) = broadcast::broadcast(2);
                } {
                    tx.send(1).expect("it is received");
                    rx.recv_many(&mut Vec::new(), 9).await.expect("it was sent")
                };
                "channel::broadcast::messages::ReceivingMany, none": {
                    let (_tx, mut rx) = broadcast::broadcast::<u32>(2);
                } rx.recv_many(&mut Vec::new(), 0).await;
                "channel::broadcast::messages::Messages": {
                    let (tx, mut rx) = broadcast::broadcast(2);
                    let mut messages = pin!(rx.stream());
                } {
                    tx.send(1).expect("it is received");
                    next(&mut messages).await.expect("it was sent")
                };
                "channel::broadcast::owned::OwnedMessages": {
                    let (tx, rx) = broadcast::broadcast(2);
                    let mut messages = pin!(rx.into_stream());
                } {
                    tx.send(1).expect("it is received");
                    next(&mut messages).await.expect("it was sent")
                };
                "channel::watch::changes::OwnedChanges": {
                    let (tx, rx) = watch::watch(1);
                    let mut changes = pin!(rx.into_stream());
                } {
                    tx.send(2);
                    next(&mut changes).await.map(drop)
                };
                "channel::broadcast::messages::Messages, over": {
                    let mut rx = broadcast::broadcast::<u32>(2).1;
                    let mut messages = pin!(rx.stream());
                } next(&mut messages).await;
                "channel::broadcast::ends::WaitForClose": { let tx = broadcast::broadcast::<u32>(2).0; }
                    tx.closed().await;
                "channel::watch::ends::WaitForClose": { let tx = watch::watch(1).0; } tx.closed().await;
                "channel::watch::ends::Changed": { let (tx, mut rx) = watch::watch(1); } {
                    tx.send(2);
                    rx.changed().await.map(drop)
                };
                "channel::watch::ends::WaitFor": { let (_tx, mut rx) = watch::watch(1); }
                    rx.wait_for(|_| true).await.map(drop);
                "channel::watch::changes::Changes": {
                    let (tx, mut rx) = watch::watch(1);
                    let mut changes = pin!(rx.stream());
                } {
                    tx.send(2);
                    next(&mut changes).await.map(drop)
                };
                "channel::watch::changes::Changes, over": {
                    let mut rx = watch::watch(1).1;
                    let mut changes = pin!(rx.stream());
                } next(&mut changes).await.map(drop);
            }
        }
    };
}

to_many!(shared_to_many, channel);
to_many!(local_to_many, local::channel);

/// What has one flavour, or takes any future.
pub(super) fn others(turn: &Turn) -> Vec<Case> {
    let set = || {
        let set = Event::new();
        set.set();
        set
    };
    cases! { turn;
        "channel::oneshot::Receiver": {} {
            let (tx, rx) = oneshot::oneshot();
            tx.send(1).expect("it is received");
            rx.await.expect("it was sent")
        };
        "channel::oneshot::WaitForClose": { let mut tx = oneshot::oneshot::<u32>().0; } tx.closed().await;
        "channel::select::Any": { let set = set(); } select::any([set.ready(), set.ready()]).await;
        "channel::select::Any, of another library's": {} select::any([ready(1)]).await;
        "channel::select::Select": { let (set, never) = (set(), Event::new()); } select! {
            () = set.ready() => {}
            () = never.ready() => {}
        };
        "channel::select::Select, of another library's": {} select! {
            () = ready(()) => {}
            () = pending() => {}
        };
        "channel::select::Select, of none": { let never = false; } select! {
            () = ready(()), if never => {}
            else => {}
        };
    }
}
