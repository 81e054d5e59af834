//! axum's router, without tokio's runtime: hyper serves it on our listener, in our tasks, with our timers.
//!
//! Limits: a thousand connections, 64 headers in 16 KiB, ten seconds for them, 64 KiB for a body, ten minutes for a
//! connection.
//!
//! `cargo run --release -p gossamer-rt --example router [ADDRESS]`

mod shared;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use gossamer::hyper::Timer;
use gossamer::net::{TcpListener, TcpStream};
use gossamer::{Handle, TimeoutExt};
use hyper::server::conn::http1;
use hyper_util::service::TowerToHyperService;

const CONNECTIONS: usize = 1_000;
const HEADERS: usize = 64;
const HEADER_BYTES: usize = 16 << 10;
const BODY_BYTES: usize = 64 << 10;
const FOR_HEADERS: Duration = Duration::from_secs(10);
const FOR_A_CONNECTION: Duration = Duration::from_secs(600);

/// Counts what comes, and may take its time.
pub(crate) fn router() -> Router {
    Router::new()
        .route("/", get(async || "hello\n"))
        .route("/wait/{millis}", get(wait))
        .route("/count", post(count))
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .with_state(Arc::new(AtomicUsize::new(0)))
}

async fn wait(Path(millis): Path<u64>) -> Result<String, (StatusCode, String)> {
    if millis > 1_000 {
        let text = format!("{millis} ms are too long; expected at most 1000\n");
        return Err((StatusCode::BAD_REQUEST, text));
    }
    gossamer::time::sleep(Duration::from_millis(millis)).await;
    Ok(format!("waited {millis} ms\n"))
}

async fn count(State(counted): State<Arc<AtomicUsize>>, body: String) -> String {
    // Relaxed: it counts, and tells of nothing else.
    let before = counted.fetch_add(body.len(), Ordering::Relaxed);
    format!("{} bytes so far\n", before + body.len())
}

async fn serve(connection: TcpStream, router: Router) -> io::Result<()> {
    let serving = http1::Builder::new()
        .timer(Timer)
        .max_headers(HEADERS)
        .max_buf_size(HEADER_BYTES)
        .header_read_timeout(FOR_HEADERS)
        .serve_connection(connection, TowerToHyperService::new(router));
    let served = serving.timeout(FOR_A_CONNECTION).await?;
    served.map_err(io::Error::other)
}

pub(crate) async fn serve_all(listener: TcpListener, router: Router) -> io::Result<()> {
    let tasks = Handle::current().limited(CONNECTIONS);
    loop {
        let Some((connection, peer)) = shared::taken(listener.accept().await) else {
            continue;
        };
        let serving = serve(connection, router.clone());
        let reported = async move { shared::report(peer, serving.await) };
        drop(tasks.spawn(reported).await);
    }
}

#[gossamer::main]
async fn main() -> io::Result<()> {
    serve_all(shared::listener(ask)?, router()).await
}

/// Asks for some things, over one connection.
fn ask(address: SocketAddr) -> io::Result<()> {
    let mut connection = BufReader::new(shared::connect(address)?);
    for (method, path, body) in [
        ("GET", "/", ""),
        ("GET", "/wait/3", ""),
        ("GET", "/wait/3000", ""),
        ("POST", "/count", "seven b"),
        ("POST", "/count", "five!"),
        ("GET", "/count", ""),
    ] {
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.1\r\nhost: here\r\ncontent-length: {length}\r\n");
        write!(connection.get_mut(), "{head}\r\n{body}")?;
        let (status, answer) = hear(&mut connection)?;
        println!("{method} {path}: {status} {answer:?}");
    }
    Ok(())
}

/// A response: its first line, and its body.
fn hear(connection: &mut impl BufRead) -> io::Result<(String, String)> {
    let (mut status, mut length) = (String::new(), 0);
    connection.read_line(&mut status)?;
    loop {
        let mut line = String::new();
        connection.read_line(&mut line)?;
        if let Some(text) = line.strip_prefix("content-length: ") {
            length = text.trim_end().parse().map_err(io::Error::other)?;
        }
        if line.trim_end().is_empty() {
            break;
        }
    }
    let mut body = String::new();
    connection.take(length).read_to_string(&mut body)?;
    Ok((status.trim_end().to_owned(), body))
}
