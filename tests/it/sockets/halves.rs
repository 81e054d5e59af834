//! The two directions of a connection.

use std::io::{Cursor, IoSlice, IoSliceMut};

use gossamer::net::Socket;

use super::{Ends, of_connections};
use crate::conform::Kind;

of_connections! {
    each_half_does_its_own,
    a_half_that_writes_closes_its_direction,
    a_half_that_reads_closes_nothing,
    halves_make_a_whole_again,
}

async fn each_half_does_its_own<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let ((reads, _), (_, writes)) = (one.into_split(), other.into_split());
    let mut buffer = [0; 4];
    kind.finish(writes.writable())
        .await
        .expect("it can be polled");
    assert_eq!(kind.finish(writes.write(b"abcd")).await.expect("open"), 4);
    kind.finish(reads.readable())
        .await
        .expect("it can be polled");
    assert_eq!(kind.finish(reads.peek(&mut buffer)).await.expect("open"), 4);
    assert_eq!(kind.finish(reads.read(&mut buffer)).await.expect("open"), 4);
    let bytes = [IoSlice::new(b"ef"), IoSlice::new(b"gh")];
    kind.finish(writes.write_vectored(&bytes))
        .await
        .expect("open");
    let mut buffers = [IoSliceMut::new(&mut buffer)];
    kind.finish(reads.read_vectored(&mut buffers))
        .await
        .expect("open");
    assert_eq!(&buffer, b"efgh");
    kind.finish(writes.write_all(b"ijkl")).await.expect("open");
    kind.finish(reads.read_exact(&mut buffer))
        .await
        .expect("open");
    let (mut from, mut into) = (Cursor::new(b"mnop"), Cursor::new(buffer));
    kind.finish(writes.write_all_from(&mut from))
        .await
        .expect("open");
    kind.finish(reads.read_exact_into(&mut into))
        .await
        .expect("open");
    assert_eq!(into.get_ref(), b"mnop");
    assert_eq!(writes.try_write(b"qrst").expect("there is room"), 4);
    assert_eq!(reads.try_read(&mut [0; 4]).expect("it is there"), 4);
}

async fn a_half_that_writes_closes_its_direction<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let (reads, writes) = one.into_split();
    kind.finish(writes.write_all(b"last")).await.expect("open");
    drop(writes);
    kind.finish(other.read_exact(&mut [0; 4]))
        .await
        .expect("it was sent");
    assert_eq!(
        kind.finish(other.read(&mut [0; 4])).await.expect("the end"),
        0
    );
    kind.finish(other.write_all(b"more")).await.expect("open");
    kind.finish(reads.read_exact(&mut [0; 4]))
        .await
        .expect("open");
}

async fn a_half_that_reads_closes_nothing<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let (reads, writes) = one.into_split();
    drop(reads);
    kind.finish(writes.write_all(b"more")).await.expect("open");
    kind.finish(other.read_exact(&mut [0; 4]))
        .await
        .expect("open");
    let (reads, _closed) = other.into_split();
    writes.forget();
    // Both halves of it are gone, and so is the connection.
    assert_eq!(
        kind.finish(reads.read(&mut [0; 4])).await.expect("the end"),
        0
    );
}

async fn halves_make_a_whole_again<S: Socket>(kind: Kind, (one, other): Ends<S>) {
    let (one_reads, one_writes) = one.into_split();
    let (other_reads, other_writes) = other.into_split();
    let crossed = one_reads.reunite(other_writes).map(drop);
    let error = crossed.expect_err("they are of two");
    assert!(error.to_string().contains("of two connections"), "{error}");
    let one = error.0.reunite(one_writes).map_err(drop).expect("of one");
    let other = other_reads.reunite(error.1).map_err(drop).expect("of one");
    // Neither direction is closed.
    for (from, to) in [(&one, &other), (&other, &one)] {
        kind.finish(from.write_all(b"abcd")).await.expect("open");
        kind.finish(to.read_exact(&mut [0; 4])).await.expect("open");
    }
}
