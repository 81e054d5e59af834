//! Where a simulated thread and those who run it meet: they pass the baton to each other.
//!
//! One of the two waits whenever the other has it, so the [`Baton`], the context of the simulation's runner, is always one
//! thread's alone.

use std::fmt;
use std::io::{self, Write};
use std::mem;
use std::panic::Location;
use std::process;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use gossamer_core::context::Baton;
use gossamer_core::platform::thread::{self, ThreadId};
use gossamer_core::platform::{Condvar, Mutex};
use gossamer_task::AbortHandle;

use crate::chooser::{self, Chooser};

/// After this time a thread that has the baton is said to block.
pub(crate) const COMES_BACK_MAX: Duration = if cfg!(test) {
    Duration::from_millis(200)
} else {
    Duration::from_secs(10)
};

/// Where a simulated thread and those who run it meet.
pub(crate) struct Relay {
    pub(crate) name: String,
    pub(crate) spawned: &'static Location<'static>,
    /// Until it is joined.
    pub(crate) os: Mutex<Option<thread::JoinHandle<()>>>,
    leg: Mutex<Leg>,
    passed: Condvar,
}

/// Where the baton is, as far as this thread is concerned.
enum Leg {
    /// Elsewhere; the thread stands still.
    Away,
    ToThread(Turn),
    /// The thread has it.
    Here,
    ToSimulation(Running, Standing),
    /// The thread will not want it any more: its body has ended, or it is stuck.
    Over,
    Stuck,
}

/// What a thread gets.
struct Turn {
    running: Running,
    /// Wakes its task.
    waker: Waker,
    /// Whether it is to end.
    ends: bool,
}

/// The baton, and with it what chooses.
struct Running {
    baton: Baton,
    chooser: Option<Chooser>,
}

impl Running {
    /// # Safety
    /// As [`Baton::take`].
    unsafe fn take() -> Self {
        Self {
            // SAFETY: as the caller says.
            baton: unsafe { Baton::take() },
            chooser: chooser::take(),
        }
    }

    /// # Safety
    /// As [`Baton::put`].
    unsafe fn put(self) {
        // SAFETY: as the caller says.
        unsafe { self.baton.put() };
        chooser::put(self.chooser);
    }
}

/// How a thread gives the baton back.
pub(crate) enum Standing {
    /// It waits.
    Still,
    /// Its body has ended; with this message, if by a panic.
    Over(Option<String>),
    /// It is to end, and a destructor waits for what will not come.
    Stuck,
}

impl Relay {
    pub(crate) fn new(name: &str, spawned: &'static Location<'static>) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            spawned,
            os: Mutex::new(None),
            leg: Mutex::new(Leg::Away),
            passed: Condvar::new(),
        })
    }

    /// Has the thread run until it stands still again.
    pub(crate) fn pass(&self, waker: &Waker, ends: bool) -> Standing {
        let waker = waker.clone();
        let mut leg = self.leg.lock();
        match *leg {
            Leg::Away => {}
            Leg::Over => return Standing::Over(None),
            Leg::Stuck => return Standing::Stuck,
            _ => {
                drop(leg);
                abort(format_args!("{self} was to run, and runs already"));
            }
        }
        // SAFETY: until it is put back below, this thread only waits for that.
        let running = unsafe { Running::take() };
        *leg = Leg::ToThread(Turn {
            running,
            waker,
            ends,
        });
        self.passed.notify_all();
        let since = Instant::now();
        let mut is_said = false;
        loop {
            let before = mem::replace(&mut *leg, Leg::Away);
            if let Leg::ToSimulation(running, standing) = before {
                match standing {
                    Standing::Still => {}
                    Standing::Over(_) => *leg = Leg::Over,
                    Standing::Stuck => *leg = Leg::Stuck,
                }
                drop(leg);
                // SAFETY: this thread has taken it, and it comes back.
                unsafe { running.put() };
                return standing;
            }
            *leg = before;
            leg = self.passed.wait_for(leg, COMES_BACK_MAX);
            let is_late = since.elapsed() >= COMES_BACK_MAX;
            if is_late && !is_said && !gossamer_core::mutant!("blocking_thread_untold") {
                is_said = true;
                say(format_args!(
                    "{self} does not come back: for {COMES_BACK_MAX:?} it has neither waited nor ended, so the simulation \
                     stands. It computes for long, or blocks on what a simulation does not know (a lock, a channel or a \
                     sleep of std, a call of the system): use gossamer's there"
                ));
            }
        }
    }

    /// The thread's body has ended, and so has the thread soon: waits until its thread-locals have gone.
    pub(crate) fn join(&self) {
        let os = self.os.lock().take();
        if let Some(os) = os {
            // It catches its panics; that of a thread-local's destructor ends the process.
            let _ended = os.join();
        }
    }

    /// On the thread: waits for its turn.
    pub(crate) fn receive(&self) -> (Waker, bool) {
        let mut leg = self.leg.lock();
        loop {
            let before = mem::replace(&mut *leg, Leg::Here);
            if let Leg::ToThread(turn) = before {
                drop(leg);
                // SAFETY: this thread gives it back; until then who has taken it waits.
                unsafe { turn.running.put() };
                return (turn.waker, turn.ends);
            }
            *leg = before;
            leg = self.passed.wait(leg);
        }
    }

    /// On the thread: gives its turn back, and waits for the next.
    pub(crate) fn stand_still(&self) -> (Waker, bool) {
        self.give_back(Standing::Still);
        self.receive()
    }

    /// On the thread: gives its turn back.
    pub(crate) fn give_back(&self, standing: Standing) {
        // SAFETY: this thread does nothing more there before it has it again.
        let running = unsafe { Running::take() };
        *self.leg.lock() = Leg::ToSimulation(running, standing);
        self.passed.notify_all();
    }
}

