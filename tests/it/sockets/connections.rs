//! What a connection does.

use std::io::{Cursor, ErrorKind, IoSlice, IoSliceMut};
use std::net::Shutdown;
use std::pin::pin;
use std::time::Duration;

use gossamer::net::Socket;
use rustix::net::sockopt::set_socket_linger;

use super::{Ends, both, everywhere, fill, of_connections, tcp_4, unix, waits};
use crate::conform::Kind;

of_connections! {
    bytes_go_both_ways,
    one_waits_for_bytes,
    several_buffers,
    looking_leaves_it_there,
    trying_does_not_wait,
    readiness_is_told,
    room_is_waited_for,
    all_of_much,
    a_cursor_says_how_far,
    an_early_end_says_how_much_came,
    one_direction_ends,
    the_peer_goes,
    nothing_is_written_to_a_closed_connection,
    nothing_is_written_to_a_closed_direction,
    what_is_nothing_waits_for_nobody,
    all_that_wait_are_told_of_the_end,
}

async fn bytes_go_both_ways<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let mut buffer = [0; 9];
    for _ in 0..3 {
        assert_eq!(kind.finish(one.write(b"ping")).await.expect("open"), 4);
        let read = kind.finish(other.read(&mut buffer)).await.expect("open");
        assert_eq!(&buffer[..read], b"ping");
        assert_eq!(kind.finish(other.write(b"pong!")).await.expect("open"), 5);
        let read = kind.finish(one.read(&mut buffer)).await.expect("open");
        assert_eq!(&buffer[..read], b"pong!");
    }
    assert_eq!(kind.finish(one.write(&[])).await.expect("open"), 0);
}

async fn one_waits_for_bytes<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    for number in 0..3 {
        let mut buffer = [0; 9];
        let mut read = pin!(one.read(&mut buffer));
        waits(read.as_mut()).await;
        assert_eq!(other.try_write(&[number; 3]).expect("there is room"), 3);
        assert_eq!(kind.finish(read).await.expect("open"), 3);
        assert_eq!(buffer[..3], [number; 3]);
    }
}

async fn several_buffers<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let (mut first, mut second) = ([0; 2], [0; 9]);
    let mut buffers = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
    let mut read = pin!(other.read_vectored(&mut buffers));
    waits(read.as_mut()).await;
    let bytes = [IoSlice::new(b"abc"), IoSlice::new(b"de")];
    let written = kind.finish(one.write_vectored(&bytes)).await;
    assert_eq!(written.expect("open"), 5);
    assert_eq!(kind.finish(read).await.expect("open"), 5);
    assert_eq!((&first, &second[..3]), (b"ab", &b"cde"[..]));
    // With the same list.
    let mut buffers = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
    for sent in [b"fgh", b"ijk"] {
        one.try_write(sent).expect("there is room");
        let read = kind.finish(other.read_vectored(&mut buffers)).await;
        assert_eq!(read.expect("open"), 3);
        assert_eq!((&buffers[0][..], &buffers[1][..1]), sent.split_at(2));
    }
}

async fn looking_leaves_it_there<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let mut buffer = [0; 3];
    let mut look = pin!(other.peek(&mut buffer));
    waits(look.as_mut()).await;
    assert_eq!(one.try_write(b"hello").expect("there is room"), 5);
    assert_eq!(kind.finish(look).await.expect("open"), 3);
    assert_eq!(&buffer, b"hel");
    for _ in 0..2 {
        assert_eq!(kind.finish(other.peek(&mut [0; 9])).await.expect("open"), 5);
    }
    assert_eq!(kind.finish(other.read(&mut [0; 9])).await.expect("open"), 5);
}

async fn trying_does_not_wait<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let nothing = one.try_read(&mut [0; 9]).expect_err("nothing is there");
    assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
    assert_eq!(other.try_write(b"x").expect("there is room"), 1);
    assert_eq!(kind.finish(one.read(&mut [0; 9])).await.expect("open"), 1);
}

