//! Connections by the traits of other libraries, which poll them.

mod with_hyper;
mod with_tokio;

use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Mutex;
use std::task::Poll;

use futures_io::{AsyncRead, AsyncWrite};
use gossamer::Wait;
use gossamer::net::Socket;

use super::{Ends, fill, of_connections, waits};
use crate::conform::Kind;
use crate::hand::parked;

of_connections! {
    by_futures_io,
    halves_by_futures_io,
    a_close_is_told,
    what_was_begun_and_dropped_has_read_nothing,
    a_write_that_waits_goes_on,
    an_error_one_way_leaves_the_other_waiting,
    another_task_goes_on,
    it_is_taken_apart_while_it_waits,
    any_call_of_the_system,
    a_call_that_panics_ends_nothing,
}

/// One waits to write where another one closes.
async fn a_close_is_told<S: Socket>(kind: Kind, (one, _other): Ends<S>) {
    let (reads, mut writes) = one.into_split();
    fill(reads.as_ref());
    let mut write = pin!(reads.as_ref().write(b"x"));
    waits(write.as_mut()).await;
    kind.finish(close(&mut writes)).await.expect("open");
    let written = kind.finish(write).await;
    assert_eq!(
        written.map_err(|error| error.kind()),
        Err(ErrorKind::BrokenPipe)
    );
}

/// Reads by futures-io.
fn read<'a, R: AsyncRead + Unpin>(
    reads: &'a mut R,
    buffer: &'a mut [u8],
) -> impl Future<Output = io::Result<usize>> + 'a {
    poll_fn(move |cx| Pin::new(&mut *reads).poll_read(cx, buffer))
}

/// Writes by futures-io.
fn write<'a, W: AsyncWrite + Unpin>(
    writes: &'a mut W,
    bytes: &'a [u8],
) -> impl Future<Output = io::Result<usize>> + 'a {
    poll_fn(move |cx| Pin::new(&mut *writes).poll_write(cx, bytes))
}

/// Closes by futures-io.
fn close<W: AsyncWrite + Unpin>(writes: &mut W) -> impl Future<Output = io::Result<()>> + '_ {
    poll_fn(move |cx| Pin::new(&mut *writes).poll_close(cx))
}

/// All of it, and the end: by futures-io.
async fn by_futures_io<S: Socket>(kind: Kind, (mut one, mut other): Ends<S>) {
    let mut buffer = [0; 8];
    waits(pin!(read(&mut one, &mut buffer))).await;
    let written = kind.finish(write(&mut other, b"abcd")).await;
    assert_eq!(written.expect("open"), 4);
    let came = kind.finish(read(&mut one, &mut buffer)).await;
    assert_eq!(&buffer[..came.expect("open")], b"abcd");

    let bytes = [IoSlice::new(b"ef"), IoSlice::new(b"gh")];
    let all = poll_fn(|cx| Pin::new(&mut other).poll_write_vectored(cx, &bytes));
    assert_eq!(kind.finish(all).await.expect("open"), 4);
    let (mut begin, mut rest) = ([0; 3], [0; 3]);
    let mut buffers = [IoSliceMut::new(&mut begin), IoSliceMut::new(&mut rest)];
    let all = poll_fn(|cx| Pin::new(&mut one).poll_read_vectored(cx, &mut buffers));
    assert_eq!(kind.finish(all).await.expect("open"), 4);
    assert_eq!((&begin, &rest[..1]), (b"efg", &b"h"[..]));

    kind.finish(poll_fn(|cx| Pin::new(&mut other).poll_flush(cx)))
        .await
        .expect("nothing is kept");
    // Twice is as once.
    for _ in 0..2 {
        kind.finish(close(&mut other)).await.expect("open");
    }
    let came = kind.finish(read(&mut one, &mut buffer)).await;
    assert_eq!(came.expect("the end"), 0);
    let written = kind.finish(write(&mut other, b"x")).await;
    assert_eq!(
        written.map_err(|error| error.kind()),
        Err(ErrorKind::BrokenPipe)
    );
    drop(one);
    kind.finish(close(&mut other)).await.expect("closed");
}

