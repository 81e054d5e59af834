//! Operations that end early lose nothing.

use std::io::Cursor;
use std::pin::pin;
use std::time::Duration;

use gossamer::net::Socket;
use gossamer::{TimeoutExt, select};

use super::{Ends, fill, of_connections, waits};
use crate::conform::Kind;
use crate::hand::parked;

of_connections! {
    a_dropped_read,
    a_read_that_was_told_and_is_dropped,
    a_read_that_is_late,
    a_read_that_loses,
    a_dropped_write,
    all_in_time_or_from_there_on,
}

const SOON: Duration = Duration::from_millis(1);

async fn a_dropped_read<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    waits(pin!(one.read(&mut [0; 9]))).await;
    other.try_write(b"hello").expect("there is room");
    let mut buffer = [0; 9];
    let read = kind.finish(one.read(&mut buffer)).await.expect("open");
    assert_eq!(&buffer[..read], b"hello");
}

/// Of two that wait the first is dropped when both have been told: the other one reads.
async fn a_read_that_was_told_and_is_dropped<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let (mut buffer, mut unused) = ([0; 9], [0; 9]);
    let mut last = pin!(one.read(&mut buffer));
    {
        // By hand: nobody polls it when it is told.
        let mut first = parked(one.read(&mut unused));
        waits(last.as_mut()).await;
        other.try_write(b"hello").expect("there is room");
        kind.finish(one.readable()).await.expect("it can be polled");
        assert!(first.wakes() <= 1);
        drop(first);
        first = parked(other.read(&mut unused));
        drop(first);
    }
    let read = kind.finish(last).await.expect("open");
    assert_eq!(&buffer[..read], b"hello");
}

async fn a_read_that_is_late<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let mut buffer = [0; 9];
    let late = kind.finish(one.read(&mut buffer).timeout(SOON)).await;
    late.expect_err("nothing has come");
    other.try_write(b"hello").expect("there is room");
    let read = kind.finish(one.read(&mut buffer)).await.expect("open");
    assert_eq!(&buffer[..read], b"hello");
}

async fn a_read_that_loses<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let (mut of_one, mut of_other) = ([0; 9], [0; 9]);
    one.try_write(b"hello").expect("there is room");
    let ended = async {
        select! {
            read = one.read(&mut of_one) => (1, read.expect("open")),
            read = other.read(&mut of_other) => (2, read.expect("open")),
        }
    };
    assert_eq!(ended.await, (2, 5));
    other.try_write(b"world").expect("there is room");
    let read = kind.finish(one.read(&mut of_one)).await.expect("open");
    assert_eq!(&of_one[..read], b"world");
}

async fn a_dropped_write<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let sent = fill(&one);
    waits(pin!(one.write(b"never"))).await;
    let late = kind.finish(one.write(b"never").timeout(SOON)).await;
    late.expect_err("there is no room");
    drop(one);
    let mut buffer = vec![0; sent];
    kind.finish(other.read_exact(&mut buffer))
        .await
        .expect("it was sent");
    assert!(
        buffer.iter().all(|byte| *byte == 7),
        "other bytes have come"
    );
    assert_eq!(
        kind.finish(other.read(&mut buffer)).await.expect("the end"),
        0
    );
}

async fn all_in_time_or_from_there_on<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| (at / 11) as u8).collect();
    let (mut from, mut into) = (Cursor::new(&bytes), Cursor::new(vec![0; bytes.len()]));
    let (mut wrote, mut read) = (false, false);
    while !(wrote && read) {
        if !wrote {
            let written = kind
                .finish(one.write_all_from(&mut from).timeout(SOON))
                .await;
            wrote = written.map(|written| written.expect("open")).is_ok();
        }
        let ended = kind
            .finish(other.read_exact_into(&mut into).timeout(SOON))
            .await;
        read = ended.map(|ended| ended.expect("open")).is_ok();
        assert!(into.position() <= from.position(), "bytes from nowhere");
    }
    assert!(into.into_inner() == bytes, "bytes are lost or out of order");
}
