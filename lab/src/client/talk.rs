//! What client and server say to each other, and whether a reply is right.

use anyhow::{Result, bail, ensure};

/// The body of every reply to a request of HTTP.
const BODY: &[u8] = b"The same 32 bytes for everybody\n";
const HEAD_END: &[u8] = b"\r\n\r\n";
/// As long as a short message of a chat.
const ECHOED: &[u8; 64] = b"The same 64 bytes there and back again, on every connection: ok\n";

/// What is spoken on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Talk {
    /// Requests and replies of HTTP/1.1, one after the other.
    Http,
    /// One request and its reply, after which the server closes.
    Connect,
    /// What is sent comes back.
    Echo,
    /// A request that holds up the server's handler.
    Stuck,
}

impl Talk {
    /// What the client sends.
    pub(crate) fn request(self) -> &'static [u8] {
        match self {
            Talk::Http => b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            Talk::Connect => b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
            Talk::Echo => ECHOED,
            Talk::Stuck => b"GET /stuck HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        }
    }

    /// Whether the reply is whole; `ended` if the server has closed.
    ///
    /// # Errors
    /// It is not the right one.
    pub(crate) fn is_whole(self, got: &[u8], ended: bool) -> Result<bool> {
        let whole = match self {
            Talk::Echo => {
                ensure!(
                    ECHOED.starts_with(got),
                    "what came back is not what was sent"
                );
                got.len() == ECHOED.len()
            }
            _ => is_whole_reply(got)?,
        };
        ensure!(
            whole || !ended,
            "the server closed before its reply was whole"
        );
        match self {
            Talk::Connect => Ok(ended),
            _ => {
                ensure!(!ended, "the server closed a connection that was to be kept");
                Ok(whole)
            }
        }
    }
}

fn is_whole_reply(got: &[u8]) -> Result<bool> {
    let Some(end) = got
        .windows(HEAD_END.len())
        .position(|four| four == HEAD_END)
    else {
        ensure!(got.len() < 4096, "a reply's head has no end");
        return Ok(false);
    };
    let (head, body) = (&got[..end], &got[end + HEAD_END.len()..]);
    if !head.starts_with(b"HTTP/1.1 200 ") {
        let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
        bail!(
            "expected 'HTTP/1.1 200 OK', got '{}'",
            String::from_utf8_lossy(line)
        );
    }
    ensure!(
        BODY.starts_with(body),
        "a reply's body is not the expected one"
    );
    Ok(body.len() == BODY.len())
}
