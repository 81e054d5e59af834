//! The forked child: beginning it, watching it, and how it ended.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

use super::{Checked, REFUSAL};

/// Seconds after which a child has hung.
const WATCHDOG_S: u32 = 20;

/// Checks that `act` panics with the refusal.
pub(super) fn refused(what: &str, act: impl FnOnce()) {
    let panic = catch_unwind(AssertUnwindSafe(act)).expect_err(what);
    let text = panic.downcast_ref::<String>().expect("a formatted panic");
    assert!(text.contains(REFUSAL), "{what}: {text}");
}

/// Runs `work` in a forked child.
pub(super) fn in_child(work: impl FnOnce()) -> Checked {
    let child = fork();
    if child == 0 {
        set_hook(Box::new(|_| ()));
        let code = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(()) => 0,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                eprintln!("the child panicked: {}", text.unwrap_or("something"));
                1
            }
        };
        exit(code);
    }
    match end_of(child).as_str() {
        "exit 0" => Ok(()),
        "signal 14" => Err("the child hung".into()),
        end => Err(format!("the child ended with {end}").into()),
    }
}

/// The child's number; zero in the child.
pub(super) fn fork() -> libc::pid_t {
    // SAFETY: the child has one thread; the locks it may come to are the subject of these tests.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no fork");
    child
}

/// Sets the child's watchdog, and has it write no core.
pub(super) extern "C" fn guard() {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: it reads the limits that are there.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
    // SAFETY: no handler is set: the signal ends the process.
    unsafe { libc::alarm(WATCHDOG_S) };
}

pub(super) fn exit(code: i32) -> ! {
    // SAFETY: ends the process, with nothing to clean up.
    unsafe { libc::_exit(code) }
}

pub(super) fn end_of(child: libc::pid_t) -> String {
    let mut status = 0;
    // SAFETY: the status is there to be written.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(waited, child, "waitpid");
    if libc::WIFSIGNALED(status) {
        format!("signal {}", libc::WTERMSIG(status))
    } else {
        format!("exit {}", libc::WEXITSTATUS(status))
    }
}
