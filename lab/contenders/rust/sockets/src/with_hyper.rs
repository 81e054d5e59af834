//! hyper's server of HTTP/1 over any connection: what the runtimes that hyper runs on share, so that they differ in
//! nothing else.
//!
//! hyper's usual limits hold for all of them: a head of 100 fields and some 400 KiB. Nobody gives hyper a timer, so it
//! asks for no time and sets no limit of time.

use std::convert::Infallible;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};

use crate::{BODY, Options, Talk};

/// Whether that is what such a server serves.
///
/// # Errors
/// It is not, or there is no such workload.
pub fn check(options: &Options) -> Result<(), String> {
    match Talk::of(options)? {
        Talk::Http | Talk::Connect => Ok(()),
        _ => Err(String::from(
            "it serves HTTP only: expected http or connect",
        )),
    }
}

/// Serves a connection until it ends.
pub async fn serve(connection: impl Read + Write + Unpin) {
    let serving = http1::Builder::new()
        .auto_date_header(false)
        .serve_connection(connection, service_fn(reply));
    // Whatever goes wrong with a connection is its end, and nobody else's.
    let _ = serving.await;
}

async fn reply(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::new(Bytes::from_static(BODY.as_bytes())));
    let plain = HeaderValue::from_static("text/plain");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    Ok(response)
}
