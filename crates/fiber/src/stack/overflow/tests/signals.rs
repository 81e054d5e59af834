//! Signals that are handled on a fiber's stack, or near its end. Each is a process of its own.

use std::ffi::c_int;
use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{mem, ptr};

use super::super::{GUARD, KNOWN};
use super::{deeper, ended, how, run};

/// How often a signal was handled.
static HANDLED: AtomicUsize = AtomicUsize::new(0);

/// Needs more than any stack has.
extern "C" fn overflows(_: c_int) {
    black_box(deeper::<16>(0));
}

/// Needs more than is left of the fiber's stack, and less than the alternative one has.
extern "C" fn counts(_: c_int) {
    let mut bytes = [1_u8; LEFT];
    black_box(&mut bytes);
    HANDLED.fetch_add(usize::from(bytes[LEFT / 2]), Ordering::SeqCst);
}

/// So few bytes, or fewer, are left where that matters: some calls of the test have room there.
const LEFT: usize = 1_500;

/// Handles a signal of no other use.
fn handle(handler: extern "C" fn(c_int), flags: c_int) {
    // SAFETY: all zeros are an action.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    action.sa_flags = flags;
    // SAFETY: the handler uses its own frames and an atomic number.
    let failed = unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, ptr::null_mut()) };
    assert_eq!(failed, 0);
}

fn raise() {
    // SAFETY: it has a handler.
    unsafe { libc::raise(libc::SIGUSR1) };
}

/// How many bytes are left of the fiber's stack below this address.
fn left_below(address: usize) -> usize {
    let inside = KNOWN.iter().find_map(|reservation| {
        let [start, end, size] = [&reservation.start, &reservation.end, &reservation.size]
            .map(|number| number.load(Ordering::SeqCst));
        (start..end)
            .contains(&address)
            .then(|| (address - start) % (size + GUARD))
    });
    inside.expect("a fiber's stack").saturating_sub(GUARD)
}

/// Calls a function when so few bytes are left.
#[inline(never)]
fn near_the_end(left: usize, body: fn()) -> usize {
    let bytes = black_box([1_u8; 16]);
    match left_below((&raw const bytes).addr()) < left {
        true => body(),
        false => _ = black_box(near_the_end(left, body)),
    }
    usize::from(black_box(bytes)[left % 16])
}

/// The words of an overflow of the fiber, and its end.
fn is_told(test: &str, how: &str) {
    let output = ended(&format!("signals::{test}"), how);
    let said = String::from_utf8_lossy(&output.stderr);
    let signal = output.status.signal();
    assert_eq!(signal, Some(libc::SIGABRT), "{how}: {said}");
    assert!(said.contains("the fiber `deep one` spawned at "), "{said}");
    assert!(said.contains("overflowed its stack of"), "{how}: {said}");
}

const SIZES: [usize; 3] = [16 << 10, 64 << 10, 1 << 20];

#[test]
fn an_overflow_in_a_handler_is_told() {
    if let Some(size) = how() {
        handle(overflows, 0);
        return run(size.parse().expect("a size"), raise);
    }
    for size in SIZES {
        is_told("an_overflow_in_a_handler_is_told", &size.to_string());
    }
}

/// What is left suffices for the call of the handler, or not even for that, as the system saves all registers there.
#[test]
fn a_handler_without_room_is_told() {
    if let Some(left) = how() {
        handle(overflows, 0);
        let left = left.parse().expect("bytes");
        return run(64 << 10, move || _ = black_box(near_the_end(left, raise)));
    }
    for left in [8_000, 2_500, 2_000, 1_500, 1_200, 1_000] {
        is_told("a_handler_without_room_is_told", &left.to_string());
    }
}

/// It needs nothing of the fiber's stack.
#[test]
fn a_handler_with_a_stack_of_its_own_runs() {
    const TIMES: usize = 10;
    if how().is_some() {
        handle(counts, libc::SA_ONSTACK);
        let raises = || (0..TIMES).for_each(|_| raise());
        run(64 << 10, move || _ = black_box(near_the_end(LEFT, raises)));
        assert_eq!(HANDLED.load(Ordering::SeqCst), TIMES);
        return;
    }
    let output = ended("signals::a_handler_with_a_stack_of_its_own_runs", "well");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed"), "{said}");
}

/// And it may come in the midst of a descent that overflows later.
#[test]
fn an_overflow_after_a_handler_is_told() {
    if how().is_some() {
        handle(counts, libc::SA_ONSTACK);
        let goes_on = || {
            raise();
            black_box(deeper::<16>(0));
        };
        return run(64 << 10, move || {
            black_box(near_the_end(LEFT, goes_on));
        });
    }
    is_told("an_overflow_after_a_handler_is_told", "later");
}
