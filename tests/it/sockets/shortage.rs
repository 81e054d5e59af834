//! No descriptors left: in a process of its own, whose limit is changed.

use std::io;
use std::net;
use std::time::{Duration, Instant};

use gossamer::net::TcpListener;
use gossamer::{Model, TimeoutExt, Wait};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{LOCAL, MODELS};
use crate::again::{again, is_again};
use crate::models::runtime;

/// A listener for which there is no descriptor pauses for so long.
const PAUSE: Duration = Duration::from_millis(100);

#[test]
fn a_listener_pauses_while_there_are_no_descriptors() {
    if is_again() {
        run_out_in_a_thread();
        for model in MODELS
            .into_iter()
            .filter(|model| *model != Model::Pool { workers: 1 })
        {
            runtime(model).block_on(run_out());
        }
        return;
    }
    let ended =
        again("sockets::shortage::a_listener_pauses_while_there_are_no_descriptors").output();
    let ended = ended.expect("one more process");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
}

/// Permits this process so many descriptors.
fn permit(descriptors: Option<u64>) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let current = descriptors.or(maximum).or(current);
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).expect("it is lowered, or the limit");
}

/// A listener, and one that has connected.
fn waiting() -> (TcpListener, net::TcpStream) {
    let listener = TcpListener::bind(LOCAL).expect("a free port");
    let address = listener.local_addr().expect("an address");
    (
        listener,
        net::TcpStream::connect(address).expect("it listens"),
    )
}

#[track_caller]
fn has_run_out<T>(accepted: io::Result<T>) {
    let Err(error) = accepted else {
        panic!("there was a descriptor")
    };
    assert!(error.to_string().contains("Too many open files"), "{error}");
}

async fn run_out() {
    let (listener, _client) = waiting();
    permit(Some(3));
    has_run_out(listener.accept().await);
    let began = Instant::now();
    has_run_out(listener.accept().await);
    assert!(began.elapsed() >= PAUSE / 2, "it does not pause");
    permit(None);
    let late = listener.accept().timeout(Duration::from_millis(1)).await;
    late.expect_err("it pauses still");
    listener.accept().await.expect("there are descriptors");
    let (client, accept) = (net::TcpStream::connect, listener.accept());
    let _client = client(listener.local_addr().expect("an address")).expect("it listens");
    let in_time = accept.timeout(Duration::from_secs(60)).await;
    in_time
        .expect("it pauses no more")
        .expect("there are descriptors");
}

fn run_out_in_a_thread() {
    let (listener, _client) = waiting();
    permit(Some(3));
    has_run_out(listener.accept().wait());
    permit(None);
    listener.accept().wait().expect("there are descriptors");
}
