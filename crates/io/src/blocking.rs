//! Connections for libraries that block: `std::io::{Read, Write}`, by waiting in a fiber or a thread.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use gossamer_core::wait::Wait;
use gossamer_time::TimeoutExt;

use crate::connection::Connection;
use crate::socket::Socket;

/// A connection for libraries that block: [`Read`] and [`Write`], also by reference.
///
/// From [`Connection::into_blocking`]. A call that has to wait parks its fiber or thread, as
/// [`.wait()`](gossamer_core::wait::Wait::wait) does; in a task it panics.
///
/// # Examples
/// ```
/// use std::io::{ErrorKind, Read, Write};
/// use std::time::Duration;
/// use gossamer::net::UnixStream;
///
/// let (one, other) = UnixStream::pair()?;
/// let (mut one, mut other) = (one.into_blocking(), other.into_blocking());
/// one.write_all(b"hello")?;
/// let mut buffer = [0; 5];
/// other.read_exact(&mut buffer)?;
/// assert_eq!(&buffer, b"hello");
///
/// other.set_read_timeout(Some(Duration::from_millis(1)));
/// assert_eq!(other.read(&mut buffer).map_err(|error| error.kind()), Err(ErrorKind::TimedOut));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct BlockingConnection<S: AsFd> {
    connection: Connection<S>,
    read_timeout: Option<Duration>,
    write_timeout: Option<Duration>,
}

impl<S: Socket> Connection<S> {
    /// For libraries that block, in fibers and threads.
    #[must_use]
    pub fn into_blocking(self) -> BlockingConnection<S> {
        BlockingConnection {
            connection: self,
            read_timeout: None,
            write_timeout: None,
        }
    }
}

impl<S: Socket> BlockingConnection<S> {
    /// How long each read may wait; without, as at first, as long as it takes. A read that finds something does not fail
    /// for that.
    pub fn set_read_timeout(&mut self, limit: Option<Duration>) {
        self.read_timeout = limit;
    }

    /// How long each write may wait; without, as at first, as long as it takes.
    pub fn set_write_timeout(&mut self, limit: Option<Duration>) {
        self.write_timeout = limit;
    }

    /// The connection.
    pub fn get_ref(&self) -> &Connection<S> {
        &self.connection
    }

    /// The connection.
    pub fn into_inner(self) -> Connection<S> {
        self.connection
    }
}

/// Waits for an operation, at most so long.
#[track_caller]
fn waited(
    operation: impl Future<Output = io::Result<usize>>,
    limit: Option<Duration>,
    what: &str,
) -> io::Result<usize> {
    let Some(limit) = limit else {
        return operation.wait();
    };
    operation.timeout(limit).wait().unwrap_or_else(|_| {
        let text = format!("{what} within {limit:?}: allow it more time, or give the peer up");
        Err(io::Error::new(ErrorKind::TimedOut, text))
    })
}

const NOTHING_CAME: &str = "the peer has sent nothing";
const NO_ROOM: &str = "the peer has taken nothing";

impl<S: Socket> Read for &BlockingConnection<S> {
    #[track_caller]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        waited(
            self.connection.read(buffer),
            self.read_timeout,
            NOTHING_CAME,
        )
    }
}

impl<S: Socket> Write for &BlockingConnection<S> {
    #[track_caller]
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        waited(self.connection.write(buffer), self.write_timeout, NO_ROOM)
    }

    #[track_caller]
    fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        let operation = self.connection.write_vectored(buffers);
        waited(operation, self.write_timeout, NO_ROOM)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<S: Socket> Read for BlockingConnection<S> {
    #[track_caller]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }
}

impl<S: Socket> Write for BlockingConnection<S> {
    #[track_caller]
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        (&*self).write(buffer)
    }

    #[track_caller]
    fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        (&*self).write_vectored(buffers)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
