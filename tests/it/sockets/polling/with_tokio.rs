//! Connections by tokio's traits.

use std::future::poll_fn;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::pin::Pin;

use gossamer::net::Socket;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::conform::Kind;
use crate::sockets::{Ends, of_connections};

of_connections! {
    by_tokio,
}

/// Memory that is initialised and that is not, more of it than is moved at a time.
async fn by_tokio<S: Socket>(kind: Kind, (mut one, mut other): Ends<S>) {
    for (room, initialised) in [(8, 8), (8, 0), (8, 3), (1 << 16, 0)] {
        let sent = kind.finish(poll_fn(|cx| {
            AsyncWrite::poll_write(Pin::new(&mut other), cx, b"abcdef")
        }));
        assert_eq!(sent.await.expect("open"), 6);
        let mut memory = vec![MaybeUninit::uninit(); room];
        let mut buffer = ReadBuf::uninit(&mut memory);
        buffer.initialize_unfilled_to(initialised);
        buffer.put_slice(b"before".get(..2).expect("two"));
        let came = kind.finish(poll_fn(|cx| {
            AsyncRead::poll_read(Pin::new(&mut one), cx, &mut buffer)
        }));
        came.await.expect("open");
        assert_eq!(buffer.filled(), b"beabcdef");
    }
    assert!(AsyncWrite::is_write_vectored(&other));
    let bytes = [IoSlice::new(b"ef"), IoSlice::new(b"gh")];
    let sent = poll_fn(|cx| AsyncWrite::poll_write_vectored(Pin::new(&mut other), cx, &bytes));
    assert_eq!(kind.finish(sent).await.expect("open"), 4);
    let flushed = poll_fn(|cx| AsyncWrite::poll_flush(Pin::new(&mut other), cx));
    kind.finish(flushed).await.expect("nothing is kept");
    let closed = poll_fn(|cx| AsyncWrite::poll_shutdown(Pin::new(&mut other), cx));
    kind.finish(closed).await.expect("open");
    let mut memory = [0; 8];
    for expected in [4, 0] {
        let mut buffer = ReadBuf::new(&mut memory);
        let came = kind.finish(poll_fn(|cx| {
            AsyncRead::poll_read(Pin::new(&mut one), cx, &mut buffer)
        }));
        came.await.expect("what is left, and the end");
        assert_eq!(buffer.filled().len(), expected);
    }
}
