//! Operations on sockets: a read of one that is ready, beside the system's calls alone; and a byte there and back.

use std::io::{self, Read, Write};
use std::net;

use gossamer::net::{TcpListener, TcpStream};
use gossamer::{Model, Runtime};

use gossamer_contender::Failure;

fn failed(error: &io::Error) -> Failure {
    format!("sockets: {error}").into()
}

/// Both ends of a connection.
fn pair() -> io::Result<(net::TcpStream, net::TcpStream)> {
    let listener = net::TcpListener::bind("127.0.0.1:0")?;
    let client = net::TcpStream::connect(listener.local_addr()?)?;
    client.set_nodelay(true)?;
    Ok((client, listener.accept()?.0))
}

/// The system's calls: a byte is written, and read.
fn bare(times: u64) -> io::Result<u64> {
    let (mut from, mut to) = pair()?;
    let (mut sum, mut byte) = (0, [0]);
    for _ in 0..times {
        from.write_all(&[1])?;
        sum += to.read(&mut byte)? as u64;
    }
    Ok(sum)
}

/// The same, read by an operation.
async fn read(times: u64) -> io::Result<u64> {
    let (mut from, to) = pair()?;
    let to = TcpStream::try_from(to)?;
    let (mut sum, mut byte) = (0, [0]);
    for _ in 0..times {
        from.write_all(&[1])?;
        sum += to.read(&mut byte).await? as u64;
    }
    Ok(sum)
}

/// Another task gives each byte back.
async fn trip(times: u64) -> io::Result<u64> {
    let listener = TcpListener::bind("127.0.0.1:0".parse().expect("it is an address"))?;
    let address = listener.local_addr()?;
    let echo = gossamer::spawn(async move {
        let (stream, _) = listener.accept().await?;
        let mut byte = [0; 64];
        loop {
            match stream.read(&mut byte).await? {
                0 => return Ok::<_, io::Error>(()),
                read => stream.write(&byte[..read]).await?,
            };
        }
    });
    let stream = TcpStream::connect(address).await?;
    let (mut sum, mut byte) = (0, [0; 64]);
    for _ in 0..times {
        stream.write(&[1]).await?;
        sum += stream.read(&mut byte).await? as u64;
    }
    drop(stream);
    echo.await.map_err(io::Error::other)??;
    Ok(sum)
}

/// Does `operation` on sockets so many times.
pub(crate) fn run(operation: &str, flavour: &str, times: u64) -> Result<u64, Failure> {
    let model = match flavour {
        "bare" => return bare(times).map_err(|error| failed(&error)),
        "single" => Model::Single,
        "pool" => Model::Pool { workers: 1 },
        other => return Err(format!("unknown flavour '{other}'").into()),
    };
    let runtime = Runtime::builder().model(model).build();
    let runtime = runtime.map_err(|error| failed(&error))?;
    let done = runtime.block_on(async {
        match operation {
            "socket-read" => gossamer::spawn(read(times)).await,
            _ => gossamer::spawn(trip(times)).await,
        }
    });
    done.map_err(io::Error::other)
        .flatten()
        .map_err(|error| failed(&error))
}
