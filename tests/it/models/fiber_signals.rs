//! A signal that comes a thousand times a second, at any moment of a switch, and is handled on whatever stack is there.

use std::ffi::c_int;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{mem, ptr};

use gossamer::{Model, Runtime, Wait, sync::MVar, yield_now};

use super::{each_model, runtime};
use crate::again::{again, is_again};

/// How often the signal has come.
static HANDLED: AtomicUsize = AtomicUsize::new(0);

/// Uses some of the stack that it runs on.
extern "C" fn on_profile(_: c_int) {
    let bytes = black_box([1_u8; 2_000]);
    let sum: usize = black_box(&bytes)
        .iter()
        .map(|byte| usize::from(*byte))
        .sum();
    HANDLED.fetch_add(sum / bytes.len(), Ordering::SeqCst);
}

fn handle() {
    // SAFETY: all zeros are an action.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = on_profile as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: the handler uses its own frame and an atomic number, and may run at any time.
    let failed = unsafe { libc::sigaction(libc::SIGPROF, &raw const action, ptr::null_mut()) };
    assert_eq!(failed, 0);
}

/// Sends the signal each time the process has run for so long; 0: never.
fn profile_each(microseconds: libc::suseconds_t) {
    let each = libc::timeval {
        tv_sec: 0,
        tv_usec: microseconds,
    };
    let timer = libc::itimerval {
        it_interval: each,
        it_value: each,
    };
    // SAFETY: the signal has a handler by now.
    let failed = unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const timer, ptr::null_mut()) };
    assert_eq!(failed, 0);
}

/// Pairs of fibers that pass numbers, each with some of its own that depend on all that it got.
fn converse(rt: &Runtime) {
    const NUMBERS: u64 = 200;
    let mix = |own: [u64; 6], got: u64| own.map(|number| number.rotate_left(5) ^ got);
    let expected = (0..NUMBERS).fold([1, 2, 3, 4, 5, 6], mix);
    let pairs = (0..8).flat_map(|_| {
        let (there, back) = (Arc::new(MVar::<u64>::empty()), Arc::new(MVar::empty()));
        [(there.clone(), back.clone(), true), (back, there, false)]
    });
    let fibers = pairs.map(|(to, from, is_first)| {
        rt.spawn_fiber(move || {
            (0..NUMBERS).fold([1, 2, 3, 4, 5, 6], |own, number| {
                if is_first {
                    to.put(number).wait();
                }
                let own = mix(own, from.take().wait());
                yield_now().wait();
                if !is_first {
                    to.put(number).wait();
                }
                own
            })
        })
    });
    for fiber in fibers.collect::<Vec<_>>() {
        assert_eq!(fiber.wait().expect("no panic"), expected);
    }
}

#[test]
fn a_profiler_interrupts_switches() {
    /// So many signals under each model.
    const SIGNALS: usize = 100;
    if is_again() {
        handle();
        profile_each(1_000);
        each_model(|model: Model| {
            let rt = runtime(model);
            let before = HANDLED.load(Ordering::SeqCst);
            while HANDLED.load(Ordering::SeqCst) < before + SIGNALS {
                converse(&rt);
            }
        });
        profile_each(0);
        return;
    }
    let test = "models::fiber_signals::a_profiler_interrupts_switches";
    let ran = again(test).output().expect("it can run itself");
    let said = String::from_utf8_lossy(&ran.stdout);
    let cried = String::from_utf8_lossy(&ran.stderr);
    assert!(
        ran.status.success() && said.contains("1 passed"),
        "{}: {said}{cried}",
        ran.status
    );
}
