//! Starting threads, with room for what they take beside their stacks.
//!
//! A thread that finds no room for its signal stack ends the process: the standard library cannot say no any more
//! then. With very many threads it is mappings that Linux runs out of (`vm.max_map_count`, 65,530 as it comes; a
//! thread takes four). So on Linux, once there are a thousand of ours, it is first tried, for 64 at a time, whether
//! their mappings can be had; while none is starting, as the trial could take what that one needs. Who starts a thread
//! waits for that. Where others use mappings up, or memory ends between a stack and its signal stack, it is no help.

use std::borrow::ToOwned;
use std::boxed::Box;
use std::cell::Cell;
use std::format;
use std::io;
use std::sync::OnceLock;

use super::thread;

/// A thread that was started, and can be joined.
#[cfg(not(loom))]
pub type Started = thread::JoinHandle<()>;
/// A thread that was started: models keep the handles themselves.
#[cfg(loom)]
pub type Started = ();

/// Starts a thread that nobody joins, with a stack of so many bytes, or of the standard library's default.
///
/// # Errors
/// The system grants no thread, or hardly anything beside it; the text says so.
pub fn start_thread(
    name: &str,
    stack_size: Option<usize>,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    start_to_join(name, stack_size, body).map(drop)
}

/// Starts a thread.
///
/// # Errors
/// As [`start_thread`].
pub fn start_to_join(
    name: &str,
    stack_size: Option<usize>,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<Started> {
    // Boxed: there is much code to start a thread, which is compiled once then, and not for each body.
    start_boxed(name, stack_size, Box::new(body))
}

fn start_boxed(
    name: &str,
    stack_size: Option<usize>,
    body: Box<dyn FnOnce() + Send>,
) -> io::Result<Started> {
    let reserve = room::Reserve::take()?;
    let mut builder = thread::Builder::new().name(name.to_owned());
    if let Some(stack_size) = stack_size {
        builder = builder.stack_size(stack_size);
    }
    let started = builder.spawn(move || {
        let _alive = reserve.arrived();
        OURS.with(|ours| ours.set(true));
        body();
        if let Some(call) = AT_END.get() {
            call();
        }
    });
    started.map_err(|error| {
        let text = format!("the system grants no thread: {error}");
        io::Error::new(error.kind(), text)
    })
}

std::thread_local! {
    static OURS: Cell<bool> = const { Cell::new(false) };
}

static AT_END: OnceLock<fn()> = OnceLock::new();

/// Has `call` be called by every thread that [`start_thread`] starts, when it has done its work, and before any of its
/// thread-locals goes. The first call counts.
pub fn call_at_end_of_threads(call: fn()) {
    AT_END.get_or_init(|| call);
}

/// Whether [`start_thread`] has started the current thread.
pub fn is_started_here() -> bool {
    OURS.with(Cell::get)
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle, gossamer_portable))))]
mod room {
    use std::{format, io, ptr};

    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

    use crate::platform::atomic::Ordering;
    use crate::platform::{UnmodelledI64, per_process, thread};

    /// This number of our threads takes no more mappings than any system grants.
    const FEW: i64 = 1_000;
    /// The mappings of a thread: stack and signal stack, each with its guard.
    const EACH: usize = 4;
    /// Those that stay for all else.
    const SPARE: usize = 128;
    /// Threads that may start after each look.
    const AT_ONCE: usize = 64;

    /// Counts of our threads.
    #[derive(Default)]
    struct Room {
        alive: UnmodelledI64,
        /// Of these, threads that may not have all their mappings yet.
        starting: UnmodelledI64,
        /// Threads that may start before somebody looks again.
        found: UnmodelledI64,
        /// Whether somebody looks. It takes for a moment what a starting thread may need, so that nobody starts
        /// meanwhile.
        looking: UnmodelledI64,
    }

    per_process! {
        /// This process's.
        fn room() -> Room = Room::default()
    }

    /// A thread that is about to start.
    pub(super) struct Reserve {
        alive: Alive,
        _starting: Count,
    }

    /// A thread that runs.
    pub(super) struct Alive(#[expect(dead_code, reason = "it counts")] Count);

    /// One more in a count, until it is dropped.
    struct Count(&'static UnmodelledI64);

    impl Count {
        fn new(count: &'static UnmodelledI64) -> (Self, i64) {
            // Relaxed: nothing hangs of `alive`, and to `starting` adds who then takes of `found`.
            let before = count.fetch_add(1, Ordering::Relaxed);
            (Self(count), before + 1)
        }
    }

    impl Drop for Count {
        fn drop(&mut self) {
            // Release: the mappings of a thread that has started; pairs with the load in `look`.
            self.0.fetch_sub(1, Ordering::Release);
        }
    }

    impl Reserve {
        pub(super) fn take() -> io::Result<Self> {
            let (alive, threads) = Count::new(&room().alive);
            let starting = loop {
                let (starting, _) = Count::new(&room().starting);
                if threads <= FEW || crate::mutant!("start_without_room") || take_found() {
                    break starting;
                }
                drop(starting);
                if !look() {
                    let text = format!(
                        "{} threads, and hardly room for one more (sysctl vm.max_map_count)",
                        threads - 1
                    );
                    return Err(io::Error::new(io::ErrorKind::WouldBlock, text));
                }
            };
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

    /// Takes one of what was found.
    fn take_found() -> bool {
        let less = |found: i64| (found > 0).then(|| found - 1);
        // Release: that this one is starting; pairs with the load of `found` in `look`. Relaxed: nothing is read.
        let taken = room()
            .found
            .fetch_update(Ordering::Release, Ordering::Relaxed, less);
        taken.is_ok()
    }

    /// Looks for room for some more threads, once those that are starting have theirs; or waits for who does. Returns
    /// whether it is worth another try.
    fn look() -> bool {
        let room = room();
        // Acquire: what the last one found; pairs with the store at the end.
        if room.looking.swap(1, Ordering::Acquire) == 1 {
            // Relaxed: the swap above will see for sure.
            while room.looking.load(Ordering::Relaxed) == 1 {
                thread::yield_now();
            }
            return true;
        }
        // Acquire: whoever took of it is seen to be starting; pairs with `take_found`.
        let found = room.found.load(Ordering::Acquire) > 0 || {
            // Acquire: its mappings are taken; pairs with the drop of a `Count`.
            while room.starting.load(Ordering::Acquire) > 0 {
                thread::yield_now();
            }
            let found = has_room(SPARE + EACH * AT_ONCE);
            if found {
                // Relaxed: a count; nobody adds to it meanwhile, and nothing is left to take.
                room.found.store(AT_ONCE as i64, Ordering::Relaxed);
            }
            found
        };
        // Release: pairs with the swap above.
        room.looking.store(0, Ordering::Release);
        found
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
            let start = start.wrapping_byte_add(index * page);
            // SAFETY: a page of what was mapped above, which nobody else knows.
            unsafe { mprotect(start, page, MprotectFlags::READ) }.is_ok()
        });
        // SAFETY: mapped above, and in nobody's use. Where it has grown together with its neighbours on both sides, it
        // may be that it cannot be cut out again at the limit; it is no memory then, only addresses.
        let given_back = unsafe { munmap(start, pages * page) };
        all && given_back.is_ok()
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle, gossamer_portable)))))]
mod room {
    use std::io;

    /// A thread that is about to start; nothing is known of room here.
    pub(super) struct Reserve;

    impl Reserve {
        pub(super) fn take() -> io::Result<Self> {
            Ok(Self)
        }

        pub(super) fn arrived(self) -> Self {
            self
        }
    }
}