async fn halves_by_futures_io<S: Socket + std::fmt::Debug>(kind: Kind, (one, other): Ends<S>) {
    let (mut reads, mut back) = one.into_split();
    let (mut returns, mut writes) = other.into_split();
    let mut buffer = [0; 8];
    waits(pin!(read(&mut reads, &mut buffer))).await;
    waits(pin!(read(&mut returns, &mut buffer))).await;
    kind.finish(write(&mut writes, b"abcd"))
        .await
        .expect("open");
    let came = kind.finish(read(&mut reads, &mut buffer)).await;
    assert_eq!(&buffer[..came.expect("open")], b"abcd");
    kind.finish(close(&mut writes)).await.expect("open");
    let came = kind.finish(read(&mut reads, &mut buffer)).await;
    assert_eq!(came.expect("the end"), 0);
    kind.finish(write(&mut back, b"efgh")).await.expect("open");
    let whole = returns.reunite(writes).expect("they belong together");
    let came = kind.finish(whole.read(&mut buffer)).await;
    assert_eq!(&buffer[..came.expect("open")], b"efgh");
}

async fn what_was_begun_and_dropped_has_read_nothing<S: Socket>(
    kind: Kind,
    (mut one, other): Ends<S>,
) {
    let mut buffer = [0; 8];
    for _ in 0..3 {
        let begun = parked(read(&mut one, &mut buffer));
        other.try_write(b"abcd").expect("there is room");
        drop(begun);
        let came = kind.finish(read(&mut one, &mut buffer)).await;
        assert_eq!(&buffer[..came.expect("open")], b"abcd");
    }
    // Also by an operation, while the node that is kept has been told.
    drop(parked(read(&mut one, &mut buffer)));
    other.try_write(b"abcd").expect("there is room");
    let came = kind.finish(one.read(&mut buffer)).await;
    assert_eq!(&buffer[..came.expect("open")], b"abcd");
}

async fn a_write_that_waits_goes_on<S: Socket>(kind: Kind, (mut one, mut other): Ends<S>) {
    let kept = fill(&one);
    waits(pin!(write(&mut one, b"more"))).await;
    kind.finish(other.read_exact(&mut vec![0; kept]))
        .await
        .expect("it was sent");
    let written = kind.finish(write(&mut one, b"more")).await;
    assert_eq!(written.expect("open"), 4);
    let mut buffer = [0; 8];
    let came = kind.finish(read(&mut other, &mut buffer)).await;
    assert_eq!(&buffer[..came.expect("open")], b"more");
}

async fn an_error_one_way_leaves_the_other_waiting<S: Socket>(kind: Kind, ends: Ends<S>) {
    let (mut one, other) = ends;
    kind.finish(close(&mut one)).await.expect("open");
    let one = Mutex::new(one);
    let mut reads = parked(poll_fn(|cx| {
        Pin::new(&mut *one.lock().expect("no panic")).poll_read(cx, &mut [0; 8])
    }));
    let writes = poll_fn(|cx| Pin::new(&mut *one.lock().expect("no panic")).poll_write(cx, b"x"));
    let error = kind.finish(writes).await.expect_err("it is closed");
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    assert_eq!((reads.wakes(), reads.wakers_held()), (0, 1), "it waits");
    other.try_write(b"abcd").expect("there is room");
    let came = kind.finish(poll_fn(|cx| reads.poll_with(cx.waker()))).await;
    assert_eq!(came.expect("open"), 4);
}

/// What has waited for one task is polled by another one, when the first has ended.
async fn another_task_goes_on<S: Socket + Send + Sync + 'static>(kind: Kind, ends: Ends<S>) {
    let (mut one, other) = ends;
    if gossamer::Handle::try_current().is_some() {
        let first = gossamer::spawn(async move {
            waits(pin!(read(&mut one, &mut [0; 8]))).await;
            one
        });
        one = kind.finish(first).await.expect("no panic");
    }
    waits(pin!(read(&mut one, &mut [0; 8]))).await;
    other.try_write(b"abcd").expect("there is room");
    let came = kind.finish(read(&mut one, &mut [0; 8])).await;
    assert_eq!(came.expect("open"), 4);
}

async fn it_is_taken_apart_while_it_waits<S: Socket + Into<OwnedFd>>(
    kind: Kind,
    (mut one, other): Ends<S>,
) {
    waits(pin!(read(&mut one, &mut [0; 8]))).await;
    let descriptor = OwnedFd::from(one);
    let mut one = gossamer::net::Connection::<S>::try_from(descriptor).expect("it is one");
    waits(pin!(read(&mut one, &mut [0; 8]))).await;
    other.try_write(b"abcd").expect("there is room");
    let came = kind.finish(read(&mut one, &mut [0; 8])).await;
    assert_eq!(came.expect("open"), 4);
}

