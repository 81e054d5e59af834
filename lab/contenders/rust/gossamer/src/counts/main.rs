//! One operation of a primitive, again and again, for `cargo xtask counts`: `gossamer-counts OPERATION FLAVOUR N`.
//!
//! All but `pool` run under `Model::Single`: one thread does everything, so the count is exact. What waits is two tasks
//! that take turns, so that each operation waits, is woken and goes on.

#![forbid(unsafe_code)]

mod any;
mod sockets;
mod turns;

use std::process::ExitCode;

use channels::{Asked, to_and_fro};
use gossamer::{Model, raw};

use any::Selected;
use gossamer_contender::args::{number, runtime};
use gossamer_contender::flavours::{Local, LocalSpsc, Shared, Spsc};
use gossamer_contender::mvars::leak;
use gossamer_contender::{Failure, end, pipes, spawned, spawned_here};

/// The operations of one flavour; `$on` comes before the tasks that are spawned.
macro_rules! flavour {
    ($name:ident: $primitives:ident, $Channel:ty, $Spsc:ty, $policy:ty, $spawned:ident($($on:expr)?)) => {
        /// Does `operation` `times` times; gives a number that depends on all of them.
        fn $name(operation: &str, times: u64) -> Result<u64, Failure> {
            let asked = trips(times);
            let semaphore = &leak([gossamer::$primitives::Semaphore::new(1)])[0];
            let mutex = &leak([gossamer::$primitives::Mutex::new(0)])[0];
            let fair = &leak([gossamer::$primitives::FairMutex::new(0)])[0];
            match operation {
                "pass" => $spawned($($on,)? turns::pass::<$Channel>(times)),
                "pass-spsc" => $spawned($($on,)? turns::pass::<$Spsc>(times)),
                "trip" => $spawned($($on,)? to_and_fro::<$Channel>(&asked)),
                "trip-spsc" => $spawned($($on,)? to_and_fro::<$Spsc>(&asked)),
                "trip-pipe" => $spawned($($on,)? pipes::to_and_fro::<$policy>(&asked)),
                "send-full" => $spawned($($on,)? turns::send_full::<$Channel>(times)),
                "acquire" => $spawned($($on,)? turns::alone(times, || semaphore.acquire())),
                "acquire-wait" => $spawned($($on,)? turns::contended(times, || semaphore.acquire())),
                "lock" => $spawned($($on,)? turns::alone(times, || mutex.lock())),
                "lock-wait" => $spawned($($on,)? turns::contended(times, || mutex.lock())),
                "lock-fair-wait" => $spawned($($on,)? turns::contended(times, || fair.lock())),
                "set" => $spawned($($on,)? any::ready::<$Channel>(times)),
                "set-wait" => $spawned($($on,)? any::waiting::<$Channel>(times)),
                "select" => $spawned($($on,)? any::ready::<Selected<$Channel>>(times)),
                "select-wait" => $spawned($($on,)? any::waiting::<Selected<$Channel>>(times)),
                other => Err(format!("unknown operation '{other}'").into()),
            }
        }
    };
}

flavour!(here: local, Local, LocalSpsc, raw::Local, spawned_here());
flavour!(shared: sync, Shared, Spsc, raw::Shared, spawned(runtime(Model::Single)?));
flavour!(pool: sync, Shared, Spsc, raw::Shared, spawned(runtime(Model::Pool { workers: 1 })?));

/// Of a channel of one, or a pipe, in each direction.
fn trips(messages: u64) -> Asked {
    Asked {
        messages,
        senders: 1,
        receivers: 1,
        capacity: Some(1),
        many: false,
        requests: None,
    }
}

fn run(words: &[String]) -> Result<u64, Failure> {
    let [operation, flavour, times] = words else {
        return Err("expected OPERATION FLAVOUR N".to_owned().into());
    };
    let times = number("N", times)?;
    if operation.starts_with("socket") {
        return sockets::run(operation, flavour, times);
    }
    match flavour.as_str() {
        "local" => here(operation, times),
        "shared" => shared(operation, times),
        "pool" => pool(operation, times),
        other => Err(format!("unknown flavour '{other}'").into()),
    }
}

fn main() -> ExitCode {
    end(run(&std::env::args().skip(1).collect::<Vec<_>>()))
}
