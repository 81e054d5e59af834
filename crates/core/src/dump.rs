//! What is known of those that wait: who they are, and what for.

mod json;
mod open_socket;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::panic::Location;
use core::time::Duration;

pub use self::open_socket::{Interest, OpenSocket};

/// Everything that lived in a process at one moment: tasks, fibers, and threads that wait for Gossamer's operations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dump {
    waiters: Vec<Waiter>,
    sockets: Vec<OpenSocket>,
    unheard: usize,
}

/// One that lived.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waiter {
    /// What it is.
    pub kind: WaiterKind,
    /// The name of the task, or of the thread.
    pub name: Option<String>,
    /// Where the task was spawned. `None`: it is a thread.
    pub spawned: Option<&'static Location<'static>>,
    /// What it waits for, whichever comes first. None: it did not say, as it waits for a foreign future, or runs.
    pub waits_for: Vec<WaitsFor>,
    /// How long it has waited, since its last turn. `None`: that is not recorded, or it does not say what it waits for.
    pub waited: Option<Duration>,
}

/// The kind of one that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaiterKind {
    /// A task.
    Task,
    /// A fiber.
    Fiber,
    /// An OS thread that calls `.wait()`.
    Thread,
}

/// Something that is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitsFor {
    /// An operation on a primitive.
    Operation {
        /// `"MVar::take"` and the like.
        name: &'static str,
        /// The primitive: equal numbers are the same one, in this dump.
        object: usize,
        /// Where it was called, if it knows.
        called: Option<&'static Location<'static>>,
        /// Who holds it, if it is a lock that one alone has, and that is recorded.
        held_by: Option<HeldBy>,
    },
    /// A socket, or another descriptor.
    Socket {
        /// Its index in [`Dump::sockets`].
        socket: usize,
        /// What for.
        interest: Interest,
        /// Where the operation was called, if it knows.
        called: Option<&'static Location<'static>>,
    },
    /// The end of one of those in the dump, by its index.
    End(usize),
    /// The end of one that is not in it.
    EndElsewhere,
}

/// Who holds a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeldBy {
    /// One of those in the dump, by its index.
    Waiter(usize),
    /// One that is not in it.
    Elsewhere,
}

impl Waiter {
    /// One of these.
    pub fn new(
        kind: WaiterKind,
        name: Option<String>,
        spawned: Option<&'static Location<'static>>,
        waits_for: Vec<WaitsFor>,
    ) -> Self {
        Self {
            kind,
            name,
            spawned,
            waits_for,
            waited: None,
        }
    }
}

impl Dump {
    /// A dump of these.
    pub fn new(waiters: Vec<Waiter>, unheard: usize) -> Self {
        Self {
            waiters,
            sockets: Vec::new(),
            unheard,
        }
    }

    /// The same, with the sockets that were open.
    #[must_use]
    pub fn with_sockets(self, sockets: Vec<OpenSocket>) -> Self {
        Self { sockets, ..self }
    }

    /// Each one.
    pub fn waiters(&self) -> &[Waiter] {
        &self.waiters
    }

    /// Each socket that was open, and each other descriptor that tasks can wait for.
    pub fn sockets(&self) -> &[OpenSocket] {
        &self.sockets
    }

    /// How many threads of runtimes were in a poll for so long that they did not say which tasks they have.
    pub fn unheard(&self) -> usize {
        self.unheard
    }

    /// The indices of some of which each waits for the next one alone, and the last one for the first; none, if there are
    /// none.
    pub fn circle(&self) -> Vec<usize> {
        let next = |at: usize| match self.waiters[at].waits_for.as_slice() {
            [WaitsFor::End(other)] => Some(*other),
            [
                WaitsFor::Operation {
                    held_by: Some(HeldBy::Waiter(other)),
                    ..
                },
            ] => Some(*other),
            _ => None,
        };
        // By which walk each was come to first.
        let mut walks = alloc::vec![0; self.waiters.len()];
        for walk in 1..=self.waiters.len() {
            let mut way = Vec::new();
            let mut at = Some(walk - 1);
            while let Some(here) = at.filter(|here| walks[*here] == 0) {
                walks[here] = walk;
                way.push(here);
                at = next(here);
            }
            if let Some(again) = at.filter(|again| walks[*again] == walk) {
                let begins = way.iter().position(|other| *other == again);
                return way.split_off(begins.unwrap_or_default());
            }
        }
        Vec::new()
    }

    /// As a reader calls it: `task 3 "left"`.
    fn called(&self, at: usize) -> Called<'_> {
        Called(at, &self.waiters[at])
    }
}

struct Called<'a>(usize, &'a Waiter);

