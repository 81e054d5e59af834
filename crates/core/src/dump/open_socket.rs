//! A socket in a dump.

use alloc::string::String;
use core::fmt;
use core::time::Duration;

/// A socket that was open, or another descriptor that tasks can wait for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenSocket {
    /// In words: `"a TCP connection"`.
    pub kind: String,
    /// Its number in the process.
    pub descriptor: i32,
    /// The address of this end, if it has one.
    pub local: Option<String>,
    /// The address of the other end, if it has one.
    pub peer: Option<String>,
    /// How long it has been open here.
    pub age: Duration,
    /// Somebody waits until something comes: bytes, or a connection.
    pub awaits_read: bool,
    /// Somebody waits until there is room, or a connection is made.
    pub awaits_write: bool,
}

/// What a socket is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interest {
    /// Until something comes: bytes, or a connection.
    Read,
    /// Until there is room, or a connection is made.
    Write,
}

impl fmt::Display for Interest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "to read",
            Self::Write => "to write",
        })
    }
}

impl fmt::Display for OpenSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if let Some(local) = &self.local {
            write!(f, " at {local}")?;
        }
        if let Some(peer) = &self.peer {
            write!(f, " with {peer}")?;
        }
        write!(
            f,
            ", descriptor {}, open for {:.1?}, ",
            self.descriptor, self.age
        )?;
        f.write_str(match (self.awaits_read, self.awaits_write) {
            (true, true) => "awaited to read and to write",
            (true, false) => "awaited to read",
            (false, true) => "awaited to write",
            (false, false) => "nobody waits for it",
        })
    }
}
