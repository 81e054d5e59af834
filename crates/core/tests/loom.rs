//! Models of what is atomic in `core` by itself: the shared lock, the parker, a poller's cell, and the word `refs`.
//!
//! Run by `cargo xtask loom`. Each model explores every interleaving with at most `LOOM_MAX_PREEMPTIONS`
//! (2) preemptions, and every value that a weak memory may give a load.
//!
//! What loom cannot see: plain memory (`Cell`s of a header or a node: only their order by the locks around
//! them is checked, by what comes of it), sequential consistency of single accesses (none is relied on),
//! load buffering, and the quick way of a process with one thread (`platform::single_threaded` says `false`
//! here). Spins shrink to one look, and who still finds a lock held sleeps (`policy/shared/modelled.rs`).
#![cfg(loom)]

use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use gossamer_core::header::RefCount;
use gossamer_core::header::ref_count::{Drained, Queue};
use gossamer_core::moment::Moment;
use gossamer_core::parker::Parker;
use gossamer_core::platform::atomic::{AtomicU32, Ordering};
use gossamer_core::platform::model::explore;
use gossamer_core::platform::{Mutex, thread};
use gossamer_core::policy::{SharedWord, Word};
use gossamer_core::poller::model::OneEvent;
use gossamer_core::poller::{Attended, Poller, PollerCell};

/// A place under the lock: the lock's own bits count the entries, and so does `behind`, whose relaxed
/// accesses only the lock puts in order.
struct Guarded {
    word: SharedWord,
    behind: AtomicU32,
}

impl Guarded {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            word: SharedWord::new(0),
            behind: AtomicU32::new(0),
        })
    }

    fn enter(&self) {
        let mut word = self.word.lock();
        let seen = self.behind.load(Ordering::Relaxed);
        assert_eq!(
            seen, word.bits,
            "the lock did not show what was written under it"
        );
        self.behind.store(seen + 1, Ordering::Relaxed);
        word.bits += 1;
        word.unlock();
    }

    fn entries(&self) -> u32 {
        let word = self.word.lock();
        let bits = word.bits;
        word.unlock();
        bits
    }
}

/// Two threads and one lock: exclusion, and the memory behind it (acquire in `SharedWord::try_lock`,
/// release in `unlock`).
#[test]
fn lock_excludes() {
    explore("lock_excludes", || {
        let place = Guarded::new();
        let other = place.clone();
        let thread = thread::spawn(move || {
            other.enter();
            other.enter();
        });
        place.enter();
        thread.join().expect("the other thread does not panic");
        assert_eq!(place.entries(), 3);
    });
}

/// A wake before, while and after a thread falls asleep: it returns, and sees what was written before the
/// wake (release in `Permit::wake_by_ref`, acquire in `Parker::park`).
#[test]
fn parker_is_woken_at_any_time() {
    explore("parker_is_woken_at_any_time", || {
        let word = Arc::new(AtomicU32::new(0));
        Parker::with(|parker| {
            let (waker, word) = (parker.waker().clone(), word.clone());
            let thread = thread::spawn(move || {
                word.store(1, Ordering::Relaxed);
                waker.wake();
            });
            parker.park(&mut || false);
            thread.join().expect("the other thread does not panic");
        });
        assert_eq!(word.load(Ordering::Relaxed), 1);
    });
}

/// Two threads wake: one park takes both permits or leaves one for the next, and after the second park
/// everything written before either wake that it took is seen.
#[test]
fn parker_keeps_a_late_permit() {
    explore("parker_keeps_a_late_permit", || {
        let written = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        Parker::with(|parker| {
            for place in 0..2 {
                let (waker, written) = (parker.waker().clone(), written.clone());
                thread::spawn(move || {
                    written[place].store(1, Ordering::Relaxed);
                    waker.wake_by_ref();
                });
            }
            // A park for each wake would hang when one took both: wait for the state, as everybody does.
            while written.iter().any(|word| word.load(Ordering::Relaxed) == 0) {
                parker.park(&mut || false);
            }
        });
    });
}

/// A thread that sleeps at a poller, or is about to, is woken: by its permit, or by an event.
#[test]
fn parker_is_woken_at_a_poller() {
    explore("parker_is_woken_at_a_poller", || {
        let cell = PollerCell::new(Attended::Always);
        let poller = Arc::new(OneEvent::new());
        let made = cell.get_or_try_init(|| Ok::<_, ()>(poller.clone()));
        assert!(made.is_ok());
        Parker::with(|parker| {
            poller.wait(parker.waker().clone());
            let (waker, told) = (parker.waker().clone(), Arc::new(AtomicU32::new(0)));
            let tells = told.clone();
            thread::spawn(move || {
                tells.store(1, Ordering::Relaxed);
                waker.wake_by_ref();
            });
            let happens = poller.clone();
            thread::spawn(move || happens.happens());
            let mut has_come = false;
            while !has_come || told.load(Ordering::Relaxed) == 0 {
                let seat = cell.sit().expect("it is used, and nobody else sits");
                parker.park_at(Some(&seat), Moment::NEVER, &mut || false);
                has_come |= seat.deliver();
            }
        });
    });
}

