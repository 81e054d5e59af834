//! A blocking library, unchanged, in two thousand fibers: `tungstenite` speaks WebSocket over anything that is
//! `Read + Write`, here over a stream whose ends are channels.
//!
//! A read or a write that has to wait parks its fiber, not its thread. A thousand clients shake hands with a server each;
//! when all are connected, they send some messages, get them back, and close.
//!
//! `cargo run --release -p gossamer-rt --example websockets [MODEL]`, where MODEL is `single`, `pool:2` or `threads`

use std::error::Error;
use std::io::{self, Read, Write};
use std::sync::Arc;

use gossamer::channel::{Sender, spsc, unbounded};
use gossamer::{Fibers, Model, Runtime, Wait, sync::Event};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, accept_with_config, client::client_with_config};

const PAIRS: usize = 1_000;
const MESSAGES: usize = 4;

type AnyError = Box<dyn Error + Send + Sync>;

/// One end of a connection, as a `TcpStream` would be.
struct Stream {
    tx: spsc::Sender<Vec<u8>>,
    rx: spsc::Receiver<Vec<u8>>,
    /// Received, and read up to `read`.
    chunk: Vec<u8>,
    read: usize,
}

impl Stream {
    /// The two ends of a connection: each may be eight writes ahead of the other.
    fn pair() -> (Self, Self) {
        let (there, arriving) = spsc(8);
        let (back, returning) = spsc(8);
        let end = |tx, rx| Self {
            tx,
            rx,
            chunk: Vec::new(),
            read: 0,
        };
        (end(there, returning), end(back, arriving))
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read == self.chunk.len() {
            match self.rx.recv().wait() {
                Ok(chunk) => (self.chunk, self.read) = (chunk, 0),
                Err(_) => return Ok(0), // the other end has been dropped
            }
        }
        let count = (&self.chunk[self.read..]).read(buffer)?;
        self.read += count;
        Ok(count)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // An empty chunk would look like the end to who reads it.
        if !bytes.is_empty() {
            let sent = self.tx.send(bytes.to_vec()).wait();
            sent.map_err(|_| io::ErrorKind::BrokenPipe)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Usually each connection has 128 KiB to read into.
fn config() -> Option<WebSocketConfig> {
    Some(WebSocketConfig::default().read_buffer_size(4 << 10))
}

/// Sends back what comes, until the client closes.
fn echo(stream: Stream) -> Result<(), AnyError> {
    let mut socket = accept_with_config(stream, config()).map_err(|error| error.to_string())?;
    loop {
        match socket.read() {
            Ok(message @ Message::Text(_)) => socket.send(message)?,
            Ok(_) => {}
            Err(tungstenite::Error::ConnectionClosed) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Says that it is connected, waits until all are, and talks: how many messages came back.
fn talk(stream: Stream, connected: Sender<()>, all: &Event) -> Result<usize, AnyError> {
    let shaken = client_with_config("ws://echo.example/", stream, config());
    let (mut socket, _) = shaken.map_err(|error| error.to_string())?;
    connected.try_send(())?;
    drop(connected);
    all.ready().wait();

    for number in 0..MESSAGES {
        let text = format!("message {number}");
        socket.send(Message::text(&text))?;
        let answer = socket.read()?.into_text()?;
        if answer.as_str() != text {
            return Err(format!("{text:?} was sent, and {answer:?} came back").into());
        }
    }
    socket.close(None)?;
    // The server says that it has heard of it, and hangs up.
    loop {
        match socket.read() {
            Ok(_) => {}
            Err(tungstenite::Error::ConnectionClosed) => return Ok(MESSAGES),
            Err(error) => return Err(error.into()),
        }
    }
}

fn main() -> Result<(), AnyError> {
    let model = match std::env::args().nth(1) {
        Some(name) => name.parse()?,
        None => Model::default(),
    };
    // SAFETY: no code here, nor in the dependencies, waits while it uses a thread-local like a stack, or initialises
    // one. (tungstenite's random numbers come from a thread-local, which it does not keep while it reads or writes.)
    let fibers = unsafe { Fibers::contract() };
    let rt = Runtime::builder().model(model).fibers(fibers).build()?;

    let all = Arc::new(Event::new());
    let (tx, connected) = unbounded();
    let mut pairs = Vec::new();
    for _ in 0..PAIRS {
        let ((client, server), tx, all) = (Stream::pair(), tx.clone(), all.clone());
        let server = rt.spawn_fiber(move || echo(server));
        let client = rt.spawn_fiber(move || talk(client, tx, &all));
        pairs.push((client, server));
    }
    drop(tx);
    println!("{} clients are connected", connected.iter().count());
    all.set();
    let mut messages = 0;
    for (client, server) in pairs {
        messages += client.wait()??;
        server.wait()??;
    }
    println!("{messages} messages came back, and {PAIRS} pairs are done");
    Ok(())
}
