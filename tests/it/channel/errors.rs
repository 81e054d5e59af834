//! What an error says of a closed channel is true of each kind: nobody blames a sender for what is not there.

use std::error::Error;

use gossamer::Wait;
use gossamer::channel::{bounded, broadcast, oneshot, spsc, watch};

use crate::flavour::Shared;
use crate::pipe::Pipes;

/// What the error of this says.
#[track_caller]
fn text<T>(result: Result<T, impl Error>) -> String {
    result.err().expect("it is closed").to_string()
}

#[test]
fn a_receiver_is_told_that_the_other_side_is_gone_or_close_was_called() {
    let closed = "the channel is closed: the other side is gone, or `close` was called";
    let (tx, rx) = bounded::<u32>(1);
    tx.close();
    assert_eq!(text(rx.recv().wait()), closed);
    assert_eq!(text(rx.try_recv()), closed);
    let (tx, rx) = oneshot::<u32>();
    drop(tx);
    assert_eq!(text(rx.wait()), closed);
    let (_tx, mut rx) = oneshot::<u32>();
    rx.close();
    assert_eq!(text(rx.wait()), closed);
    let (tx, mut rx) = spsc::<u32>(1);
    drop(tx);
    assert_eq!(text(rx.recv().wait()), closed);
    let (tx, mut rx) = watch(0);
    drop(tx);
    assert_eq!(text(rx.changed().wait()), closed);
    // A pipe's ends both send and receive.
    let (client, server) = Shared::pipe::<u32>();
    drop(client);
    assert_eq!(text(server.recv().wait()), closed);
    let (client, server) = Shared::pipe::<u32>();
    let told = client.tell(1).expect("it is there");
    drop(server);
    assert_eq!(text(told.ready().wait()), closed, "which is to send");
    // It cannot be closed but by its senders' end.
    let (tx, mut rx) = broadcast::<u32>(1);
    drop(tx);
    assert_eq!(
        text(rx.try_recv()),
        "the channel is closed: no sender is left"
    );
}

#[test]
fn a_sender_is_told_that_the_other_side_is_gone_or_close_was_called() {
    let not_sent = "the message was not sent: the other side is gone, or `close` was called";
    let (tx, rx) = bounded::<u32>(1);
    rx.close();
    assert_eq!(text(tx.send(1).wait()), not_sent);
    assert_eq!(text(tx.try_send(1)), not_sent);
    let (tx, rx) = oneshot::<u32>();
    drop(rx);
    assert_eq!(text(tx.send(1)), not_sent);
    let (client, server) = Shared::pipe::<u32>();
    drop(server);
    assert_eq!(text(client.tell(1)), not_sent);
}
