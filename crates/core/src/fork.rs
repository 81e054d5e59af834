//! What is left of a runtime in a forked child: nothing that had threads.
//!
//! `fork()` gives the child one thread, the one that called it. A runtime with threads of its own, built before,
//! does not work there and cannot be ended: whoever uses it is told, at once, and dropping it leaks it. A runtime
//! without threads goes on, unless another thread was driving or visiting it at that moment. New runtimes are as good as
//! ever. The locks that this needs are told of in `home/forked.rs`.
//!
//! Unseen are forks that bypass `pthread_atfork`: a bare system call, and `vfork`, after which there is nothing to
//! do but exec.

use crate::context;
use crate::door::QuietU32;
use crate::door::atomic::Ordering;
use crate::home::Home;

/// How many forks lie between the first of our processes and this one.
static FORKS: QuietU32 = QuietU32::new(0);

/// What to do about it.
const ADVICE: &str = "before fork(), and its threads do not exist in the child: build a new runtime in the child, or \
                      call exec";

/// The process in which something was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin(u32);

impl Origin {
    /// This process.
    #[inline(always)]
    pub fn here() -> Self {
        // Relaxed: changes only while the process has one thread.
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// A number that no other process of ours has; never zero.
    pub(crate) fn number(self) -> u32 {
        self.0 + 1
    }

    /// Whether this process is a forked child of that one.
    #[inline(always)]
    pub fn is_elsewhere(self) -> bool {
        self != Self::here() && !crate::mutant!("fork_unseen")
    }

    /// Refuses to use a runtime with threads, which was made there.
    ///
    /// # Panics
    /// This process is a forked child of that one.
    #[inline(always)]
    #[track_caller]
    pub fn check(self, what: &str) {
        if self.is_elsewhere() {
            refuse(what);
        }
    }
}

/// Says that a runtime is of no use here.
///
/// # Panics
/// Always.
#[cold]
#[track_caller]
pub fn refuse(what: &str) -> ! {
    panic!("{}", refusal(what));
}

/// The words for it.
pub fn refusal(what: &str) -> alloc::string::String {
    alloc::format!("{what}: this runtime was built {ADVICE}")
}

/// Refuses to wait for a task of `home`, made in another process.
///
/// # Panics
/// Whoever would have run it is not here.
#[cold]
pub fn refuse_to_join(home: u16) {
    // What is in no home was a thread, or a call that blocks.
    if home == context::NOWHERE || Home::at(home).is_lost() {
        panic!("a join handle waits for what was begun {ADVICE}");
    }
}

/// A thread of a runtime forked inside a task, and the task has given way in the child, where nobody can go on: the
/// other tasks are the parent's. Ends the process.
#[cold]
pub fn end_child() -> ! {
    std::eprintln!(
        "gossamer: a task called fork(), and gave way in the child, where its runtime does not exist: \
         call exec or _exit before that, or build a new runtime on a new thread"
    );
    std::process::abort();
}

/// One more, in the child.
pub(crate) fn count() {
    // Relaxed: the child has one thread.
    FORKS.fetch_add(1, Ordering::Relaxed);
}