impl fmt::Display for Called<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.1.kind, self.0)?;
        match &self.1.name {
            Some(name) => write!(f, " `{name}`"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for WaiterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Task => "task",
            Self::Fiber => "fiber",
            Self::Thread => "thread",
        })
    }
}

impl fmt::Display for Dump {
    /// A line for each, one for each further thing that it waits for, and one for each socket; and a deadlock that is
    /// suspected, though somebody else may end it, as others run: some who wait for each other.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_waiters(f)?;
        for (at, socket) in self.sockets.iter().enumerate() {
            write!(f, "\n  socket {at}: {socket}")?;
        }
        self.write_circle(f, "suspected deadlock, a circle")
    }
}

impl Dump {
    /// Those that wait for each other, if there are some.
    fn write_circle(&self, f: &mut fmt::Formatter<'_>, what: &str) -> fmt::Result {
        let circle = self.circle();
        for (nth, at) in circle.iter().enumerate() {
            match nth {
                0 => write!(f, "\n{what}: ")?,
                _ => f.write_str(", which waits for ")?,
            }
            write!(f, "{}", self.called(*at))?;
        }
        match circle.first() {
            Some(first) => write!(f, ", which waits for {}", self.called(*first)),
            None => Ok(()),
        }
    }

    fn write_waiters(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, waiter) in self.waiters.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            write!(f, "  {}", self.called(at))?;
            if let Some(spawned) = waiter.spawned {
                write!(f, ", spawned at {spawned},")?;
            }
            if waiter.waits_for.is_empty() {
                f.write_str(" runs, or waits for what does not say what it is (a foreign future)")?;
            }
            for (nth, waits_for) in waiter.waits_for.iter().enumerate() {
                match waiter.waited {
                    _ if nth > 0 => f.write_str("\n    or for ")?,
                    Some(waited) => write!(f, " has waited {waited:.1?} for ")?,
                    None => f.write_str(" waits for ")?,
                }
                self.write_wait(f, waits_for)?;
            }
        }
        match self.unheard {
            0 => Ok(()),
            1 => f.write_str(
                "\n  and a thread of a runtime is in a poll, and does not say which tasks it has",
            ),
            many => write!(
                f,
                "\n  and {many} threads of runtimes are in polls, and do not say which tasks they have"
            ),
        }
    }

    fn write_wait(&self, f: &mut fmt::Formatter<'_>, waits_for: &WaitsFor) -> fmt::Result {
        match waits_for {
            WaitsFor::Operation {
                name,
                object,
                called,
                held_by,
            } => {
                let kind = name.split("::").next().unwrap_or(name);
                write!(f, "{name} on {kind} #{object}")?;
                if let Some(called) = called {
                    write!(f, ", called at {called}")?;
                }
                match held_by {
                    Some(HeldBy::Waiter(at)) => write!(f, ", held by {}", self.called(*at))?,
                    Some(HeldBy::Elsewhere) => f.write_str(", held by one that is not here")?,
                    None if is_lock(name) => {
                        f.write_str(", held by whom is not recorded")?;
                    }
                    None => {}
                }
                Ok(())
            }
            WaitsFor::Socket {
                socket,
                interest,
                called,
            } => {
                write!(f, "socket {socket} {interest}")?;
                match called {
                    Some(called) => write!(f, ", called at {called}"),
                    None => Ok(()),
                }
            }
            WaitsFor::End(at) => write!(f, "the end of {}", self.called(*at)),
            WaitsFor::EndElsewhere => {
                f.write_str("the end of a thread, or of a task that is not here")
            }
        }
    }
}

/// Whether the operation of this name is one of a lock, which somebody holds.
pub fn is_lock(operation: &str) -> bool {
    const LOCKS: [&str; 3] = ["Mutex", "FairMutex", "RwLock"];
    operation
        .split("::")
        .next()
        .is_some_and(|kind| LOCKS.contains(&kind))
}

/// All threads of the process sleep, and none is left that could wake one.
#[derive(Clone, PartialEq, Eq)]
pub struct Deadlock(alloc::sync::Arc<Dump>);

impl Deadlock {
    /// Of those who wait for each other.
    pub fn new(dump: Dump) -> Self {
        Self(alloc::sync::Arc::new(dump))
    }

    /// Those who wait.
    pub fn dump(&self) -> &Dump {
        &self.0
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "deadlock: every thread of the process sleeps, and nobody is left to wake one"
        )?;
        self.0.write_waiters(f)?;
        self.0.write_circle(f, "a circle")
    }
}

crate::impl_debug_as_display!([] Deadlock[]);

impl core::error::Error for Deadlock {}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
