//! Models of `sync::MVar` between threads, and between a thread and the tasks of a runtime.
//!
//! Run by `cargo xtask loom`; what loom cannot see is told in `crates/core/tests/loom.rs`: here, that
//! the nodes of waiting operations are plain memory under the `MVar`'s lock. The exhaustive walks through
//! what the operations *mean* are in `tests/it/mvar`, on the deterministic scheduler.
#![cfg(loom)]

use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use gossamer_core::platform::atomic::{AtomicU32, Ordering};
use gossamer_core::platform::model::{beside, explore, explore_within, joined, poll_once};
use gossamer_core::platform::thread;
use gossamer_core::wait::{RunWhileWaiting, Wait};
use gossamer_sched::Single;
use gossamer_sync::sync::MVar;

/// A put against a take that looks, parks and is promised the value: handed over, with the memory behind it
/// (the word's lock; the reservation in `MVar::serve_next`; the parker).
#[test]
fn put_against_take() {
    explore("put_against_take", || {
        let (mvar, behind) = (Arc::new(MVar::empty()), Arc::new(AtomicU32::new(0)));
        let seen = behind.clone();
        let takes = beside(&mvar, move |mvar| {
            (mvar.take().wait(), seen.load(Ordering::Relaxed))
        });
        behind.store(1, Ordering::Relaxed);
        mvar.put(7).wait();
        assert_eq!(joined(takes), (7, 1));
        assert!(mvar.is_empty());
    });
}

/// A take against a put that has to wait: the `MVar` is promised to the putter.
#[test]
fn take_against_waiting_put() {
    explore("take_against_waiting_put", || {
        let mvar = Arc::new(MVar::new(1));
        let puts = beside(&mvar, |mvar| mvar.put(2).wait());
        assert_eq!(mvar.take().wait(), 1);
        assert_eq!(mvar.take().wait(), 2);
        joined(puts);
    });
}

/// Two takers, two puts: each taker gets one value, neither is woken in vain nor forgotten.
#[test]
fn two_takers_two_puts() {
    explore_within(1, "two_takers_two_puts", || {
        let mvar = Arc::new(MVar::empty());
        let takers = [(), ()].map(|()| beside(&mvar, |mvar| mvar.take().wait()));
        mvar.put(1).wait();
        mvar.put(2).wait();
        let mut taken = takers.map(joined);
        taken.sort_unstable();
        assert_eq!(taken, [1, 2]);
    });
}

/// Two putters, two takes.
#[test]
fn two_putters_two_takes() {
    explore_within(1, "two_putters_two_takes", || {
        let mvar = Arc::new(MVar::empty());
        let putters = [1, 2].map(|value| beside(&mvar, move |mvar| mvar.put(value).wait()));
        let mut taken = [mvar.take().wait(), mvar.take().wait()];
        putters.into_iter().for_each(joined);
        taken.sort_unstable();
        assert_eq!(taken, [1, 2]);
        assert!(mvar.is_empty());
    });
}

/// A take is dropped while a put promises the value to it: the value stays for the next
/// (`Op::leave_line`).
#[test]
fn cancelled_take_against_put() {
    explore("cancelled_take_against_put", || {
        let mvar = Arc::new(MVar::empty());
        let gives_up = beside(&mvar, |mvar| {
            let mut take = pin!(mvar.take());
            match poll_once(take.as_mut()) {
                Poll::Pending => poll_once(take),
                ready => ready,
            }
        });
        mvar.put(7).wait();
        let left = match joined(gives_up) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => mvar.try_take(),
        };
        assert_eq!(left, Some(7), "the value was lost with the take");
        assert_eq!(mvar.try_take(), None);
        assert_eq!(mvar.try_put(8), Ok(()), "a promise to nobody was left");
    });
}

/// The same with a second taker in line: the promise moves on to it, and it is woken.
#[test]
fn cancelled_take_passes_the_value_on() {
    explore("cancelled_take_passes_the_value_on", || {
        let mvar = Arc::new(MVar::empty());
        let gives_up = beside(&mvar, |mvar| poll_once(pin!(mvar.take())));
        let takes = beside(&mvar, |mvar| mvar.take().wait());
        mvar.put(1).wait();
        let taken = joined(gives_up);
        if taken.is_ready() {
            mvar.put(1).wait();
        }
        assert_eq!(joined(takes), 1);
    });
}

/// A parked take is polled again with another waker while a put may already call the first: the last one is
/// the one to wake (`WaitList::renew`).
#[test]
fn take_changes_its_waker() {
    explore("take_changes_its_waker", || {
        let mvar = Arc::new(MVar::empty());
        let takes = beside(&mvar, |mvar| {
            let mut take = pin!(mvar.take());
            match poll_once(take.as_mut()) {
                Poll::Ready(value) => value,
                Poll::Pending => take.wait(),
            }
        });
        mvar.put(1).wait();
        assert_eq!(joined(takes), 1);
    });
}

/// A put is dropped while a take promises the `MVar` to it: either it has happened, or it has not and the
/// next in line goes.
#[test]
fn cancelled_put_against_take() {
    explore("cancelled_put_against_take", || {
        let mvar = Arc::new(MVar::new(1));
        let gives_up = beside(&mvar, |mvar| poll_once(pin!(mvar.put(2))).is_ready());
        assert_eq!(mvar.take().wait(), 1);
        let put = joined(gives_up);
        assert_eq!(mvar.try_take(), put.then_some(2));
        assert_eq!(mvar.try_put(3), Ok(()), "a promise to nobody was left");
    });
}

