//! Sockets: operations that wait for the operating system, and the poller that wakes them.
//!
//! An internal part of `gossamer-rt`: nothing is promised of this crate alone. How it works is in its
//! [README](https://docs.rs/crate/gossamer-io).
#![forbid(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!(
    "gossamer's sockets wait by epoll, which only Linux has: build without the feature `net`, or for Linux"
);

mod attempt;
mod epoll;
mod here;
mod op;
mod registry;
mod slot;
mod source;
mod tcp;

pub use self::op::{Peek, Read, ReadVectored, Ready, Write, WriteVectored};
pub use self::tcp::{Accept, Connect, TcpListener, TcpStream};
