//! The state of another thread of this process, as the system reports it.
//!
//! Wall time does not tell a thread that computes, or is blocked, from one that only waits for a processor. Linux does:
//! the thread's CPU clock (precise, `clock_gettime`), its state, and how long it has waited for a processor so far
//! (`/proc/self/task/ID/stat` and `schedstat`). Elsewhere, or where `/proc` is not there, nothing is known.

use core::time::Duration;

/// A thread of this process, to be looked at by others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadNumber(inner::Number);

/// The result of a look at a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadLook {
    /// Its CPU time.
    pub cpu: Duration,
    /// How long it has waited for a processor while it could have run; not the wait that is going on. Zero where the
    /// system does not count that.
    pub queued: Duration,
    /// Whether it is blocked: in a call, on a lock, or in a page fault.
    pub is_blocked: bool,
}

impl ThreadNumber {
    /// That of the calling thread.
    pub fn current() -> Self {
        Self(inner::current())
    }

    /// Its CPU time, which costs less than a look.
    pub fn cpu(self) -> Option<Duration> {
        inner::cpu(self.0)
    }

    /// Looks at the thread; `None` if the system does not tell, or the thread has ended.
    pub fn look(self) -> Option<ThreadLook> {
        inner::look(self.0)
    }
}

#[cfg(all(
    target_os = "linux",
    target_pointer_width = "64",
    not(any(loom, shuttle, miri, gossamer_portable))
))]
mod inner {
    use core::ffi::{c_int, c_long};
    use core::time::Duration;
    use std::fs::File;
    use std::io::{Read, Write};

    use super::ThreadLook;

    pub(super) type Number = c_int;

    /// Linux' number of a thread's CPU clock: the thread's own, inverted, above three bits that say which clock.
    const CLOCK_SHIFT: u32 = 3;
    /// One thread's (4), as the scheduler counts it (2).
    const CLOCK_KIND: c_int = 6;

    /// C's `timespec`, on 64-bit Linux.
    #[repr(C)]
    struct Timespec {
        seconds: i64,
        nanoseconds: c_long,
    }

    // SAFETY: the declaration is that of POSIX's <time.h>.
    unsafe extern "C" {
        /// Zero, or -1 if there is no such clock.
        fn clock_gettime(clock: c_int, time: *mut Timespec) -> c_int;
    }

    pub(super) fn current() -> Number {
        rustix::thread::gettid().as_raw_nonzero().get()
    }

    /// The state first: a thread that is found blocked waits for no processor, so all its waits are counted by then.
    pub(super) fn look(thread: Number) -> Option<ThreadLook> {
        let mut bytes = [0; 512];
        let stat = read(thread, "stat", &mut bytes)?;
        // Behind the thread's name, which may have anything in it.
        let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
        let state = *stat.get(name_ends + 2)?;
        let queued = read(thread, "schedstat", &mut bytes)
            .and_then(|text| core::str::from_utf8(text).ok())
            .and_then(|text| text.split_whitespace().nth(1)?.parse().ok());
        Some(ThreadLook {
            cpu: cpu(thread)?,
            queued: Duration::from_nanos(queued.unwrap_or(0)),
            // Asleep, or in a wait that nothing interrupts.
            is_blocked: matches!(state, b'S' | b'D'),
        })
    }

    /// The beginning of one of the system's files on the thread. Allocates nothing: this comes every few milliseconds.
    fn read<'a>(thread: Number, file: &str, into: &'a mut [u8; 512]) -> Option<&'a [u8]> {
        let mut path = [0; 64];
        let mut rest = &mut path[..];
        write!(rest, "/proc/self/task/{thread}/{file}").ok()?;
        let left = rest.len();
        let path = core::str::from_utf8(&path[..path.len() - left]).ok()?;
        let length = File::open(path).ok()?.read(into).ok()?;
        Some(&into[..length])
    }

    pub(super) fn cpu(thread: Number) -> Option<Duration> {
        let clock = !thread << CLOCK_SHIFT | CLOCK_KIND;
        let mut time = Timespec {
            seconds: 0,
            nanoseconds: 0,
        };
        // SAFETY: it writes one `timespec`, which lives as long as the call.
        let is_there = unsafe { clock_gettime(clock, &raw mut time) } == 0;
        let nanos = u32::try_from(time.nanoseconds).ok()?;
        is_there.then(|| Duration::new(time.seconds.unsigned_abs(), nanos))
    }
}

#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    not(any(loom, shuttle, miri, gossamer_portable))
)))]
mod inner {
    use core::time::Duration;

    use super::ThreadLook;

    pub(super) type Number = ();

    pub(super) fn current() -> Number {}

    pub(super) fn cpu(_thread: Number) -> Option<Duration> {
        None
    }

    pub(super) fn look(_thread: Number) -> Option<ThreadLook> {
        None
    }
}
