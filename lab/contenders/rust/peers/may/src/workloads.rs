//! may in the workloads beside the ring: `may-workloads WORKLOAD --kind WORKERS …`.
//!
//! All runs in a coroutine, which spawns the others. A place is may's `mpsc`, which has no bound; where a bound is
//! asked for, a semaphore stands before it.

use std::process::ExitCode;
use std::sync::Arc;

use may::coroutine::{Builder, JoinHandle, yield_now};
use may::go;
use may::sync::{Semphore, mpsc};
use peer_ring::{Failure, end};
use waiting::park::{self, AT_ONCE};
use waiting::{Options, part};

/// The children of a node of `skynet`.
const CHILDREN: u64 = 10;

type Program = Box<dyn FnOnce() -> Result<u64, Failure> + Send>;

fn main() -> ExitCode {
    end(run())
}

fn run() -> Result<u64, Failure> {
    let options = Options::read().map_err(Failure::Asked)?;
    let program = asked(&options).map_err(Failure::Asked)?;
    let workers = options.number("--kind", 1).map_err(Failure::Asked)?;
    may::config().set_workers(workers as usize);
    joined(spawn(program)?)?
}

/// The program of the workload that the command line names.
fn asked(options: &Options) -> Result<Program, String> {
    let only = |known: &[&str]| options.only(&[&["--kind"], known].concat());
    let number = |name, usual| options.number(name, usual);
    Ok(match options.workload.as_str() {
        "spawn" => {
            only(&["--spawns", "--batch"])?;
            let (spawns, batch) = (number("--spawns", 1_000)?, number("--batch", 1)?);
            Box::new(move || spawns_of(spawns, batch))
        }
        "yield" => {
            only(&["--yields", "--tasks"])?;
            let (yields, tasks) = (number("--yields", 1_000)?, number("--tasks", 20)?);
            Box::new(move || yields_of(yields, tasks))
        }
        "park" => {
            only(&["--threads"])?;
            let threads = number("--threads", 1_000)?;
            Box::new(move || parked(threads))
        }
        "pingpong" => {
            only(&["--trips", "--pairs"])?;
            let (trips, pairs) = (number("--trips", 1_000)?, number("--pairs", 1)?);
            Box::new(move || ping_pong(trips, pairs))
        }
        "skynet" => {
            only(&["--leaves"])?;
            let leaves = number("--leaves", 1_000)?;
            Box::new(move || tree(0, leaves))
        }
        "spsc" => {
            only(&["--messages", "--capacity"])?;
            let (messages, capacity) = (number("--messages", 1_000)?, number("--capacity", 1_024)?);
            Box::new(move || through(messages, 1, capacity))
        }
        "mpsc" => {
            only(&["--messages", "--senders", "--capacity", "--receive"])?;
            if options.text("--receive", "one") != "one" {
                return Err("--receive: may's receiver takes one message at a time".into());
            }
            let (messages, senders) = (number("--messages", 1_000)?, number("--senders", 1)?);
            let capacity = number("--capacity", 1_024)?;
            Box::new(move || through(messages, senders, capacity))
        }
        other => return Err(format!("unknown workload '{other}'")),
    })
}

fn spawn<T: Send + 'static>(
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Failure> {
    Ok(go!(Builder::new(), run)?)
}

fn joined<T>(handle: JoinHandle<T>) -> Result<T, Failure> {
    let joined = handle.join();
    joined.map_err(|_| Failure::Ran("a coroutine panicked".into()))
}

/// The sum of what coroutines return.
fn sum(handles: impl IntoIterator<Item = JoinHandle<u64>>) -> Result<u64, Failure> {
    let mut all = 0_u64;
    for handle in handles {
        all = all.wrapping_add(joined(handle)?);
    }
    Ok(all)
}

