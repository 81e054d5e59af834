//! A seccomp filter that forbids `membarrier(2)`: installed before the first runtime, there is a fallback; installed
//! after it, the process ends with a message that says what to do.
//!
//! A filter is for ever, so each test begins this program anew and looks at how that one ends.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::env;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::sync::Arc;
use std::thread;

use gossamer::sync::MVar;
use gossamer::{Model, Runtime, Wait};

/// Says when the filter is installed, in the program that was begun anew.
const WHEN: &str = "GOSSAMER_TEST_FORBIDS";

/// Begins this test anew, in a process of its own.
fn anew(test: &str, when: &str) -> Output {
    let program = env::current_exe().expect("the test's own path");
    Command::new(program)
        .args(["--exact", test, "--nocapture"])
        .env(WHEN, when)
        .output()
        .expect("the test begins anew")
}

/// A task and this thread wake each other, and the workers park in between.
fn work(runtime: &Runtime) {
    let (to, from) = (Arc::new(MVar::<u32>::empty()), Arc::new(MVar::empty()));
    let (its_to, its_from) = (to.clone(), from.clone());
    let echo = runtime.spawn(async move {
        for _ in 0..100 {
            its_from.put(its_to.take().await + 1).await;
        }
    });
    for n in 0..100 {
        to.put(n).wait();
        assert_eq!(from.take().wait(), n + 1);
    }
    echo.wait().expect("the task completes");
}

fn pool() -> Runtime {
    let pool = Runtime::builder().model(Model::Pool { workers: 2 });
    pool.build().expect("two threads can be had")
}

#[test]
fn forbidden_before() {
    if env::var(WHEN).as_deref() == Ok("before") {
        forbid_membarrier();
        return work(&pool());
    }
    let output = anew("forbidden_before", "before");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
}

#[test]
fn forbidden_later() {
    if env::var(WHEN).as_deref() == Ok("later") {
        let pool = pool();
        work(&pool);
        forbid_membarrier();
        // A worker that parks needs it; but for one that was about to, each worker once.
        let parks = || pool.metrics().expect("a pool has some").parks;
        let enough = parks() + 3;
        while parks() < enough {
            pool.spawn(async {}).wait().expect("the task completes");
            thread::yield_now();
        }
        return;
    }
    let output = anew("forbidden_later", "later");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{said}");
    for needed in ["membarrier(2)", "seccomp", "before the first use"] {
        assert!(said.contains(needed), "{needed} is not in: {said}");
    }
}

/// Forbids `membarrier(2)` to all threads of this process.
fn forbid_membarrier() {
    let filter = [
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        instruction(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            1,
            libc::SYS_membarrier as u32,
        ),
        instruction(
            libc::BPF_RET | libc::BPF_K,
            0,
            libc::SECCOMP_RET_ERRNO | libc::EPERM as u32,
        ),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    // SAFETY: it only forbids.
    let may_install = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    // SAFETY: the filter is read during the call, and only forbids.
    let error = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_TSYNC,
            &raw const program,
        )
    };
    let installed = may_install == 0 && error == 0;
    assert!(installed, "no filter: {}", std::io::Error::last_os_error());
}

/// One instruction of a filter; `skip` is how many are skipped if the comparison fails.
fn instruction(code: u32, skip: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: skip,
        k,
    }
}
