//! Every overflow ends in our message, and what is no overflow does not. Each is a process of its own.

use std::env;
use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;
use std::panic::Location;
use std::pin::pin;
use std::process::{Command, Output};
use std::task::{Context, Waker};

use crate::{Fiber, Fibers};

/// Set in the process that is to end: how.
const ENDS: &str = "GOSSAMER_FIBER_ENDS";

/// Runs the test again, in a process that is told how to end.
fn ended(test: &str, how: &str) -> Output {
    Command::new(env::current_exe().expect("this test"))
        .args(["--exact", &format!("stack::overflow::tests::{test}")])
        .args(["--nocapture", "--test-threads", "1"])
        .env(ENDS, how)
        .output()
        .expect("it can be started")
}

/// How this process is to end, if it is such a one.
fn how() -> Option<String> {
    env::var(ENDS).ok()
}

/// Runs a closure as a fiber, up to its first wait.
fn run(bytes: usize, body: impl FnOnce() + 'static) {
    // SAFETY: nothing waits here.
    let fibers = unsafe { Fibers::contract() }.stack_size(bytes);
    let fiber = Fiber::new(body, Some(fibers), "deep one", Location::caller());
    let mut fiber = pin!(fiber.map_err(|(error, _)| error).expect("a stack"));
    let polled = fiber.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_ready());
}

/// Calls itself more often than any stack bears, and uses so many bytes each time.
#[inline(never)]
fn deeper<const BYTES: usize>(calls: usize) -> usize {
    let bytes = black_box([calls as u8; BYTES]);
    if calls == usize::MAX {
        return 0;
    }
    let below = deeper::<BYTES>(calls + 1);
    usize::from(black_box(bytes)[calls % BYTES]) + below
}

/// As a function of C does that needs so many bytes: it touches the lowest of them first.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn unprobed(bytes: usize) {
    // SAFETY: touches what a frame of so many bytes would have.
    unsafe {
        std::arch::asm!(
            "mov {old}, rsp",
            "sub rsp, {bytes}",
            "mov byte ptr [rsp], 1",
            "mov rsp, {old}",
            old = out(reg) _,
            bytes = in(reg) bytes,
        );
    }
}

/// Leaves ever less of the stack, and calls functions that need more.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn unprobed_ever_deeper(calls: usize) -> usize {
    if calls == usize::MAX {
        return 0;
    }
    for kib in [1, 4, 16, 60] {
        unprobed(kib << 10);
    }
    let bytes = black_box([calls as u8; 256]);
    let below = unprobed_ever_deeper(calls + 1);
    usize::from(black_box(bytes)[calls % 256]) + below
}

const SIZES: [usize; 5] = [16 << 10, 20_000, 64 << 10, 256 << 10, 4 << 20];

#[test]
fn every_overflow_is_told() {
    if let Some(how) = how() {
        let (size, kind) = how.split_once(' ').expect("a size and a kind");
        let size = size.parse().expect("a size");
        match kind {
            "small frames" => run(size, || _ = black_box(deeper::<16>(0))),
            "large frames" => run(size, || _ = black_box(deeper::<50_000>(0))),
            #[cfg(target_arch = "x86_64")]
            "frames of C" => run(size, || _ = black_box(unprobed_ever_deeper(0))),
            "on another thread" => {
                let thread =
                    std::thread::spawn(move || run(size, || _ = black_box(deeper::<16>(0))));
                let _ = thread.join();
            }
            _ => unreachable!("{kind}"),
        }
        return;
    }
    let c = cfg!(target_arch = "x86_64").then_some("frames of C");
    for size in SIZES {
        for kind in ["small frames", "large frames", "on another thread"]
            .into_iter()
            .chain(c)
        {
            let output = ended("every_overflow_is_told", &format!("{size} {kind}"));
            let said = String::from_utf8_lossy(&output.stderr);
            let stack = size.next_power_of_two();
            assert_eq!(
                output.status.signal(),
                Some(libc::SIGABRT),
                "{size} {kind}: {said}"
            );
            assert!(said.contains("the fiber `deep one` spawned at "), "{said}");
            assert!(said.contains("stack/overflow/tests.rs:"), "{said}");
            let overflowed = format!("overflowed its stack of {stack} bytes");
            assert!(said.contains(&overflowed), "{size} {kind}: {said}");
        }
    }
}

#[test]
fn another_fault_is_not_taken_for_one() {
    if how().is_some() {
        return run(64 << 10, fault);
    }
    let output = ended("another_fault_is_not_taken_for_one", "by a fault");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{said}");
    assert!(!said.contains("overflowed"), "{said}");
}

fn fault() {
    let nowhere = black_box(std::ptr::without_provenance::<u8>(16));
    // SAFETY: it is not; the process is to end by it.
    let _ = unsafe { nowhere.read_volatile() };
}

mod signals;