/// Coroutines that return a number, so many at a time: the sum, in 32 bits.
fn spawns_of(spawns: u64, batch: u64) -> Result<u64, Failure> {
    let (mut total, mut next) = (0_u64, 0);
    let mut handles = Vec::with_capacity(batch as usize);
    while next < spawns {
        let end = spawns.min(next + batch);
        for number in next..end {
            handles.push(spawn(move || number)?);
        }
        total = total.wrapping_add(sum(handles.drain(..))?);
        next = end;
    }
    Ok(total & u64::from(u32::MAX))
}

/// How many yields there were.
fn yields_of(total: u64, tasks: u64) -> Result<u64, Failure> {
    let yields = |times| {
        for _ in 0..times {
            yield_now();
        }
        times
    };
    let handles = (0..tasks).map(|task| {
        let times = part(total, tasks, task);
        spawn(move || yields(times))
    });
    sum(handles.collect::<Result<Vec<_>, _>>()?)
}

/// Coroutines that wait for a message each: the sum of what all are sent.
fn parked(threads: u64) -> Result<u64, Failure> {
    park::expect(threads);
    let (last_parked, all_parked) = mpsc::channel();
    let (last_woken, all_woken) = mpsc::channel();
    let mut senders = Vec::with_capacity(threads as usize);
    for number in 0..threads {
        let (sender, receiver) = mpsc::channel();
        let (last_parked, last_woken) = (last_parked.clone(), last_woken.clone());
        senders.push(sender);
        drop(spawn(move || {
            if park::parks() {
                let _ = last_parked.send(());
            }
            // A number that got lost would make the sum wrong, which the lab sees; so everywhere here.
            if park::woke(receiver.recv().unwrap_or_default()) {
                let _ = last_woken.send(());
            }
        })?);
        if number % AT_ONCE == 0 {
            yield_now();
        }
    }
    all_parked.recv()?;
    for (number, sender) in (0..).zip(&senders) {
        sender.send(number)?;
        if number % AT_ONCE == 0 {
            yield_now();
        }
    }
    all_woken.recv()?;
    Ok(park::sum())
}

/// Pairs that send a number to and fro: the sum of what all end with.
fn ping_pong(trips: u64, pairs: u64) -> Result<u64, Failure> {
    let mut firsts = Vec::with_capacity(pairs as usize);
    for pair in 0..pairs {
        let own = part(trips, pairs, pair);
        let (ping, pinged) = mpsc::channel::<u64>();
        let (pong, ponged) = mpsc::channel::<u64>();
        drop(spawn(move || {
            while let Ok(number) = pinged.recv() {
                if pong.send(number + 1).is_err() {
                    break;
                }
            }
        })?);
        firsts.push(spawn(move || {
            let mut number = 0;
            for _ in 0..own {
                let _ = ping.send(number);
                number = ponged.recv().map_or(0, |number| number + 1);
            }
            number
        })?);
    }
    sum(firsts)
}

/// Some senders and one receiver: the sum. A sender takes a permit for each message, and the receiver gives it back.
fn through(messages: u64, senders: u64, capacity: u64) -> Result<u64, Failure> {
    let (tx, rx) = mpsc::channel::<u64>();
    let room = Arc::new(Semphore::new(capacity as usize));
    for sender in 0..senders {
        let (tx, room) = (tx.clone(), room.clone());
        drop(spawn(move || {
            for message in (sender..messages).step_by(senders as usize) {
                room.wait();
                if tx.send(message).is_err() {
                    break;
                }
            }
        })?);
    }
    drop(tx);
    sum([spawn(move || {
        let mut sum = 0_u64;
        while let Ok(message) = rx.recv() {
            room.post();
            sum = sum.wrapping_add(message);
        }
        sum
    })?])
}

/// A tree of coroutines with ten children each: the sum of all leaves' numbers.
fn tree(first: u64, leaves: u64) -> Result<u64, Failure> {
    if leaves == 1 {
        return Ok(first);
    }
    let each = leaves / CHILDREN;
    let mut children = Vec::with_capacity(CHILDREN as usize);
    for child in 0..CHILDREN {
        children.push(spawn(move || tree(first + child * each, each))?);
    }
    let mut all = 0;
    for child in children {
        all += joined(child)??;
    }
    Ok(all)
}
