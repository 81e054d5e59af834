//! The two directions of a connection, each with an owner of its own.

use std::error::Error;
use std::fmt;
use std::io::{self, Cursor, IoSlice, IoSliceMut};
use std::mem;
use std::net::Shutdown;
use std::sync::Arc;

use crate::connection::Connection;
use crate::op::{Peek, Read, ReadVectored, Ready, Write, WriteVectored};
use crate::poll_nodes::PollNodes;
use crate::socket::Socket;
use crate::whole::{ReadExact, ReadExactInto, WriteAll, WriteAllFrom};

impl<S: Socket> Connection<S> {
    /// Its two directions, for two owners; for two that borrow it, a reference each is enough.
    ///
    /// # Examples
    /// ```
    /// use gossamer::{Wait, net::UnixStream, spawn_thread};
    ///
    /// let (one, other) = UnixStream::pair()?;
    /// let (reads, writes) = one.into_split();
    /// let wrote = spawn_thread(move || writes.write_all(b"over").wait());
    /// other.write(b"out").wait()?;
    /// assert_eq!(reads.read(&mut [0; 9]).wait()?, 3);
    /// wrote.wait().expect("no panic")?;
    /// // The half that writes is gone, and with it the direction.
    /// let mut buffer = [0; 9];
    /// assert_eq!(other.read(&mut buffer).wait()?, 4);
    /// assert_eq!(other.read(&mut buffer).wait()?, 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use = "the half that writes closes its direction when it is dropped"]
    pub fn into_split(mut self) -> (OwnedReadHalf<S>, OwnedWriteHalf<S>) {
        // Each half has nodes of its own.
        self.poll_nodes = PollNodes::default();
        let connection = Arc::new(self);
        let reads = OwnedReadHalf {
            poll_nodes: PollNodes::default(),
            connection: connection.clone(),
        };
        let writes = OwnedWriteHalf {
            poll_nodes: PollNodes::default(),
            connection,
            closes: true,
        };
        (reads, writes)
    }
}

/// The half of a connection that reads ([`Connection::into_split`]). The connection itself is its [`AsRef`].
#[derive(Debug)]
pub struct OwnedReadHalf<S: Socket> {
    // Goes before the connection.
    pub(crate) poll_nodes: PollNodes,
    pub(crate) connection: Arc<Connection<S>>,
}

/// The half of a connection that writes ([`Connection::into_split`]). Dropped, it closes its direction. The connection
/// itself is its [`AsRef`].
#[derive(Debug)]
pub struct OwnedWriteHalf<S: Socket> {
    // Goes before the connection.
    pub(crate) poll_nodes: PollNodes,
    pub(crate) connection: Arc<Connection<S>>,
    /// Closes its direction when it is dropped.
    closes: bool,
}

impl<S: Socket> OwnedReadHalf<S> {
    /// The connection, of both halves.
    ///
    /// # Errors
    /// They are of two connections; the error has both.
    pub fn reunite(self, mut writes: OwnedWriteHalf<S>) -> Result<Connection<S>, ReuniteError<S>> {
        if !Arc::ptr_eq(&self.connection, &writes.connection) {
            return Err(ReuniteError(self, writes));
        }
        writes.closes = false;
        drop(writes);
        let whole = Arc::into_inner(self.connection);
        Ok(whole.expect("there are two halves, and one is gone"))
    }

    /// As [`Connection::read`].
    #[track_caller]
    pub fn read<'a>(&'a self, buffer: &'a mut [u8]) -> Read<'a, S> {
        self.connection.read(buffer)
    }

    /// As [`Connection::read_vectored`].
    #[track_caller]
    pub fn read_vectored<'a, 'b>(
        &'a self,
        buffers: &'a mut [IoSliceMut<'b>],
    ) -> ReadVectored<'a, 'b, S> {
        self.connection.read_vectored(buffers)
    }

    /// As [`Connection::read_exact`].
    #[track_caller]
    pub fn read_exact<'a>(&'a self, buffer: &'a mut [u8]) -> ReadExact<'a, S> {
        self.connection.read_exact(buffer)
    }

    /// As [`Connection::read_exact_into`].
    #[track_caller]
    pub fn read_exact_into<'a, T>(&'a self, buffer: &'a mut Cursor<T>) -> ReadExactInto<'a, S, T>
    where
        T: AsMut<[u8]>,
    {
        self.connection.read_exact_into(buffer)
    }

    /// As [`Connection::peek`].
    #[track_caller]
    pub fn peek<'a>(&'a self, buffer: &'a mut [u8]) -> Peek<'a, S> {
        self.connection.peek(buffer)
    }

    /// As [`Connection::readable`].
    #[track_caller]
    pub fn readable(&self) -> Ready<'_, S> {
        self.connection.readable()
    }

    /// As [`Connection::try_read`].
    ///
    /// # Errors
    /// Its own.
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.connection.try_read(buffer)
    }
}

impl<S: Socket> OwnedWriteHalf<S> {
    /// As [`Connection::write`].
    #[track_caller]
    pub fn write<'a>(&'a self, buffer: &'a [u8]) -> Write<'a, S> {
        self.connection.write(buffer)
    }

    /// As [`Connection::write_vectored`].
    #[track_caller]
    pub fn write_vectored<'a>(&'a self, buffers: &'a [IoSlice<'a>]) -> WriteVectored<'a, S> {
        self.connection.write_vectored(buffers)
    }

    /// As [`Connection::write_all`].
    #[track_caller]
    pub fn write_all<'a>(&'a self, bytes: &'a [u8]) -> WriteAll<'a, S> {
        self.connection.write_all(bytes)
    }

    /// As [`Connection::write_all_from`].
    #[track_caller]
    pub fn write_all_from<'a, T>(&'a self, bytes: &'a mut Cursor<T>) -> WriteAllFrom<'a, S, T>
    where
        T: AsRef<[u8]>,
    {
        self.connection.write_all_from(bytes)
    }

    /// As [`Connection::writable`].
    #[track_caller]
    pub fn writable(&self) -> Ready<'_, S> {
        self.connection.writable()
    }

    /// As [`Connection::try_write`].
    ///
    /// # Errors
    /// Its own.
    pub fn try_write(&self, buffer: &[u8]) -> io::Result<usize> {
        self.connection.try_write(buffer)
    }

    /// Drops it, and leaves its direction open until the other half is dropped too.
    pub fn forget(mut self) {
        self.closes = false;
    }
}

impl<S: Socket> Drop for OwnedWriteHalf<S> {
    fn drop(&mut self) {
        if mem::take(&mut self.closes) {
            // It fails only where the peer has broken the connection.
            let _closed = self.connection.shutdown(Shutdown::Write);
        }
    }
}

impl<S: Socket> AsRef<Connection<S>> for OwnedReadHalf<S> {
    fn as_ref(&self) -> &Connection<S> {
        &self.connection
    }
}

impl<S: Socket> AsRef<Connection<S>> for OwnedWriteHalf<S> {
    fn as_ref(&self) -> &Connection<S> {
        &self.connection
    }
}

/// The halves of two connections ([`OwnedReadHalf::reunite`]).
#[derive(Debug)]
pub struct ReuniteError<S: Socket>(pub OwnedReadHalf<S>, pub OwnedWriteHalf<S>);

impl<S: Socket> fmt::Display for ReuniteError<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the halves are of two connections: reunite each with the one it was split from",
        )
    }
}

impl<S: Socket + fmt::Debug> Error for ReuniteError<S> {}
