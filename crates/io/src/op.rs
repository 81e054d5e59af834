//! The operations on sockets, each a future of its own.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::AsFd;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::io::readv;
use rustix::net::addr::SocketAddrArg;
use rustix::net::{
    RecvFlags, SendAncillaryBuffer, SendFlags, recv, recvfrom, send, sendmsg, sendto,
};

use crate::attempt::{Attempt, Moved};
use crate::socket::Socket;
use crate::source::{Source, Way};

/// Nobody is killed for writing to a connection that is closed: that is an error of the call.
const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;

/// The most buffers that one call takes: `IOV_MAX`.
const BUFFERS: usize = 1024;

/// Declares operations on a borrowed socket: what they have beside the socket (and the lifetime of buffers in a list, if
/// that is another one), which way they go, and how they try.
macro_rules! operations {
    ($(
        $(#[$doc:meta])*
        $name:ident$(<$also:lifetime>)?($field:ident: $type:ty) -> $output:ty = $way:ident by $try:ident;
    )*) => {$(
        pin_project_lite::pin_project! {
            $(#[$doc])*
            #[must_use = "operations do nothing until they are awaited or waited for"]
            #[derive(Debug)]
            pub struct $name<'a, $($also,)? S: AsFd> {
                #[pin]
                attempt: Attempt<&'a Source<S>>,
                $field: $type,
            }
        }

        impl<'a, $($also,)? S: AsFd> $name<'a, $($also,)? S> {
            #[inline]
            pub(crate) fn new(
                source: &'a Source<S>,
                $field: $type,
                caller: &'static Location<'static>,
            ) -> Self {
                let attempt = Attempt::new(source, Way::$way, caller);
                Self { attempt, $field }
            }
        }

        impl<'a, $($also,)? S: Socket> Future for $name<'a, $($also,)? S> {
            type Output = io::Result<$output>;

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
                let this = self.project();
                let $field = this.$field;
                this.attempt.poll(cx, |socket| $try(socket, $field))
            }
        }
    )*};
}

