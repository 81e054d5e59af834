//! Connections by hyper's traits.

use std::future::poll_fn;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::pin::Pin;

use gossamer::net::Socket;
use hyper::rt::{Read, ReadBuf, Write};

use crate::conform::Kind;
use crate::sockets::{Ends, of_connections};

of_connections! {
    by_hyper,
}

async fn by_hyper<S: Socket>(kind: Kind, (mut one, mut other): Ends<S>) {
    let sent = poll_fn(|cx| Write::poll_write(Pin::new(&mut other), cx, b"abcdef"));
    assert_eq!(kind.finish(sent).await.expect("open"), 6);
    let bytes = [IoSlice::new(b"gh"), IoSlice::new(b"ij")];
    assert!(Write::is_write_vectored(&other));
    let sent = poll_fn(|cx| Write::poll_write_vectored(Pin::new(&mut other), cx, &bytes));
    assert_eq!(kind.finish(sent).await.expect("open"), 4);
    let flushed = poll_fn(|cx| Write::poll_flush(Pin::new(&mut other), cx));
    kind.finish(flushed).await.expect("nothing is kept");
    let closed = poll_fn(|cx| Write::poll_shutdown(Pin::new(&mut other), cx));
    kind.finish(closed).await.expect("open");

    let (mut all, mut memory) = (Vec::new(), [MaybeUninit::uninit(); 8]);
    loop {
        let mut buffer = ReadBuf::uninit(&mut memory);
        let came = poll_fn(|cx| Read::poll_read(Pin::new(&mut one), cx, buffer.unfilled()));
        kind.finish(came).await.expect("open");
        if buffer.filled().is_empty() {
            break;
        }
        all.extend_from_slice(buffer.filled());
    }
    assert_eq!(all, b"abcdefghij");
}
