//! tokio's traits, which are there without its runtime.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connection::Connection;
use crate::halves::{OwnedReadHalf, OwnedWriteHalf};
use crate::polled::{AT_A_TIME, Polled};
use crate::socket::Socket;

/// For what reads.
macro_rules! reads {
    ($($name:ident)*) => {$(
        impl<S: Socket> AsyncRead for $name<S> {
            #[track_caller]
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buffer: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                let room = buffer.remaining();
                let fresh = buffer.capacity() - buffer.initialized().len();
                // To write zeros first, where all is written over, costs more than to move what has come.
                if fresh > 0 && room <= AT_A_TIME {
                    let take = |came: &[u8]| buffer.put_slice(came);
                    return self.get_mut().receive_by_stack(cx, room, take);
                }
                let read = ready!(self.get_mut().receive(cx, buffer.initialize_unfilled()))?;
                buffer.advance(read);
                Poll::Ready(Ok(()))
            }
        }
    )*};
}
reads! { Connection OwnedReadHalf }

/// For what writes.
macro_rules! writes {
    ($($name:ident)*) => {$(
        impl<S: Socket> AsyncWrite for $name<S> {
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