async fn any_call_of_the_system<S: Socket>(kind: Kind, (mut one, mut other): Ends<S>) {
    let mut tries = 0;
    let mut reads = Box::pin(poll_fn(|cx| {
        one.poll_read_with(cx, |socket| {
            tries += 1;
            let mut buffer = [0; 8];
            Ok(rustix::io::read(socket, &mut buffer)?)
        })
    }));
    waits(reads.as_mut()).await;
    let written =
        poll_fn(|cx| other.poll_write_with(cx, |socket| Ok(rustix::io::write(socket, b"abcd")?)));
    assert_eq!(kind.finish(written).await.expect("open"), 4);
    assert_eq!(kind.finish(&mut reads).await.expect("open"), 4);
    drop(reads);
    assert!(tries >= 2, "one was in vain: {tries}");
}

/// Before anything has waited, and with the nodes of what has.
async fn a_call_that_panics_ends_nothing<S: Socket>(kind: Kind, (mut one, other): Ends<S>) {
    for _ in 0..2 {
        other.try_write(b"abcd").expect("there is room");
        kind.finish(one.readable()).await.expect("it can be polled");
        for _ in 0..2 {
            let panics = poll_fn(|cx| {
                let reads = |_: &S| panic!("in the call");
                let writes = |_: &S| panic!("in the call");
                let reads = catch_unwind(AssertUnwindSafe(|| one.poll_read_with(cx, reads)));
                let writes = catch_unwind(AssertUnwindSafe(|| one.poll_write_with(cx, writes)));
                Poll::Ready([reads.is_err(), writes.is_err()])
            });
            assert_eq!(panics.await, [true; 2]);
        }
        let came = kind.finish(read(&mut one, &mut [0; 8])).await;
        assert_eq!(came.expect("open"), 4);
        assert_eq!(kind.finish(write(&mut one, b"x")).await.expect("open"), 1);
        waits(pin!(read(&mut one, &mut [0; 8]))).await;
    }
}

#[test]
fn blocking_calls_of_fibers_and_threads() {
    use std::io::{Read, Write};
    use std::time::Duration;

    super::everywhere(|kind| async move {
        let (one, other) = super::unix();
        let (mut one, mut other) = (one.into_blocking(), other.into_blocking());
        if kind == Kind::Task {
            // Where it need not wait, nobody stands still.
            one.get_ref().write(b"a").await.expect("open");
            other.into_inner().read(&mut [0]).await.expect("open");
            return;
        }
        let mut buffer = [0; 8];
        one.write_all(b"abcd").expect("open");
        let bytes = [IoSlice::new(b"ef"), IoSlice::new(b"gh")];
        assert_eq!((&one).write_vectored(&bytes).expect("open"), 4);
        one.flush().expect("nothing is kept");
        (&other).read_exact(&mut buffer).expect("open");
        assert_eq!(&buffer, b"abcdefgh");

        let soon = Some(Duration::from_millis(1));
        other.set_read_timeout(soon);
        let late = other.read(&mut buffer).expect_err("nothing has come");
        let expected =
            "the peer has sent nothing within 1ms: allow it more time, or give the peer up";
        assert_eq!(
            (late.kind(), late.to_string().as_str()),
            (ErrorKind::TimedOut, expected)
        );
        one.write_all(b"abcd").expect("open");
        assert_eq!(other.read(&mut buffer).expect("it is there"), 4);
        fill(one.get_ref());
        one.set_write_timeout(soon);
        let late = one.write(b"x").expect_err("there is no room");
        assert_eq!(late.kind(), ErrorKind::TimedOut);
        drop(one);
        other.set_read_timeout(None);
        other.read_to_end(&mut Vec::new()).expect("to the end");
    });
}

#[test]
fn a_blocking_call_of_a_task_says_what_to_do() {
    use std::io::Read;

    let rt = crate::models::runtime(gossamer::Model::Single);
    let reads = rt.spawn(async {
        let (one, _other) = super::unix();
        one.into_blocking().read(&mut [0])
    });
    assert!(reads.wait().expect_err("it panics").is_panic());
}
