//! A client of the server's own: asks for what is there and for what is not, and has it end.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::{env, fs, process};

use gossamer::channel::oneshot;
use gossamer::{CancellationToken, Wait};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::io::Errno;

use crate::shared::connect;

const LENGTH: usize = 1_000_000;

fn bytes() -> Vec<u8> {
    (0..LENGTH).map(|at| (at % 251) as u8).collect()
}

fn place() -> PathBuf {
    env::temp_dir().join(format!("gossamer-files-{}", process::id()))
}

/// A folder with something in it.
pub(crate) fn folder() -> io::Result<PathBuf> {
    fs::create_dir_all(place())?;
    fs::write(place().join("bytes"), bytes())?;
    fs::write(place().join("text.txt"), "a text\n")?;
    // Nobody writes to it.
    let mode = Mode::RUSR | Mode::WUSR;
    match mknodat(CWD, place().join("pipe"), FileType::Fifo, mode, 0) {
        // Of a run that was killed.
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(place())
}

/// A response: its first line, and its body, which is none for HEAD.
fn response(connection: &mut BufReader<TcpStream>, is_head: bool) -> io::Result<(String, Vec<u8>)> {
    let (mut first, mut length) = (String::new(), 0);
    connection.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        connection.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(text) = line.strip_prefix("content-length: ") {
            length = text.parse().map_err(io::Error::other)?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; if is_head { 0 } else { length }];
    connection.read_exact(&mut body)?;
    Ok((first.trim_end().to_owned(), body))
}

fn ask_once(address: SocketAddr, request: &str) -> io::Result<()> {
    let mut connection = BufReader::new(connect(address)?);
    connection.get_mut().write_all(request.as_bytes())?;
    let (first, body) = response(&mut connection, request.starts_with("HEAD"))?;
    let asked: String = request.lines().next().unwrap_or_default().into();
    print!("{asked}: {first}");
    match body.len() {
        LENGTH => println!(", the file: {}", body == bytes()),
        _ => println!(" {:?}", String::from_utf8_lossy(&body)),
    }
    Ok(())
}

/// Asks, and has the server end. `told`: it has.
pub(crate) fn ask(
    address: SocketAddr,
    stop: &CancellationToken,
    told: oneshot::Receiver<()>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    for request in [
        "GET /bytes HTTP/1.1\r\nhost: here\r\n\r\n",
        "HEAD /bytes HTTP/1.1\r\nhost: here\r\n\r\n",
        "GET /nothing HTTP/1.1\r\nhost: here\r\n\r\n",
        "GET /pipe HTTP/1.1\r\nhost: here\r\n\r\n",
        "GET /../text.txt HTTP/1.1\r\nhost: here\r\n\r\n",
        "POST /text.txt HTTP/1.1\r\nhost: here\r\n\r\n",
        "nonsense\r\n\r\n",
        &format!("GET /text.txt HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(65)),
        &format!(
            "GET /text.txt HTTP/1.1\r\na: {}\r\n\r\n",
            "b".repeat(20_000)
        ),
    ] {
        ask_once(address, request)?;
    }
    // Several requests before the first response, one with another body than a file's.
    let mut kept = BufReader::new(connect(address)?);
    for path in ["bytes", "nothing", "text.txt", "bytes"] {
        let request = format!("GET /{path} HTTP/1.1\r\nhost: here\r\n\r\n");
        kept.get_mut().write_all(request.as_bytes())?;
    }
    for _ in 0..4 {
        let (first, body) = response(&mut kept, false)?;
        match body.len() {
            LENGTH => println!(
                "one after the other: {first}, the file: {}",
                body == bytes()
            ),
            length => println!("one after the other: {first}, {length} bytes"),
        }
    }
    fs::remove_dir_all(place())?;
    stop.cancel();
    // It hangs up, though nothing was said of that.
    if kept.read(&mut [0])? > 0 {
        return Err("the server sends more than it was asked for".into());
    }
    told.wait()?;
    Ok(())
}