operations! {
    /// Reads what is there. Dropped unfinished, it has read nothing.
    Read(buffer: &'a mut [u8]) -> usize = In by receive;

    /// Reads what is there into several buffers, one after the other. Dropped unfinished, it has read nothing.
    ReadVectored<'b>(buffers: &'a mut [IoSliceMut<'b>]) -> usize = In by receive_vectored;

    /// Reads what is there, and leaves it there. It has no other effect.
    Peek(buffer: &'a mut [u8]) -> usize = In by look;

    /// Writes as much as there is room for. Dropped unfinished, it has written nothing.
    Write(buffer: &'a [u8]) -> usize = Out by transmit;

    /// Writes several buffers, one after the other, as far as there is room. Dropped unfinished, it has written nothing.
    WriteVectored(buffers: &'a [IoSlice<'a>]) -> usize = Out by transmit_vectored;

    /// Takes a datagram. Dropped unfinished, it has taken none.
    Recv(buffer: &'a mut [u8]) -> usize = In by take;

    /// Takes a datagram, and says who sent it. Dropped unfinished, it has taken none.
    RecvFrom(buffer: &'a mut [u8]) -> (usize, S::Address) = In by take_from;

    /// Says what the next datagram has, and who sent it, and leaves it there. It has no other effect.
    PeekFrom(buffer: &'a mut [u8]) -> (usize, S::Address) = In by look_from;

    /// Sends a datagram to the peer. Dropped unfinished, it has sent none.
    SendDatagram(buffer: &'a [u8]) -> usize = Out by send_one;
}

/// What a try has done.
pub(crate) type Tried<R> = io::Result<(R, Moved)>;

/// Bytes have been read.
pub(crate) fn read<S: Socket>(bytes: usize, asked: usize) -> Tried<usize> {
    match S::SHORT_IS_ALL {
        true => Ok((bytes, Moved::of(bytes, asked))),
        false => Ok((bytes, one_of(bytes))),
    }
}

/// So many bytes, which say nothing of whether there is more.
pub(crate) fn one_of(bytes: usize) -> Moved {
    let is_short = false;
    Moved { bytes, is_short }
}

#[inline]
pub(crate) fn receive<S: Socket>(socket: &S, buffer: &mut &mut [u8]) -> Tried<usize> {
    let asked = buffer.len();
    let (bytes, _) = recv(socket, &mut **buffer, RecvFlags::empty())?;
    read::<S>(bytes, asked)
}

pub(crate) fn receive_vectored<S: Socket>(
    socket: &S,
    buffers: &mut &mut [IoSliceMut<'_>],
) -> Tried<usize> {
    let most = buffers.len().min(BUFFERS);
    let buffers = &mut buffers[..most];
    let asked = buffers.iter().map(|buffer| buffer.len()).sum();
    read::<S>(readv(socket, buffers)?, asked)
}

fn look<S: Socket>(socket: &S, buffer: &mut &mut [u8]) -> Tried<usize> {
    let (seen, _) = recv(socket, &mut **buffer, RecvFlags::PEEK)?;
    Ok((seen, one_of(seen)))
}

#[inline]
pub(crate) fn transmit<S: Socket>(socket: &S, buffer: &mut &[u8]) -> Tried<usize> {
    let sent = send(socket, buffer, NO_SIGNAL)?;
    Ok((sent, Moved::of(sent, buffer.len())))
}

pub(crate) fn transmit_vectored<S: Socket>(
    socket: &S,
    buffers: &mut &[IoSlice<'_>],
) -> Tried<usize> {
    let buffers = &buffers[..buffers.len().min(BUFFERS)];
    let asked = buffers.iter().map(|buffer| buffer.len()).sum();
    let sent = sendmsg(
        socket,
        buffers,
        &mut SendAncillaryBuffer::default(),
        NO_SIGNAL,
    )?;
    Ok((sent, Moved::of(sent, asked)))
}

pub(crate) fn take<S: Socket>(socket: &S, buffer: &mut &mut [u8]) -> Tried<usize> {
    let (bytes, _) = recv(socket, &mut **buffer, RecvFlags::empty())?;
    Ok((bytes, one_of(bytes)))
}

pub(crate) fn take_from<S: Socket>(
    socket: &S,
    buffer: &mut &mut [u8],
) -> Tried<(usize, S::Address)> {
    let (bytes, _, from) = recvfrom(socket, &mut **buffer, RecvFlags::empty())?;
    Ok(((bytes, S::address(from)?), one_of(bytes)))
}

pub(crate) fn look_from<S: Socket>(
    socket: &S,
    buffer: &mut &mut [u8],
) -> Tried<(usize, S::Address)> {
    let (bytes, _, from) = recvfrom(socket, &mut **buffer, RecvFlags::PEEK)?;
    Ok(((bytes, S::address(from)?), one_of(bytes)))
}

pub(crate) fn send_one<S: Socket>(socket: &S, buffer: &mut &[u8]) -> Tried<usize> {
    let sent = send(socket, buffer, NO_SIGNAL)?;
    Ok((sent, one_of(sent)))
}

pub(crate) fn send_one_to<S: Socket>(
    socket: &S,
    buffer: &[u8],
    to: &impl SocketAddrArg,
) -> Tried<usize> {
    let sent = sendto(socket, buffer, NO_SIGNAL, to)?;
    Ok((sent, one_of(sent)))
}

pin_project_lite::pin_project! {
    /// Waits until it may be tried, one way. It has no effect.
    #[must_use = "operations do nothing until they are awaited or waited for"]
    #[derive(Debug)]
    pub struct Ready<'a, S: AsFd> {
        #[pin]
        attempt: Attempt<&'a Source<S>>,
    }
}

impl<'a, S: AsFd> Ready<'a, S> {
    pub(crate) fn new(source: &'a Source<S>, way: Way, caller: &'static Location<'static>) -> Self {
        Self {
            attempt: Attempt::new(source, way, caller),
        }
    }
}

impl<S: AsFd> Future for Ready<'_, S> {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().attempt.poll_ready(cx)
    }
}

/// Tries once, and does not wait.
///
/// # Errors
/// [`WouldBlock`](io::ErrorKind::WouldBlock): it would have to wait; others as of the call.
pub(crate) fn try_now<S: AsFd, R>(
    source: &Source<S>,
    way: Way,
    attempt: impl FnOnce(&S) -> io::Result<(R, Moved)>,
) -> io::Result<R> {
    let direction = source.direction(way);
    let last = direction.last();
    let tried = attempt(source.socket());
    match &tried {
        Ok((_, moved)) if moved.is_short => direction.exhaust_early(last),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => direction.exhaust(last),
        _ => {}
    }
    tried.map(|(output, _)| output)
}
