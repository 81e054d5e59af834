//! Libraries of others on our sockets: hyper, and axum on it; and that none of them has brought a runtime.
#![forbid(unsafe_code)]

#[path = "../patience.rs"]
mod patience;
/// What it serves; what it prints is checked where all examples are.
#[allow(dead_code, reason = "its main is run as a program")]
#[path = "../../examples/router.rs"]
mod router;

use std::convert::Infallible;
use std::fs;
use std::future::{Pending, pending};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use axum::routing::get;
use gossamer::channel::oneshot;
use gossamer::hyper::Timer;
use gossamer::net::{Connection, Socket, TcpListener, UnixStream};
use gossamer::{Handle, Model, Runtime, spawn};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::rt::{Executor, Timer as _};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};

use self::patience::Patience;

const LIMIT: Duration = Duration::from_secs(60);
const LONG: Duration = Duration::from_secs(100_000);

/// Does something under each model, on a thread that must end.
fn each_model(body: impl Fn(&Runtime) + Copy + Send + 'static) {
    for model in ["single", "pool:1", "pool:2", "threads"] {
        let (ended, end) = mpsc::channel();
        let running = thread::spawn(move || {
            let model: Model = model.parse().expect("a model");
            body(&Runtime::builder().model(model).build().expect("a runtime"));
            ended.send(()).expect("somebody waits");
        });
        if Patience::new(LIMIT).recv(&end) == Err(mpsc::RecvTimeoutError::Timeout) {
            panic!("{model}: it hangs");
        }
        assert!(running.join().is_ok(), "{model}: it panicked, see above");
    }
}

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// Asks as another program would, once.
fn ask(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut connection = TcpStream::connect(address)?;
    write!(
        connection,
        "GET {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Whether there is a runtime of tokio's here, or a thread of one.
fn tokio_runs() -> bool {
    let names = fs::read_dir("/proc/self/task").expect("threads");
    let mut names =
        names.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("comm")).ok());
    tokio::runtime::Handle::try_current().is_ok() || names.any(|name| name.contains("tokio"))
}

#[test]
fn axum_needs_no_runtime_of_tokios() {
    each_model(|rt| {
        let (listener, address) = listener();
        let router =
            router::router().route("/tokio", get(async || format!("tokio: {}", tokio_runs())));
        let client = gossamer::spawn_thread(move || {
            let answers = ["/", "/wait/1", "/tokio", "/nothing"];
            answers.map(|path| ask(address, path).expect("an answer"))
        });
        let answers = rt.block_on(async {
            drop(spawn(router::serve_all(listener, router)));
            client.await.expect("no panic")
        });
        let ends = [
            "\r\n\r\nhello\n",
            "\r\n\r\nwaited 1 ms\n",
            "\r\n\r\ntokio: false",
        ];
        for (answer, end) in answers.iter().zip(ends) {
            assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
            assert!(answer.ends_with(end), "{answer}");
        }
        assert!(answers[3].starts_with("HTTP/1.1 404 "), "{}", answers[3]);
    });
}

/// Sends back what comes.
async fn echo(request: Request<Incoming>) -> Result<Response<Incoming>, Infallible> {
    Ok(Response::new(request.into_body()))
}

/// A server and a client of hyper's, with bodies that do not fit into what the system keeps.
async fn there_and_back<S: Socket + Send + Sync + 'static>(
    here: Connection<S>,
    there: Connection<S>,
) {
    let serving = http1::Builder::new()
        .timer(Timer)
        .serve_connection(there, service_fn(echo));
    let served = spawn(serving);
    let (mut client, connection) = hyper::client::conn::http1::handshake(here)
        .await
        .expect("open");
    let talked = spawn(connection);
    for length in [0, 1, 10_000, 3_000_000] {
        let body = Bytes::from_iter((0..length).map(|at| (at % 251) as u8));
        let request = Request::post("/").body(Full::new(body.clone()));
        client.ready().await.expect("open");
        let response = client.send_request(request.expect("a request")).await;
        let mut response = response.expect("an answer").into_body();
        let mut came = Vec::new();
        while let Some(frame) = response.frame().await {
            came.extend_from_slice(frame.expect("open").data_ref().expect("no trailers"));
        }
        assert!(response.is_end_stream());
        assert!(body == came, "{length} bytes");
    }
    drop(client);
    talked.await.expect("no panic").expect("it has ended");
    served.await.expect("no panic").expect("it has ended");
}

#[test]
fn hyper_talks_to_itself() {
    each_model(|rt| {
        rt.block_on(async {
            let (one, other) = UnixStream::pair().expect("two more descriptors");
            there_and_back(one, other).await;
            let (listener, address) = listener();
            let one = gossamer::net::TcpStream::connect(address);
            let one = one.await.expect("it listens");
            let (other, _) = listener.accept().await.expect("one has connected");
            there_and_back(one, other).await;
        });
    });
}

#[test]
fn a_peer_that_sends_nothing_is_given_up() {
    each_model(|rt| {
        rt.block_on(async {
            for begun in ["", "GET / HTT"] {
                let (one, other) = UnixStream::pair().expect("two more descriptors");
                one.write_all(begun.as_bytes()).await.expect("open");
                let served = http1::Builder::new()
                    .timer(Timer)
                    .header_read_timeout(Duration::from_millis(5))
                    .serve_connection(other, service_fn(echo))
                    .await;
                assert!(served.expect_err("it is too late").is_timeout(), "{begun}");
                one.read(&mut [0]).await.unwrap_or_default();
            }
        });
    });
}

#[test]
fn a_timer_can_be_set_anew() {
    each_model(|rt| {
        rt.block_on(async {
            let mut sleep = Timer.sleep_until(Instant::now() + LONG);
            Timer.reset(&mut sleep, Instant::now());
            sleep.await;
            let mut other = never();
            Timer.reset(&mut other, Instant::now());
            other.await;
            Timer.sleep_until(Timer.now()).await;
        });
    });
}

/// A sleep of another timer's, which never ends.
fn never() -> Pin<Box<dyn hyper::rt::Sleep>> {
    struct Never(Pending<()>);
    impl Future for Never {
        type Output = ();
        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            Pin::new(&mut self.0).poll(cx)
        }
    }
    impl hyper::rt::Sleep for Never {}
    Box::pin(Never(pending()))
}

#[test]
fn a_handle_is_an_executor() {
    each_model(|rt| {
        let (tx, rx) = oneshot();
        rt.block_on(async {
            Handle::current().execute(async move { tx.send(7) });
            assert_eq!(rx.await, Ok(7));
        });
    });
}