async fn readiness_is_told<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    one.try_read(&mut [0; 9]).expect_err("nothing is there");
    let mut readable = pin!(one.readable());
    waits(readable.as_mut()).await;
    other.try_write(b"x").expect("there is room");
    kind.finish(readable).await.expect("it can be polled");
    assert_eq!(one.try_read(&mut [0; 9]).expect("it is there"), 1);
    kind.finish(one.writable()).await.expect("it can be polled");

    let sent = fill(&other);
    let mut writable = pin!(other.writable());
    waits(writable.as_mut()).await;
    let mut buffer = vec![0; sent];
    kind.finish(one.read_exact(&mut buffer))
        .await
        .expect("open");
    kind.finish(writable).await.expect("it can be polled");
    other.try_write(b"x").expect("there is room");
}

async fn room_is_waited_for<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let sent = fill(&one);
    let bytes = vec![8; 1 << 20];
    let mut write = pin!(one.write(&bytes));
    waits(write.as_mut()).await;
    let mut buffer = vec![0; sent];
    kind.finish(other.read_exact(&mut buffer))
        .await
        .expect("open");
    let written = kind.finish(write).await.expect("open");
    assert!(0 < written, "nothing was written");
    let mut buffer = vec![0; written];
    kind.finish(other.read_exact(&mut buffer))
        .await
        .expect("open");
    assert_eq!(buffer, bytes[..written]);
}

/// More than the system keeps.
fn much() -> Vec<u8> {
    (0..3_000_000_u32).map(|at| (at / 7) as u8).collect()
}

async fn all_of_much<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let (bytes, mut buffer) = (much(), vec![0; much().len()]);
    let moves = both(one.write_all(&bytes), other.read_exact(&mut buffer));
    let (written, read) = kind.finish(moves).await;
    written.and(read).expect("open");
    assert!(buffer == bytes, "bytes are lost or out of order");
}

async fn a_cursor_says_how_far<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let bytes = much();
    let (mut from, mut into) = (Cursor::new(&bytes), Cursor::new(vec![0; bytes.len()]));
    waits(pin!(one.write_all_from(&mut from))).await;
    waits(pin!(other.read_exact_into(&mut into))).await;
    assert!(0 < into.position() && into.position() <= from.position());
    let rest = both(
        one.write_all_from(&mut from),
        other.read_exact_into(&mut into),
    );
    let (written, read) = kind.finish(rest).await;
    written.and(read).expect("open");
    assert_eq!((from.position(), into.position()), (3_000_000, 3_000_000));
    assert!(into.get_ref() == &bytes, "bytes are lost or out of order");
    // A position behind the end: there is nothing to do.
    from.set_position(u64::MAX);
    let written = kind.finish(one.write_all_from(&mut from)).await;
    written.expect("nothing to do");
    into.set_position(u64::MAX);
    let read = kind.finish(other.read_exact_into(&mut into)).await;
    read.expect("nothing to do");
}

async fn an_early_end_says_how_much_came<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    kind.finish(one.write_all(b"abc")).await.expect("open");
    drop(one);
    let mut buffer = Cursor::new([0; 10]);
    let error = kind.finish(other.read_exact_into(&mut buffer)).await;
    let error = error.expect_err("too little came");
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    assert_eq!(
        error.to_string(),
        "the peer sends no more, and 3 of 10 bytes have come"
    );
    assert_eq!(
        (buffer.position(), &buffer.get_ref()[..3]),
        (3, &b"abc"[..])
    );
    let error = kind.finish(other.read_exact(&mut [0; 2])).await;
    let text = error.expect_err("nothing came").to_string();
    assert_eq!(text, "the peer sends no more, and 0 of 2 bytes have come");
}

async fn one_direction_ends<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    kind.finish(one.write_all(b"last")).await.expect("open");
    let mut buffer = [0; 9];
    assert_eq!(kind.finish(other.read(&mut buffer)).await.expect("open"), 4);
    let mut read = pin!(other.read(&mut buffer));
    waits(read.as_mut()).await;
    one.shutdown(Shutdown::Write).expect("open");
    assert_eq!(kind.finish(read).await.expect("open"), 0);
    // The other direction goes on.
    for _ in 0..2 {
        kind.finish(other.write_all(b"more")).await.expect("open");
        kind.finish(one.read_exact(&mut [0; 4]))
            .await
            .expect("open");
        assert_eq!(kind.finish(other.read(&mut [0; 9])).await.expect("open"), 0);
    }
}

