//! hyper's traits of connections. Its timer and executor are in the facade, which knows how to spawn.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};

use crate::connection::Connection;
use crate::halves::{OwnedReadHalf, OwnedWriteHalf};
use crate::polled::Polled;
use crate::socket::Socket;

/// For what reads.
macro_rules! reads {
    ($($name:ident)*) => {$(
        impl<S: Socket> Read for $name<S> {
            #[track_caller]
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                mut buffer: ReadBufCursor<'_>,
            ) -> Poll<io::Result<()>> {
                let room = buffer.remaining();
                let take = |came: &[u8]| buffer.put_slice(came);
                self.get_mut().receive_by_stack(cx, room, take)
            }
        }
    )*};
}
reads! { Connection OwnedReadHalf }

/// For what writes.
macro_rules! writes {
    ($($name:ident)*) => {$(
        impl<S: Socket> Write for $name<S> {
            #[track_caller]
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buffer: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.get_mut().transmit(cx, buffer)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            #[track_caller]
            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buffers: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                self.get_mut().transmit_vectored(cx, buffers)
            }

            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.get_mut().close()
            }
        }
    )*};
}
writes! { Connection OwnedWriteHalf }
