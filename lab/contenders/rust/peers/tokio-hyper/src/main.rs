//! A server of hyper's on tokio's current-thread scheduler: `tokio-hyper http …`.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::process::ExitCode;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use peer_ring::{Failure, end};
use sockets::{BODY, Options, Talk, listens_at};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;

fn main() -> ExitCode {
    end(run())
}

fn run() -> Result<u64, Failure> {
    let options = Options::read().map_err(Failure::Asked)?;
    let talk = Talk::of(&options).map_err(Failure::Asked)?;
    if !matches!(talk, Talk::Http | Talk::Connect) {
        return Err(Failure::Asked(String::from("it serves HTTP only")));
    }
    let runtime = Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(accept())
}

async fn accept() -> Result<u64, Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    listens_at(listener.local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(serve(stream));
    }
}

async fn serve(stream: TcpStream) {
    let serving = http1::Builder::new()
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service_fn(reply));
    // Whatever goes wrong with a connection is its end, and nobody else's.
    let _ = serving.await;
}

async fn reply(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::new(Bytes::from_static(BODY.as_bytes())));
    let plain = HeaderValue::from_static("text/plain");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    Ok(response)
}
