//! The ring with neighbours on different threads: each hop goes to the other worker of two.
//!
//! A fiber stays where it began, and so do those that it spawns unless another worker is idle. So one fiber on each
//! worker spawns every second member, when both are known to have begun on different threads.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

use gossamer::{JoinHandle, Wait, spawn_fiber, sync::MVar};

use gossamer_contender::mvars::leak;

use crate::programs::anywhere::pass_on;

/// Parents that have begun.
static PARENTS: AtomicUsize = AtomicUsize::new(0);
/// Members that did not begin on their parent's thread.
static STRAYED: AtomicUsize = AtomicUsize::new(0);

/// Who got the zero.
pub(crate) fn ring(hops: u64, order: &[usize]) -> u64 {
    let ring = leak(order.iter().map(|_| MVar::empty()));
    let winner = &leak([MVar::empty()])[0];
    let parents: [JoinHandle<ThreadId>; 2] = [0, 1].map(|parity| {
        let own: Vec<usize> = order
            .iter()
            .copied()
            .filter(|id| id % 2 == parity)
            .collect();
        spawn_fiber(move || {
            let here = thread::current().id();
            // Keeps this worker, so that the other parent begins on the other one.
            PARENTS.fetch_add(1, Ordering::AcqRel);
            while PARENTS.load(Ordering::Acquire) < 2 {
                spin_loop();
            }
            for id in own {
                drop(spawn_fiber(move || {
                    let has_strayed = thread::current().id() != here;
                    STRAYED.fetch_add(usize::from(has_strayed), Ordering::AcqRel);
                    pass_on(ring, id, winner);
                }));
            }
            here
        })
    });
    let [first, second] = parents.map(|parent| parent.wait().ok());
    // A ring on one thread would be another row: no answer is a wrong one, which the lab sees.
    if first == second {
        return 0;
    }
    ring[0].put(hops).wait();
    let number = winner.take().wait();
    let (strayed, all) = (STRAYED.load(Ordering::Acquire), order.len());
    eprintln!("{strayed} of {all} members began beside their neighbours");
    number
}
