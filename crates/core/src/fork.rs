//! A forked child of a process that had several threads: what the parent began is refused there.
//!
//! `fork()` gives the child one thread, the one that called it. No thread of a runtime is there, nor are other threads
//! that the parent had. So whatever was begun before is refused with one message; new runtimes work
//! (`platform/forks.rs` says how), and what is refused is leaked when it is dropped. In a process of one thread, a fork
//! changes nothing.

use std::sync::Once;

use crate::context;
use crate::platform::atomic::Ordering;
use crate::platform::{UnmodelledU32, in_forked_children, single_threaded};
use crate::shard::Shard;

/// How many forks lie between the first of our processes and this one: those that lost threads, and all.
static FORKS: UnmodelledU32 = UnmodelledU32::new(0);
static ALL_FORKS: UnmodelledU32 = UnmodelledU32::new(0);

/// The process in which something was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin(u32);

impl Origin {
    /// This process. Forks count only once [`Origin::watched`] has been called.
    #[inline(always)]
    pub fn here() -> Self {
        // Relaxed: changes only while the process has one thread.
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// This process, and from now on forks count: for those who start threads.
    pub fn watched() -> Self {
        watch();
        Self::here()
    }

    /// Whether this process is a forked child of that one.
    #[inline(always)]
    pub fn is_elsewhere(self) -> bool {
        self != Self::here() && !crate::mutant!("fork_unseen")
    }

    /// Refuses `what` if this process is a forked child of that one.
    ///
    /// # Panics
    /// It is.
    #[inline(always)]
    #[track_caller]
    pub fn check(self, what: &str) {
        if self.is_elsewhere() {
            refuse(what);
        }
    }
}

/// The process that has made something which a forked child shares with it, as a file is shared: also if the process has
/// one thread, and the child goes on with all else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process(u32);

impl Process {
    /// This one.
    pub fn this() -> Self {
        watch();
        Self(Self::forks())
    }

    /// How many forks lie between the first of our processes and this one.
    #[inline]
    pub fn forks() -> u32 {
        // Relaxed: as in `Origin::here`.
        ALL_FORKS.load(Ordering::Relaxed)
    }

    /// Whether this is another one: a forked child.
    #[inline]
    pub fn is_elsewhere(self) -> bool {
        self.0 != Self::forks()
    }
}

/// Forks count from now on.
fn watch() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| in_forked_children(count));
}

#[cold]
#[track_caller]
fn refuse(what: &str) -> ! {
    panic!("{}", refusal(what));
}

/// Says that `what` is refused in a forked child.
pub fn refusal(what: &str) -> alloc::string::String {
    alloc::format!(
        "{what}: this was begun before fork(), and its threads do not exist in the forked child: build a new runtime \
         there, or call exec"
    )
}

/// Ends a forked child that can neither go on nor unwind.
#[cold]
pub fn end_child(what: &str) -> ! {
    std::eprintln!("gossamer: {}", refusal(what));
    std::process::abort();
}

/// One more, in the child. If it was forked in the midst of a poll, that runtime finds out when the poll has ended.
extern "C" fn count() {
    // Relaxed: as below.
    ALL_FORKS.fetch_add(1, Ordering::Relaxed);
    if single_threaded() {
        return;
    }
    // Relaxed: the child has one thread.
    FORKS.fetch_add(1, Ordering::Relaxed);
    let shard = context::with(context::Context::shard);
    if shard != context::NOWHERE {
        Shard::at(shard).lose();
    }
}