impl fmt::Display for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, spawned, .. } = self;
        write!(f, "the simulated thread `{name}`, spawned at {spawned},")
    }
}

gossamer_core::impl_debug!([] Relay[], this => name: this.name);

/// Says what nobody can be told in another way; if it cannot be said, there is nowhere left to report it.
pub(crate) fn say(what: fmt::Arguments<'_>) {
    let _said = writeln!(io::stderr(), "gossamer: {what}");
}

pub(crate) fn abort(why: fmt::Arguments<'_>) -> ! {
    say(why);
    process::abort();
}

/// The threads of a simulation.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    /// Those that have not ended.
    alive: Mutex<Vec<Entry>>,
    /// The first that panicked when the run was over: the address of its task, and its message.
    panicked_late: Mutex<Option<(usize, String)>>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) os: ThreadId,
    pub(crate) relay: Arc<Relay>,
    /// Addresses of the header that its join handle waits for, and of its task.
    pub(crate) handle: usize,
    pub(crate) task: AbortHandle,
}

impl Threads {
    pub(crate) fn add(&self, entry: Entry) {
        self.alive.lock().push(entry);
    }

    pub(crate) fn are_gone(&self) -> bool {
        self.alive.lock().is_empty()
    }

    pub(crate) fn forget(&self, os: ThreadId) {
        self.alive.lock().retain(|entry| entry.os != os);
    }

    pub(crate) fn relay_of(&self, os: ThreadId) -> Option<Arc<Relay>> {
        let threads = self.alive.lock();
        let entry = threads.iter().find(|entry| entry.os == os);
        entry.map(|entry| entry.relay.clone())
    }

    pub(crate) fn take(&self, os: ThreadId) -> Option<Entry> {
        let mut threads = self.alive.lock();
        let at = threads.iter().position(|entry| entry.os == os)?;
        Some(threads.remove(at))
    }

    /// The thread, which was to end as the run is over, has panicked.
    pub(crate) fn note_panic(&self, os: ThreadId, message: String) {
        let threads = self.alive.lock();
        if let Some(entry) = threads.iter().find(|entry| entry.os == os)
            && !gossamer_core::mutant!("late_panic_untold")
        {
            let task = entry.task.id().address();
            self.panicked_late.lock().get_or_insert((task, message));
        }
    }

    pub(crate) fn take_late_panic(&self) -> Option<(usize, String)> {
        self.panicked_late.lock().take()
    }

    /// The task of the thread whose join handle waits for what is at this address.
    pub(crate) fn task_of(&self, handle: usize) -> Option<usize> {
        let threads = self.alive.lock();
        let entry = threads.iter().find(|entry| entry.handle == handle);
        entry.map(|entry| entry.task.id().address())
    }
}