/// A thread that has to sleep elsewhere gets the seat when another one leaves it.
#[test]
fn seat_is_handed_on() {
    explore("seat_is_handed_on", || {
        let cell = Arc::new(PollerCell::new(Attended::WhileRun));
        let poller = Arc::new(OneEvent::new());
        let made = cell.get_or_try_init(|| Ok::<_, ()>(poller.clone()));
        assert!(made.is_ok());
        poller.wait(Waker::noop().clone());
        let others = cell.clone();
        let other = thread::spawn(move || {
            for _ in 0..2 {
                drop(others.sit());
            }
        });
        Parker::with(|parker| {
            while cell.sit_or_be_woken(parker.waker()).is_none() {
                parker.park(&mut || false);
            }
        });
        other.join().expect("it does not panic");
    });
}

/// A poller of one socket.
#[derive(Debug, Default)]
struct OneSocket {
    is_registered: AtomicU32,
    is_told: AtomicU32,
}

impl Poller for OneSocket {
    fn sockets(&self) -> usize {
        1
    }

    fn is_elsewhere(&self) -> bool {
        false
    }

    fn poll(&self, _: Option<Duration>) {}

    fn keeps_any(&self) -> bool {
        false
    }

    fn deliver(&self) -> bool {
        false
    }

    fn waker(&self) -> &Waker {
        Waker::noop()
    }

    fn end(&self) {
        self.is_told.fetch_or(
            self.is_registered.load(Ordering::Relaxed),
            Ordering::Relaxed,
        );
    }
}

/// A socket that is registered while the poller ends is told of that, or finds it.
#[test]
fn registering_against_the_end() {
    explore("registering_against_the_end", || {
        let cell = Arc::new(PollerCell::new(Attended::Always));
        let poller = Arc::new(OneSocket::default());
        let made = cell.get_or_try_init(|| Ok::<_, ()>(poller.clone()));
        assert!(made.is_ok());
        let ends = cell.clone();
        let ending = thread::spawn(move || ends.end());
        poller.is_registered.store(1, Ordering::Relaxed);
        let finds_it = cell.has_ended();
        ending.join().expect("it does not panic");
        assert!(finds_it || poller.is_told.load(Ordering::Relaxed) == 1);
    });
}

/// One task's `refs`, its inbox, and what its wakers wrote before they woke it.
struct Woken {
    refs: RefCount,
    inbox: Mutex<u32>,
    written: [AtomicU32; 2],
}

impl Woken {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            refs: RefCount::new(),
            inbox: Mutex::new(0),
            written: [AtomicU32::new(0), AtomicU32::new(0)],
        })
    }

    fn wake(&self, place: usize) {
        self.written[place].store(1, Ordering::Relaxed);
        self.push(self.refs.queue());
    }

    fn push(&self, queue: Queue) {
        match queue {
            Queue::Push => *self.inbox.lock() += 1,
            Queue::Already => {}
            Queue::Gone => panic!("the runner still holds the task"),
        }
    }

    /// What the runner finds in the inbox, if anything.
    fn drain(&self) -> Option<Drained> {
        let tasks = std::mem::take(&mut *self.inbox.lock());
        assert!(tasks <= 1, "a task was in the inbox twice");
        (tasks == 1).then(|| self.refs.drain())
    }

    /// What a poll reads.
    fn poll(&self) -> [u32; 2] {
        [0, 1].map(|place| self.written[place].load(Ordering::Relaxed))
    }
}

/// Two wakers and a runner: once the inbox is empty, the last poll has seen what both wrote before they
/// woke, although the one that finds `QUEUED` set pushes nothing (`RefCount::announce` writes even then, and
/// `RefCount::drain` reads from it).
#[test]
fn life_wake_is_seen_by_the_next_poll() {
    explore("life_wake_is_seen_by_the_next_poll", || {
        let task = Woken::new();
        let threads = [0, 1].map(|place| {
            let task = task.clone();
            thread::spawn(move || task.wake(place))
        });
        let mut seen = [0, 0];
        for _ in 0..2 {
            if task.drain() == Some(Drained::Wake) {
                seen = task.poll();
            }
        }
        for thread in threads {
            thread.join().expect("the other thread does not panic");
        }
        if task.drain().is_none() {
            assert_eq!(seen, [1, 1], "a wake was lost");
        }
    });
}

/// An abort and a wake at once: whichever comes first, the task is in the inbox once, and the runner's last
/// look finds the abort.
#[test]
fn life_abort_is_not_lost() {
    explore("life_abort_is_not_lost", || {
        let task = Woken::new();
        let other = task.clone();
        let wakes = thread::spawn(move || other.wake(0));
        let other = task.clone();
        let aborts = thread::spawn(move || other.push(other.refs.queue_cancel()));
        let mut last = task.drain();
        for thread in [wakes, aborts] {
            thread.join().expect("the other thread does not panic");
        }
        last = task.drain().or(last);
        assert_eq!(last, Some(Drained::Cancel));
    });
}
