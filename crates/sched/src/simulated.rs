//! What a simulation does in place of the operating system: its threads run one at a time.
//!
//! Whatever starts a thread for a user's closure asks here first. A thread that is part of a simulation says so
//! ([`set_simulated_threads`]).

use std::cell::Cell;
use std::io;
use std::panic::Location;

use gossamer_core::header::Payload;
use gossamer_core::platform::thread::ThreadId;
use gossamer_core::platform::thread_local;

/// The work of a simulated thread. It catches its own panics, asks what it is called with whether the payload is one of
/// a panic (and not of a thread that unwinds because it is to end), and gives its output to a handle.
pub type ThreadBody = Box<dyn FnOnce(&mut dyn FnMut(&Payload) -> bool) + Send>;

/// The threads of a simulation, for those who would start others.
pub trait SimulatedThreads: Sync {
    /// Makes a simulated thread that runs `body`. Who waits for the task at the address `handle` waits for its end.
    ///
    /// # Errors
    /// The system grants no thread.
    fn start(
        &self,
        name: &str,
        handle: usize,
        body: ThreadBody,
        caller: &'static Location<'static>,
    ) -> io::Result<()>;

    /// Has a simulated thread that stands still end: it unwinds, and has ended when this returns, unless it
    /// [waits](SimulatedThreads::wait_for) for this one. Nothing, if `thread` is none.
    fn end(&self, thread: ThreadId);

    /// The current thread, while it is made to end, needs the thread `host` to do something first: if that is the one
    /// that runs the simulation, and so waits for this one, it goes on and calls `end` again.
    fn wait_for(&self, host: ThreadId);
}

thread_local! {
    static THREADS: Cell<Option<&'static dyn SimulatedThreads>> = const { Cell::new(None) };
}

/// Those of the simulation that the current thread is part of.
#[must_use]
pub fn simulated_threads() -> Option<&'static dyn SimulatedThreads> {
    THREADS.try_with(Cell::get).ok().flatten()
}

/// Says whose part the current thread is from now on.
pub fn set_simulated_threads(threads: Option<&'static dyn SimulatedThreads>) {
    THREADS.with(|current| current.set(threads));
}
