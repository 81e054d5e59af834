//! A server of files by HTTP/1.1, on hyper: the system sends them (sendfile(2)), and a worker waits while it reads from the
//! disk what is not in memory. It ends gracefully, at SIGINT or SIGTERM, and at a second one at once.
//!
//! Limits: a thousand connections, 64 headers in 16 KiB, ten seconds for them (also while nothing is asked), ten minutes
//! for a connection; at the end, ten seconds for what has begun.
//!
//! `cargo run --release -p gossamer-rt --example files [ADDRESS] [FOLDER]`; without FOLDER it is the current one

mod sending;
#[path = "../shared/mod.rs"]
mod shared;
mod trying;

use std::env;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};
use std::pin::pin;
use std::process;
use std::sync::Arc;
use std::time::Duration;

use gossamer::channel::oneshot;
use gossamer::hyper::Timer;
use gossamer::net::TcpStream;
use gossamer::{CancellationToken, JoinSet, TimeoutExt, select, spawn_blocking, spawn_thread};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use rustix::fs::OFlags;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use self::sending::{Contents, Files, Sending};

const CONNECTIONS: usize = 1_000;
const HEADERS: usize = 64;
const HEADER_BYTES: usize = 16 << 10;
const FOR_HEADERS: Duration = Duration::from_secs(10);
const FOR_A_CONNECTION: Duration = Duration::from_secs(600);
const TO_END: Duration = Duration::from_secs(10);

type Answer = Response<Contents>;

/// What is wrong, and what to do.
fn refused(status: StatusCode, text: String) -> Answer {
    let mut answer = Response::new(Contents::text(format!("{text}\n")));
    *answer.status_mut() = status;
    answer
}

/// The file that a path of a request names: below the folder, whatever it says.
fn file_of(folder: &Path, path: &str) -> Result<PathBuf, String> {
    let named = Path::new(path.trim_start_matches('/'));
    let is_below = named
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let is_plain = !path.contains(['%', '\0']);
    match is_below && is_plain {
        true => Ok(folder.join(named)),
        false => Err(format!(
            "the path is {path:?}; expected names below the folder, without `..` and `%`"
        )),
    }
}

fn kind_of(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css",
        Some("js") => "text/javascript",
        Some("svg") => "image/svg+xml",
        Some("txt" | "md" | "rs" | "toml") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// Opens a file, which may take long: on a thread for that. (A pipe would take until somebody writes to it: it is opened
/// without waiting, and refused like folders and devices.)
fn open(path: &Path) -> io::Result<(File, u64)> {
    let no_wait = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(no_wait)
        .open(path)?;
    let metadata = file.metadata()?;
    match metadata.is_file() {
        true => Ok((file, metadata.len())),
        false => Err(io::Error::other("it is no regular file; expected one")),
    }
}

async fn answer(request: Request<Incoming>, folder: &Path, files: &Files) -> Answer {
    let is_head = match *request.method() {
        Method::GET => false,
        Method::HEAD => true,
        ref method => {
            let text = format!("the method is {method}; expected GET or HEAD");
            return refused(StatusCode::METHOD_NOT_ALLOWED, text);
        }
    };
    let path = match file_of(folder, request.uri().path()) {
        Ok(path) => path,
        Err(text) => return refused(StatusCode::BAD_REQUEST, text),
    };
    let kind = kind_of(&path);
    let opened = spawn_blocking(move || open(&path)).await;
    let (file, length) = match opened.map_err(io::Error::other).flatten() {
        Ok(opened) => opened,
        Err(error) => {
            let text = format!("{:?} cannot be had: {error}", request.uri().path());
            return refused(StatusCode::NOT_FOUND, text);
        }
    };
    let mut answer = Response::new(match is_head {
        true => Contents::of_length(length),
        false => files.body(file, length),
    });
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

/// One connection, until it ends, or has answered what it was asked when the server is to end.
async fn serve(
    connection: TcpStream,
    folder: Arc<Path>,
    stop: CancellationToken,
) -> io::Result<()> {
    let files = Files::default();
    let service = service_fn(|request| {
        let (folder, files) = (folder.clone(), files.clone());
        async move { Ok::<_, std::convert::Infallible>(answer(request, &folder, &files).await) }
    });
    let files = files.clone();
    let mut serving = pin!(
        http1::Builder::new()
            .timer(Timer)
            .max_headers(HEADERS)
            .max_buf_size(HEADER_BYTES)
            .header_read_timeout(FOR_HEADERS)
            .serve_connection(Sending { connection, files }, service)
    );
    let ended = async {
        select! {
            served = serving.as_mut() => return served,
            () = stop.cancelled() => {}
        }
        serving.as_mut().graceful_shutdown();
        serving.await
    };
    ended
        .timeout(FOR_A_CONNECTION)
        .await?
        .map_err(io::Error::other)
}

#[gossamer::main]
async fn main() -> io::Result<()> {
    let stop = CancellationToken::new();
    let folder = match env::args().nth(1) {
        Some(_) => env::args()
            .nth(2)
            .unwrap_or_else(|| String::from("."))
            .into(),
        None => trying::folder()?,
    };
    let ((tell, told), stopped) = (oneshot(), stop.clone());
    let listener = shared::listener(move |address| trying::ask(address, &stopped, told))?;
    let (mut signals, told) = (Signals::new([SIGINT, SIGTERM])?, stop.clone());
    drop(spawn_thread(move || {
        let mut signals = signals.forever();
        if signals.next().is_some() {
            told.cancel();
        }
        if let Some(impatient) = signals.next() {
            process::exit(128 + impatient);
        }
    }));

    let (mut connections, folder) = (JoinSet::new(), Arc::<Path>::from(folder));
    loop {
        let full = connections.len() >= CONNECTIONS;
        select! {
            () = stop.cancelled() => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept(), if !full => {
                let Some((connection, peer)) = shared::taken(accepted) else {
                    continue;
                };
                let serving = serve(connection, folder.clone(), stop.clone());
                connections.spawn(async move { shared::report(peer, serving.await) });
            }
        }
    }
    // Nobody is taken any more.
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    match all.timeout(TO_END).await {
        Ok(()) => println!("all connections have ended"),
        Err(_) => eprintln!(
            "{} connections have not ended within {TO_END:?}",
            connections.len()
        ),
    }
    // If there is a client, either of us ends the program.
    let _heard = tell.send(());
    Ok(())
}
