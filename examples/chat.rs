//! A chat server: each line that somebody sends goes to all others.
//!
//! A client says its name first. Its task waits for whichever comes first, a line of its own or one of the others. Limits:
//! a hundred clients, lines of 1,024 bytes, ten minutes for each; and ten seconds to take a line, so that a client that
//! does not read is given up. One that is slow misses lines, and is told how many.
//!
//! `cargo run --release -p gossamer-rt --example chat [ADDRESS]`, then `nc` as often as you like

mod shared;

use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gossamer::channel::broadcast;
use gossamer::net::{self, TcpStream};
use gossamer::{Handle, TimeoutExt, select};

const CLIENTS: usize = 100;
const LONGEST: usize = 1 << 10;
/// Lines that a slow client may be behind.
const BEHIND: usize = 64;
const SILENCE: Duration = Duration::from_secs(600);
const TO_TAKE: Duration = Duration::from_secs(10);

/// A line, and the number of the client whose it is.
type Line = (usize, Arc<str>);

fn refused(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

async fn tell(connection: &TcpStream, line: &str) -> io::Result<()> {
    let line = format!("{line}\n");
    connection
        .write_all(line.as_bytes())
        .timeout(TO_TAKE)
        .await?
}

/// One client, until it goes.
async fn chat(
    number: usize,
    connection: &TcpStream,
    room: &broadcast::Sender<Line>,
) -> io::Result<()> {
    let mut lines = net::BufReader::with_capacity(LONGEST, connection);
    lines.set_line_limit(LONGEST);
    tell(connection, "your name?").await?;
    let Some(name) = lines.next_line().timeout(SILENCE).await?? else {
        return Ok(());
    };
    let name = name.trim();
    if name.is_empty() {
        return Err(refused("the name is empty; expected a line with one"));
    }
    let mut others = room.subscribe();
    tell(connection, &format!("welcome, {name}")).await?;
    let say = |line: String| room.send((number, line.into())).unwrap_or_default();
    say(format!("{name} has come"));
    let ended = async {
        let mut until = Instant::now() + SILENCE;
        loop {
            select! {
                // The first part of a line is in the reader, whichever comes first.
                line = lines.next_line().timeout_at(until) => {
                    let Some(line) = line?? else {
                        return Ok(());
                    };
                    say(format!("{name}: {line}"));
                    until = Instant::now() + SILENCE;
                }
                heard = others.recv() => match heard {
                    Ok((from, _)) if from == number => {}
                    Ok((_, line)) => tell(connection, &line).await?,
                    Err(lagged) => tell(connection, &lagged.to_string()).await?,
                },
            }
        }
    };
    let ended = ended.await;
    say(format!("{name} has gone"));
    ended
}

#[gossamer::main]
async fn main() -> io::Result<()> {
    let listener = shared::listener(two_clients)?;
    let tasks = Handle::current().limited(CLIENTS);
    let (room, _) = broadcast::broadcast(BEHIND);
    for number in 0.. {
        let Some((connection, peer)) = shared::taken(listener.accept().await) else {
            continue;
        };
        let room = room.clone();
        let client = async move {
            if let Err(error) = chat(number, &connection, &room).await {
                eprintln!("{peer}: {error}");
                // It may be that nobody hears of it.
                let _told = tell(&connection, &format!("good-bye: {error}")).await;
            }
        };
        drop(tasks.spawn(client).await);
    }
    Ok(())
}

/// Two that talk to each other, and one that is refused.
fn two_clients(address: SocketAddr) -> io::Result<()> {
    let come = |name: &str| {
        let mut client = BufReader::new(shared::connect(address)?);
        hear(&mut client)?;
        writeln!(client.get_mut(), "{name}")?;
        println!("{name:?} hears {:?}", hear(&mut client)?);
        io::Result::Ok(client)
    };
    let (mut ada, mut bob) = (come("Ada")?, come("Bob")?);
    println!("Ada hears {:?}", hear(&mut ada)?);
    writeln!(ada.get_mut(), "hello, Bob")?;
    println!("Bob hears {:?}", hear(&mut bob)?);
    writeln!(bob.get_mut(), "hello, Ada")?;
    println!("Ada hears {:?}", hear(&mut ada)?);
    drop(bob);
    println!("Ada hears {:?}", hear(&mut ada)?);
    come("").map(drop)
}

fn hear(client: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    client.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}
