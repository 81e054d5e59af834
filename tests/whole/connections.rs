//! A million connections, cut at any time: every byte that is read was written, at that place, and no connection is lost.
//!
//! Clients connect one after the other, send bytes of which each place has its own, and end in one of four ways: they
//! shut their direction down and are told how many bytes came; or they go, with or without a reset, in the midst of it; or
//! the server goes. Every operation of both sides may be dropped at any poll (`cutting.rs`), and is then begun anew.
//!
//! `cargo xtask whole` has a million connections, and the tests ten thousand.

mod ledger;
mod transport;

use std::io::{self, Cursor, ErrorKind};
use std::net::{self, Shutdown};
use std::ops::Range;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use gossamer::net::{Connection, Listener, Socket};
use gossamer::sync::Event;
use gossamer::{Handle, JoinHandle, Model, Runtime, Wait, select};

use self::ledger::{Counts, Ledger, NONE, add, byte_at};
use self::transport::{Tcp4, Tcp6, Transport, Unix};
use crate::fibers::FIBERS;
use crate::part;
use crate::patience::Patience;

/// Connections of each client in a round.
const EACH: usize = 50;
/// Clients at a time.
const CLIENTS: usize = 16;
/// The most bytes that a client sends.
const BYTES: usize = 20_000;
/// Who uses the connections, and how many of ten they use.
const USERS: [(Model, bool, usize); 4] = [
    (Model::Single, false, 3),
    (Model::Pool { workers: 2 }, false, 3),
    (Model::Pool { workers: 2 }, true, 3),
    (Model::Threads, false, 1),
];

/// Longer than this takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(600);

#[test]
fn a_million_connections_are_cut() {
    let connections = if part().is_some() { 1_000_000 } else { 10_000 };
    let (ended, end) = mpsc::channel();
    let running = thread::spawn(move || {
        let mut all = Counts::default();
        all += of::<Tcp4>(connections * 4 / 10);
        if net::TcpListener::bind((net::Ipv6Addr::LOCALHOST, 0)).is_ok() {
            all += of::<Tcp6>(connections * 2 / 10);
        } else {
            println!("going on without IPv6, which this machine does not have");
            all += of::<Tcp4>(connections * 2 / 10);
        }
        all += of::<Unix>(connections * 4 / 10);
        println!("{:<28} {all}", "all");
        assert!(all.connections >= connections as u64, "{all}");
        // What is never seen is not tested.
        assert!(all.whole > 0 && all.partly > 0 && all.cut > 0, "{all}");
        // Nobody listens only if the test has failed already.
        ended.send(()).unwrap_or_default();
    });
    let ended = Patience::new(PATIENCE).recv(&end);
    assert_ne!(ended, Err(mpsc::RecvTimeoutError::Timeout), "it hangs");
    running.join().expect("see above");
}

fn of<T: Transport>(connections: usize) -> Counts {
    let mut all = Counts::default();
    for (model, fibers, of_ten) in USERS {
        let rt = Runtime::builder().model(model).fibers(FIBERS).build();
        let rt = rt.expect("a runtime");
        let suffix = if fibers { ", fibers" } else { "" };
        let who = format!("{} {model}{suffix}", T::NAME);
        let rounds = (connections * of_ten).div_ceil(10 * EACH * CLIENTS);
        let start = Instant::now();
        let mut counts = Counts::default();
        for number in 0..rounds {
            counts += round::<T>(&rt, fibers, &who, number as u64);
        }
        println!(
            "{who:<28} {counts} {:>6.1} s",
            start.elapsed().as_secs_f64()
        );
        all += counts;
    }
    all
}

fn spawn<F>(rt: &Handle, fibers: bool, body: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    match fibers {
        true => rt.spawn_fiber(move || body.wait()),
        false => rt.spawn(body),
    }
}

fn round<T: Transport>(rt: &Runtime, fibers: bool, who: &str, number: u64) -> Counts {
    let ledger = Arc::new(Ledger::new(
        format!("{who}, round {number}"),
        CLIENTS * EACH,
    ));
    let (listener, address) = T::listen();
    let (mut rng, handle) = (Rng::with_seed(number), rt.handle());
    let serves = serve::<T>(listener, handle.clone(), fibers, ledger.clone(), rng.fork());
    let serves = rt.spawn(serves);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let numbers = client * EACH..(client + 1) * EACH;
            let connects = connect_all::<T>(address.clone(), numbers, ledger.clone(), rng.fork());
            spawn(&handle, fibers, connects)
        })
        .collect();
    rt.block_on(async {
        for client in clients {
            client.await.expect("no panic");
        }
        // It is taken after all others, and its number is none.
        let last = T::connect(&address).await.expect("it listens");
        let none = NONE.to_le_bytes();
        last.write_all(&none).await.expect("it is read");
        drop(last);
        serves.await.expect("no panic");
    });
    T::end(&address);
    ledger.close()
}

async fn connect_all<T: Transport>(
    address: T::Address,
    numbers: Range<usize>,
    ledger: Arc<Ledger>,
    mut rng: Rng,
) {
    for number in numbers {
        let connection = loop {
            match ledger.cut(&mut rng, T::connect(&address)).await {
                Some(connected) => break connected.expect("it listens"),
                None => add(&ledger.perhaps_connected, 1),
            }
        };
        add(&ledger.connected, 1);
        send::<T>(connection, number, &ledger, &mut rng).await;
    }
}

