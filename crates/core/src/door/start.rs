//! Starting threads, with room for what they take beside their stacks.
//!
//! A thread that finds no room for its signal stack ends the process: the standard library cannot say no any more
//! then. With very many threads it is mappings that Linux runs out of (`vm.max_map_count`, 65,530 as it comes; a
//! thread takes four). So on Linux, once there are a thousand of ours, a start first tries whether some more mappings
//! can be had. Where others use mappings up, or memory ends between a stack and its signal stack, that is no help.

use std::borrow::ToOwned;
use std::io;

use super::thread;

/// Starts a thread.
///
/// # Errors
/// The system grants no thread, or hardly anything beside it.
pub fn start_thread(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let place = room::Place::take()?;
    let builder = thread::Builder::new().name(name.to_owned());
    let started = builder.spawn(move || {
        let _alive = place.arrived();
        body();
    });
    started.map(drop)
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
mod room {
    use std::{format, io, ptr};

    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

    use crate::door::QuietI64;
    use crate::door::atomic::Ordering;

    /// So many of our threads take no more mappings than any system grants.
    const FEW: i64 = 1_000;
    /// The mappings of a thread: stack and signal stack, each with its guard.
    const EACH: usize = 4;
    /// Those that stay for all else.
    const SPARE: usize = 32;
    /// Of so many that are just starting, each has its room looked for; looking takes as long as there are.
    const STARTING_MAX: i64 = 64;

    static ALIVE: QuietI64 = QuietI64::new(0);
    /// Of these, threads that may not have all their mappings yet.
    static STARTING: QuietI64 = QuietI64::new(0);

    /// A thread that is about to start.
    pub(super) struct Place {
        alive: Alive,
        _starting: Count,
    }

    /// A thread that runs.
    pub(super) struct Alive(#[expect(dead_code, reason = "it counts")] Count);

    /// One more in a count, until it is dropped.
    struct Count(&'static QuietI64);

    impl Count {
        fn new(count: &'static QuietI64) -> (Self, i64) {
            // Relaxed: a count, of which nothing else hangs.
            let before = count.fetch_add(1, Ordering::Relaxed);
            (Self(count), before + 1)
        }
    }

    impl Drop for Count {
        fn drop(&mut self) {
            // Relaxed: as above.
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    impl Place {
        pub(super) fn take() -> io::Result<Self> {
            let (alive, threads) = Count::new(&ALIVE);
            let (starting, count) = Count::new(&STARTING);
            let mappings = SPARE + EACH * usize::try_from(count.min(STARTING_MAX)).unwrap_or(0);
            if threads > FEW && !cfg!(mutant = "start_without_room") && !has_room(mappings) {
                let text = format!(
                    "{} threads, and hardly room for one more (sysctl vm.max_map_count)",
                    threads - 1
                );
                return Err(io::Error::new(io::ErrorKind::WouldBlock, text));
            }
            Ok(Self {
                alive: Alive(alive),
                _starting: starting,
            })
        }

        /// Said by the thread itself: it has its mappings.
        pub(super) fn arrived(self) -> Alive {
            self.alive
        }
    }

    /// Whether so many mappings can be had: takes them, and gives them back.
    fn has_room(mappings: usize) -> bool {
        let page = rustix::param::page_size();
        // Every other page differs from its neighbours, so that each page is a mapping.
        let (pages, flags) = (mappings | 1, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: new memory, at an address of the system's choice.
        let mapped =
            unsafe { mmap_anonymous(ptr::null_mut(), pages * page, ProtFlags::empty(), flags) };
        let Ok(start) = mapped else { return false };
        let all = (1..pages).step_by(2).all(|index| {
            // SAFETY: a page of what was mapped above, which nobody else knows.
            unsafe { mprotect(start.byte_add(index * page), page, MprotectFlags::READ) }.is_ok()
        });
        // SAFETY: mapped above, and in nobody's use. Where it has grown together with its neighbours on both sides, it
        // may be that it cannot be cut out again at the limit; it is no memory then, only addresses.
        let given_back = unsafe { munmap(start, pages * page) };
        all && given_back.is_ok()
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
mod room {
    use std::io;

    /// A thread that is about to start; nothing is known of room here.
    pub(super) struct Place;

    impl Place {
        pub(super) fn take() -> io::Result<Self> {
            Ok(Self)
        }

        pub(super) fn arrived(self) -> Self {
            self
        }
    }
}
