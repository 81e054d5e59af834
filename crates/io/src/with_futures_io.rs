//! futures-io's traits.

use std::io::{self, IoSlice, IoSliceMut};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};

use crate::connection::Connection;
use crate::halves::{OwnedReadHalf, OwnedWriteHalf};
use crate::polled::Polled;
use crate::socket::Socket;

/// For what reads.
macro_rules! reads {
    ($($name:ident)*) => {$(
        impl<S: Socket> AsyncRead for $name<S> {
            #[track_caller]
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buffer: &mut [u8],
            ) -> Poll<io::Result<usize>> {
                self.get_mut().receive(cx, buffer)
            }

            #[track_caller]
            fn poll_read_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buffers: &mut [IoSliceMut<'_>],
            ) -> Poll<io::Result<usize>> {
                self.get_mut().receive_vectored(cx, buffers)
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

            fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.get_mut().close()
            }
        }
    )*};
}
writes! { Connection OwnedWriteHalf }