/// Sends what it is to, or a part of it, and ends.
async fn send<T: Transport>(
    connection: Connection<T::Socket>,
    number: usize,
    ledger: &Ledger,
    rng: &mut Rng,
) {
    let entry = &ledger.all[number];
    let is_whole = rng.bool();
    let places = 8 + rng.usize(..BYTES);
    let until = if is_whole {
        places
    } else {
        rng.usize(..places)
    };
    let bytes: Vec<u8> = (0..until as u64)
        .map(|at| byte_at(number as u64, at))
        .collect();
    let mut from = Cursor::new(&bytes);
    let mut is_open = true;
    while is_open && from.position() < until as u64 {
        let sent = if rng.bool() {
            let all = connection.write_all_from(&mut from);
            ledger.cut(rng, all).await
        } else {
            let position = from.position();
            let some = connection.write(&bytes[position as usize..]);
            let sent = ledger.cut(rng, some).await;
            sent.map(|sent| sent.map(|bytes| from.set_position(position + bytes as u64)))
        };
        is_open = !matches!(sent, Some(Err(error)) if is_end(&error));
    }
    add(&entry.written, from.position());
    if !is_open {
        return;
    }
    if is_whole {
        add(
            &entry.was_told,
            u64::from(is_told(&connection, from.position(), ledger, rng).await),
        );
    } else if rng.bool() && T::reset_when_dropped(&connection) {
        add(&entry.was_reset, 1);
    }
}

/// Sends no more, and is told how many bytes have come; `false`: the server has gone.
async fn is_told<S: Socket>(
    connection: &Connection<S>,
    written: u64,
    ledger: &Ledger,
    rng: &mut Rng,
) -> bool {
    let shut = connection.shutdown(Shutdown::Write);
    let mut told = Cursor::new([0; 8]);
    let mut is_open = shut.is_ok();
    while is_open && told.position() < 8 {
        let read = connection.read_exact_into(&mut told);
        is_open = !matches!(ledger.cut(rng, read).await, Some(Err(error)) if is_end(&error));
    }
    assert!(!is_open || u64::from_le_bytes(told.into_inner()) == written);
    is_open
}

/// Whether it is an error of a connection whose peer has gone.
#[track_caller]
fn is_end(error: &io::Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionReset, NotConnected, UnexpectedEof};
    let ends = [BrokenPipe, ConnectionReset, NotConnected, UnexpectedEof];
    assert!(ends.contains(&error.kind()), "{error}");
    true
}

async fn serve<T: Transport>(
    listener: Listener<T::Listening>,
    handle: Handle,
    fibers: bool,
    ledger: Arc<Ledger>,
    mut rng: Rng,
) {
    let is_last = Arc::new(Event::new());
    let mut served = Vec::new();
    loop {
        let accept = async {
            select! {
                accepted = listener.accept() => Some(accepted),
                () = is_last.ready() => None,
            }
        };
        match ledger.cut(&mut rng, accept).await {
            None => {}
            Some(None) => break,
            Some(Some(accepted)) => {
                let (connection, _) = accepted.expect("there are descriptors");
                add(&ledger.accepted, 1);
                let (ledger, is_last, rng) = (ledger.clone(), is_last.clone(), rng.fork());
                let receives = async move {
                    if receive(connection, &ledger, rng).await == Some(NONE) {
                        is_last.set();
                    }
                };
                served.push(spawn(&handle, fibers, receives));
            }
        }
    }
    for serves in served {
        serves.await.expect("no panic");
    }
}

/// Reads all that comes, or goes in the midst of it. Gives the number of the connection, if that has come.
async fn receive<S: Socket>(
    connection: Connection<S>,
    ledger: &Ledger,
    mut rng: Rng,
) -> Option<u64> {
    let mut buffer = vec![0; rng.usize(1..4_096)];
    let most = if rng.u8(..8) == 0 {
        rng.usize(..BYTES)
    } else {
        usize::MAX
    };
    let (mut numbers, mut place) = ([0; 8], 0);
    let mut is_end_of_all = false;
    while place < most {
        let read = match ledger.cut(&mut rng, connection.read(&mut buffer)).await {
            None => continue,
            Some(Err(error)) if is_end(&error) => break,
            Some(read) => read.expect("see above"),
        };
        is_end_of_all = read == 0;
        if is_end_of_all {
            break;
        }
        for byte in &buffer[..read] {
            match numbers.get_mut(place) {
                Some(number) => *number = *byte,
                None => {
                    let expected = byte_at(u64::from_le_bytes(numbers), place as u64);
                    assert_eq!(*byte, expected, "{}: at {place}", ledger.who);
                }
            }
            place += 1;
        }
    }
    if place < 8 {
        // Not for want of bytes.
        add(&ledger.left_early, u64::from(place >= most));
        return None;
    }
    let number = u64::from_le_bytes(numbers);
    let Some(entry) = ledger.all.get(number as usize) else {
        assert_eq!(number, NONE);
        return Some(NONE);
    };
    add(&entry.servers, 1);
    add(&entry.read, place as u64);
    add(&entry.was_ended, u64::from(is_end_of_all));
    let mut told = Cursor::new((place as u64).to_le_bytes());
    let mut is_open = is_end_of_all;
    while is_open && told.position() < 8 {
        let tells = connection.write_all_from(&mut told);
        is_open = !matches!(ledger.cut(&mut rng, tells).await, Some(Err(error)) if is_end(&error));
    }
    Some(number)
}