/// A replace against a taker that is promised the value: the taker gets the old or the new one, and the
/// other one comes back or stays.
#[test]
fn replace_against_promised_take() {
    explore("replace_against_promised_take", || {
        let mvar = Arc::new(MVar::empty());
        let takes = beside(&mvar, |mvar| mvar.take().wait());
        mvar.put(1).wait();
        let back = mvar.replace(2).wait();
        match (joined(takes), back) {
            (1, None) => assert_eq!(mvar.try_take(), Some(2)),
            (2, Some(1)) => assert_eq!(mvar.try_take(), None),
            other => panic!("taken and back: {other:?}"),
        }
    });
}

/// A replace takes the promise of a woken putter away: it goes on waiting, first in its line, and is woken
/// again (`WaitList::take_notification_back`).
#[test]
fn replace_against_promised_put() {
    explore("replace_against_promised_put", || {
        let mvar = Arc::new(MVar::new(1));
        let puts = beside(&mvar, |mvar| mvar.put(2).wait());
        assert_eq!(mvar.take().wait(), 1);
        let mut taken = Vec::from_iter(mvar.replace(3).wait());
        while taken.len() < 2 {
            taken.push(mvar.take().wait());
        }
        joined(puts);
        taken.sort_unstable();
        assert_eq!(taken, [2, 3]);
    });
}

/// A value whose clone takes its time, so that others come meanwhile, and that sees whether it is dropped or
/// changed under the reader.
struct Slow(Arc<AtomicU32>);

impl Clone for Slow {
    fn clone(&self) -> Self {
        let before = self.0.load(Ordering::Relaxed);
        thread::yield_now();
        assert_eq!(
            self.0.load(Ordering::Relaxed),
            before,
            "changed while it was read"
        );
        Self(Arc::new(AtomicU32::new(before)))
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        self.0.store(99, Ordering::Relaxed);
    }
}

/// A read clones outside the lock while another thread replaces and drops the value: the replace waits for
/// the reader, before all takers (`BUSY`).
#[test]
fn read_against_replace() {
    explore("read_against_replace", || {
        let slow = |value| Slow(Arc::new(AtomicU32::new(value)));
        let mvar = Arc::new(MVar::new(slow(1)));
        let other = mvar.clone();
        let reads = thread::spawn(move || other.read().wait().0.load(Ordering::Relaxed));
        let old = mvar.replace(slow(2)).wait().expect("it was full");
        assert_eq!(old.0.load(Ordering::Relaxed), 1);
        drop(old);
        assert!([1, 2].contains(&joined(reads)));
        let left = mvar.try_take().expect("a read leaves the value");
        assert_eq!(left.0.load(Ordering::Relaxed), 2);
    });
}

/// Two readers and one value: the second waits in line or finds it, and both have it.
#[test]
fn two_reads_of_one_put() {
    explore("two_reads_of_one_put", || {
        let mvar = Arc::new(MVar::empty());
        let readers = [(), ()].map(|()| beside(&mvar, |mvar| mvar.read().wait()));
        mvar.put(5).wait();
        assert_eq!(readers.map(joined), [5, 5]);
        assert_eq!(mvar.try_take(), Some(5));
    });
}

/// A swap against a take, with one value for both to begin with: the swap puts one back.
#[test]
fn swap_against_take() {
    explore("swap_against_take", || {
        let mvar = Arc::new(MVar::new(1));
        let takes = beside(&mvar, |mvar| mvar.take().wait());
        let swaps = beside(&mvar, |mvar| poll_once(pin!(mvar.swap(2))));
        match (joined(takes), joined(swaps)) {
            (1, Poll::Pending) => assert_eq!(mvar.try_take(), None),
            (2, Poll::Ready(1)) => assert_eq!(mvar.try_take(), None),
            other => panic!("taken and swapped: {other:?}"),
        }
    });
}

/// An `MVar` used as a lock by two threads: what one did inside, the other sees.
#[test]
fn as_a_lock() {
    explore("as_a_lock", || {
        let (mvar, count) = (Arc::new(MVar::new(0)), Arc::new(AtomicU32::new(0)));
        let enter = |mvar: &MVar<u32>, count: &AtomicU32| {
            let ticket = mvar.take().wait();
            assert_eq!(count.load(Ordering::Relaxed), ticket);
            count.store(ticket + 1, Ordering::Relaxed);
            mvar.put(ticket + 1).wait();
        };
        let other = count.clone();
        let enters = beside(&mvar, move |mvar| enter(mvar, &other));
        enter(&mvar, &count);
        joined(enters);
        assert_eq!(mvar.take().wait(), 2);
    });
}

/// A task of a run runtime waits; a thread puts: the wake goes through the inbox while the `MVar`'s lock is
/// held, and the runner is woken after it is given up.
#[test]
fn put_wakes_a_task() {
    explore("put_wakes_a_task", || {
        let runtime = Single::new().expect("no other runtime exists");
        let mvar = Arc::new(MVar::empty());
        let puts = beside(&mvar, |mvar| mvar.put(3).wait());
        let taken = runtime.try_block_on(async { mvar.take().await });
        assert_eq!(taken.expect("the scheduler never stops"), 3);
        joined(puts);
    });
}

/// A task that waits is aborted by its own end while a thread puts: the value is the task's or it is left.
#[test]
fn put_against_an_ending_task() {
    explore("put_against_an_ending_task", || {
        let runtime = Single::new().expect("no other runtime exists");
        let mvar = Arc::new(MVar::empty());
        let taker = mvar.clone();
        let handle = runtime.spawn(async move { taker.take().await });
        let _turned = runtime.turn(Waker::noop());
        let puts = beside(&mvar, |mvar| mvar.put(3).wait());
        drop(runtime);
        joined(puts);
        assert!(handle.wait().expect_err("it was dropped").is_cancelled());
        assert_eq!(mvar.try_take(), Some(3), "the value was lost with the task");
    });
}
