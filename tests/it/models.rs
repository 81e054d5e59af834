//! One program, any model: the same bodies under `Single`, `Pool` of 1, 2 and 8 workers, and `Threads`.

mod always_ready;
mod budget;
mod building;
mod ending;
mod fiber_and_thread;
mod fiber_ends;
mod fiber_frames;
mod fiber_load;
mod fiber_promise;
#[allow(unsafe_code)]
mod fiber_signals;
mod fiber_states;
mod fiber_tls;
mod fibers;
#[allow(unsafe_code)]
mod foreign_calls;
mod limits;
mod local_fibers;
mod local_tasks;
mod missed_wakeup;
mod monitor;
mod os_threads;
mod pollers;
mod pool;
mod resizing;
mod running;
mod shutdowns;
mod spawning;
mod stuck;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use gossamer::{Model, Runtime};

use crate::contract::FIBERS;
use crate::hanging::{Runs, report, watch};
use crate::patience::Patience;

/// The models that every body runs under.
pub(crate) const MODELS: [Model; 5] = [
    Model::Single,
    Model::Pool { workers: 1 },
    Model::Pool { workers: 2 },
    Model::Pool { workers: 8 },
    Model::Threads,
];

/// How many rounds a test of many does: what is asked for, or as many as soon pass. AddressSanitizer's gate asks for
/// ten thousand.
pub(crate) fn rounds(usual: u32) -> u32 {
    let given = std::env::var("GOSSAMER_ROUNDS").ok();
    let given = given.map(|given| given.parse().expect("GOSSAMER_ROUNDS is a number"));
    given.unwrap_or(usual)
}

/// Longer than any of these tests takes on a slow machine; how busy it is does not matter ([`Patience`]). A gate that
/// expects a hang waits less: so many seconds.
pub(crate) fn patience() -> Duration {
    let given = std::env::var("GOSSAMER_PATIENCE").ok();
    Duration::from_secs(given.and_then(|given| given.parse().ok()).unwrap_or(120))
}

/// Runs `body` under each model, and fails if it hangs.
fn each_model(body: fn(Model)) {
    for model in MODELS {
        watched(&model.to_string(), move || body(model));
    }
}

/// Runs `body` on a thread of its own, and fails if it panics or hangs.
pub(crate) fn watched(name: &str, body: impl FnOnce() + Send + 'static) {
    watched_boxed(name, Box::new(body));
}

/// All bodies by one function, which would take long to compile for each of them.
fn watched_boxed(name: &str, body: Box<dyn FnOnce() + Send>) {
    let _runs = Runs::begin(name);
    let (ended, end) = mpsc::channel();
    let running = thread::Builder::new().name(name.to_owned());
    let running = running.spawn(move || {
        body();
        // Nobody listens only if the test has failed already.
        ended.send(()).unwrap_or_default();
    });
    let running = running.expect("one more thread");
    if Patience::new(patience()).recv(&end) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("{name}: it hangs\n{}", report());
    }
    assert!(running.join().is_ok(), "{name}: it panicked, see above");
}

pub(crate) fn runtime(model: Model) -> Runtime {
    watch();
    Runtime::builder()
        .model(model)
        .fibers(FIBERS)
        .build()
        .expect("a runtime can be built")
}

/// A small generator of numbers that look random (xorshift; Marsaglia 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
