//! Ping-pong over a pipe: the seed's first protocol, between two tasks.
//!
//! `cargo run --release -p gossamer-rt --example ping_pong [ROUNDS]`

use std::error::Error;

use gossamer::{Runtime, protocol};

protocol! {
    /// The client sends `ping`, the server answers `pong`, as often as the client likes.
    protocol PingPong between client and server {
        Ping: client { ping -> Pong, enough -> End },
        Pong: server { pong -> Ping },
    }
}
use ping_pong::{Ping, Pong, client, server};

/// How many times it was asked.
async fn serve(mut server: server::Ping) -> Result<u32, Box<dyn Error + Send + Sync>> {
    let mut asked = 0;
    while let Ping::Ping(answering) = server.recv().await? {
        asked += 1;
        server = answering.pong()?;
    }
    Ok(asked)
}

async fn play(mut client: client::Ping, rounds: u32) -> Result<(), Box<dyn Error>> {
    for _ in 0..rounds {
        let Pong::Pong(next) = client.ping()?.recv().await?;
        client = next;
    }
    client.enough()?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let rounds = match std::env::args().nth(1) {
        Some(text) => text
            .parse()
            .map_err(|_| format!("ROUNDS is a number, not {text:?}"))?,
        None => 1_000,
    };
    let rt = Runtime::builder().build()?;
    let (client, server) = ping_pong::pipe();
    let served = rt.spawn(serve(server));
    let asked = rt.block_on(async {
        play(client, rounds).await?;
        served.await?.map_err(|error| error as Box<dyn Error>)
    })?;
    println!("{asked} rounds");
    Ok(())
}
