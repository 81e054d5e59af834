//! What the Rust contenders share in the workloads about sockets: all but runtimes and sockets, so that they differ in
//! nothing else.
//!
//! A server prints its port and serves until a signal ends it. One for a new runtime implements [`Stream`], accepts in a
//! loop, and runs [`serve`] in a task for each connection.
#![forbid(unsafe_code)]

mod buffer;
#[cfg(feature = "hyper")]
pub mod with_hyper;

use std::fmt::Debug;
use std::io::{self, ErrorKind};
use std::time::Duration;

pub use waiting::Options;

use buffer::Buffer;

/// The body of every reply.
pub const BODY: &str = "The same 32 bytes for everybody\n";
/// The whole reply of a bare server.
pub const REPLY: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 32\r\n\r\nThe same 32 bytes for everybody\n";

/// What is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Talk {
    /// A reply to each request.
    Http,
    /// A reply to one request, then the end.
    Connect,
    /// What comes goes back.
    Echo,
    /// As [`Talk::Http`]; but a request for `/stuck` blocks the thread for this time.
    Stuck(Duration),
}

impl Talk {
    /// Reads the workload's name and options.
    ///
    /// # Errors
    /// There is no such workload, or an option is no number.
    pub fn of(options: &Options) -> Result<Talk, String> {
        match options.workload.as_str() {
            "http" => Ok(Talk::Http),
            "connect" => Ok(Talk::Connect),
            "echo" => Ok(Talk::Echo),
            "stuck" => {
                let ms = options.number("--stuck-ms", 1_000)?;
                Ok(Talk::Stuck(Duration::from_millis(ms)))
            }
            other => Err(format!("unknown workload '{other}'")),
        }
    }

    /// Blocks the thread if that is what a request asks for.
    pub fn block(self, path: &[u8]) {
        if let Talk::Stuck(time) = self
            && path.starts_with(b"/stuck")
        {
            std::thread::sleep(time);
        }
    }
}

/// Tells the client where the server listens.
pub fn listens_at(port: u16) {
    println!("port {port}");
}

/// A connection of some runtime.
pub trait Stream: Send {
    /// Waits until there is something to read, without a buffer.
    fn readable(&self) -> impl Future<Output = io::Result<()>> + Send;
    /// Reads what is there, or fails with [`ErrorKind::WouldBlock`].
    ///
    /// # Errors
    /// Those of the system.
    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize>;
    /// Writes all of it.
    fn write_all(&mut self, bytes: &[u8]) -> impl Future<Output = io::Result<()>> + Send;
}

/// Serves a connection until it ends.
pub async fn serve(mut stream: impl Stream, talk: Talk) {
    // Whatever goes wrong with a connection is its end, and nobody else's.
    let _ = until_end(&mut stream, talk).await;
}

async fn until_end(stream: &mut impl Stream, talk: Talk) -> io::Result<()> {
    let mut ends = Ends::default();
    loop {
        stream.readable().await?;
        let mut buffer = Buffer::take();
        let bytes = match stream.try_read(buffer.bytes()) {
            Ok(0) => return Ok(()),
            Ok(count) => &buffer.bytes()[..count],
            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error),
        };
        if talk == Talk::Echo {
            stream.write_all(bytes).await?;
            continue;
        }
        let count = ends.count(bytes);
        talk.block(bytes.get(4..).unwrap_or_default());
        drop(buffer);
        for _ in 0..count {
            stream.write_all(REPLY).await?;
            if talk == Talk::Connect {
                return Ok(());
            }
        }
    }
}

/// How much of the end of a request's head has been seen, which is all that is kept of a request that is not whole.
#[derive(Debug, Default)]
pub struct Ends(u8);

impl Ends {
    /// How many requests end in these bytes, which follow those before.
    pub fn count(&mut self, bytes: &[u8]) -> usize {
        let mut ends = 0;
        for byte in bytes {
            self.0 = match *byte == b"\r\n\r\n"[usize::from(self.0)] {
                true => self.0 + 1,
                false => u8::from(*byte == b'\r'),
            };
            if self.0 == 4 {
                ends += 1;
                self.0 = 0;
            }
        }
        ends
    }
}

#[cfg(test)]
mod tests;