async fn the_peer_goes<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    kind.finish(one.write_all(b"last")).await.expect("open");
    drop(one);
    assert_eq!(
        kind.finish(other.read(&mut [0; 9]))
            .await
            .expect("it was sent"),
        4
    );
    assert_eq!(
        kind.finish(other.read(&mut [0; 9])).await.expect("the end"),
        0
    );
    assert_eq!(
        kind.finish(other.peek(&mut [0; 9])).await.expect("the end"),
        0
    );
    // The first one may still be sent; the peer answers that it is gone.
    let gone = loop {
        match kind.finish(other.write(b"x")).await {
            Ok(_) => {}
            Err(error) => break error.kind(),
        }
    };
    let broken = [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset];
    assert!(broken.contains(&gone), "{gone}");
}

/// What the system's buffers have no room for, and no byte.
async fn what_is_nothing_waits_for_nobody<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    assert_eq!(other.try_write(b"all").expect("there is room"), 3);
    // Short, so that the next one would wait.
    assert_eq!(one.try_read(&mut [0; 9]).expect("it is there"), 3);
    one.try_read(&mut [0; 9]).expect_err("nothing is left");
    kind.finish(one.read_exact(&mut [])).await.expect("open");
    fill(&one);
    kind.finish(one.write_all(b"")).await.expect("open");
}

async fn nothing_is_written_to_a_closed_connection<S: Socket>(kind: Kind, ends: Ends<S>) {
    nothing_is_written_after(Shutdown::Both, kind, ends).await;
}

async fn nothing_is_written_to_a_closed_direction<S: Socket>(kind: Kind, ends: Ends<S>) {
    nothing_is_written_after(Shutdown::Write, kind, ends).await;
}

async fn nothing_is_written_after<S: Socket>(how: Shutdown, kind: Kind, (one, _other): Ends<S>) {
    fill(&one);
    let mut write = pin!(one.write(b"x"));
    waits(write.as_mut()).await;
    one.shutdown(how).expect("open");
    let error = kind.finish(write).await.expect_err("it is closed");
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    let error = kind
        .finish(one.write_all(b"x"))
        .await
        .expect_err("it is closed");
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
}

async fn all_that_wait_are_told_of_the_end<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let (mut first, mut second) = ([0; 9], [0; 9]);
    let (mut first, mut second) = (pin!(one.read(&mut first)), pin!(one.read(&mut second)));
    waits(first.as_mut()).await;
    waits(second.as_mut()).await;
    drop(other);
    assert_eq!(kind.finish(first).await.expect("the end"), 0);
    assert_eq!(kind.finish(second).await.expect("the end"), 0);
}

/// A connection that the peer breaks, with bytes under way.
#[test]
fn the_peer_breaks_it() {
    everywhere(|kind| async move {
        let (one, other) = tcp_4();
        let mut buffer = [0; 9];
        let mut read = pin!(one.read(&mut buffer));
        waits(read.as_mut()).await;
        set_socket_linger(&other, Some(Duration::ZERO)).expect("an option");
        drop(other);
        let error = kind.finish(read).await.expect_err("broken");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        let error = kind.finish(one.write_all(b"x")).await.expect_err("broken");
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    });
}

/// A read ends behind bytes that a descriptor came with, though there are more.
#[test]
fn descriptors_among_the_bytes() {
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
    everywhere(|kind| async move {
        let (one, other) = unix();
        let mut buffer = [0; 99];
        let mut read = pin!(one.read(&mut buffer));
        waits(read.as_mut()).await;
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let with = [std::os::fd::AsFd::as_fd(&other)];
        assert!(ancillary.push(SendAncillaryMessage::ScmRights(&with)));
        let bytes = [IoSlice::new(b"abc")];
        sendmsg(&other, &bytes, &mut ancillary, SendFlags::empty()).expect("there is room");
        other.try_write(b"def").expect("there is room");
        // Woken by both.
        let read = kind.finish(read).await.expect("open");
        let rest = 6 - read;
        kind.finish(one.read_exact(&mut buffer[..rest]))
            .await
            .expect("open");
    });
}
