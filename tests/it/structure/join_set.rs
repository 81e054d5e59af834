//! Tasks that are joined as they end.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use gossamer::{JoinSet, Model, Wait, sync::MVar, yield_now};

use super::each_runtime;
use crate::hand::{Hand, parked};
use crate::models::{runtime, watched};

#[test]
fn they_are_joined_in_the_order_in_which_they_end() {
    each_runtime(|rt| {
        let gates: Vec<_> = (0..5).map(|_| Arc::new(MVar::<u32>::empty())).collect();
        let mut set = JoinSet::new();
        let ids: Vec<_> = gates
            .iter()
            .cloned()
            .map(|gate| set.push(rt.spawn(async move { gate.take().await })).id())
            .collect();
        assert_eq!(set.len(), 5);
        for at in [3, 0, 4, 2, 1] {
            gates[at].put(at as u32).wait();
            let joined = set.join_next_with_id().wait().expect("one has ended");
            assert_eq!(joined.expect("no panic"), (ids[at], at as u32));
        }
        assert!(set.is_empty());
        assert!(set.join_next().wait().is_none());
    });
}

#[test]
#[should_panic(expected = "after it had given its output")]
fn a_handle_that_was_joined_is_refused() {
    let rt = runtime(Model::Single);
    let mut joined = rt.spawn(async {});
    rt.block_on(&mut joined).expect("no panic");
    JoinSet::new().push(joined);
}

/// None is lost that ends before it is pushed, before it is waited for, or while it is.
#[test]
fn whatever_has_a_handle() {
    each_runtime(|rt| {
        let mut set: JoinSet<u32> = (0..3).map(|n| rt.spawn(async move { n })).collect();
        set.push(rt.spawn_fiber(|| {
            yield_now().wait();
            3
        }));
        set.push(rt.spawn_thread(|| 4));
        set.push(rt.spawn_blocking(|| 5));
        let done = rt.spawn(async { 6 });
        while !done.is_finished() {
            rt.spawn(yield_now()).wait().expect("no panic");
        }
        set.push(done);
        let task = rt.spawn(async move {
            let mut sum = 0;
            while let Some(output) = set.join_next().await {
                sum += output.expect("no panic");
            }
            sum
        });
        assert_eq!(task.wait().expect("no panic"), 21);
    });
}

#[test]
fn panics_and_aborts_are_errors() {
    each_runtime(|rt| {
        let mut set = JoinSet::<()>::new();
        let panics = set.push(rt.spawn(async { panic_any(7_u32) }));
        let aborted = set.push(rt.spawn(std::future::pending()));
        aborted.abort();
        for _ in 0..2 {
            let joined = set.join_next_with_id().wait().expect("both end");
            let error = joined.expect_err("neither returns");
            assert_eq!(error.is_panic(), error.id() == panics.id());
            assert_eq!(error.is_cancelled(), error.id() == aborted.id());
        }
        assert!(aborted.is_finished());
        aborted.abort();
    });
}

/// Onto the runtime that is there, or another one.
#[test]
fn spawning_into_it() {
    each_runtime(|rt| {
        let other = runtime(Model::Pool { workers: 1 });
        let handle = other.handle();
        let sum = rt.block_on(async move {
            let mut set = JoinSet::new();
            set.spawn(async { 1 });
            set.spawn_on(async { 2 }, &handle);
            set.spawn_blocking(|| 3);
            set.spawn(std::future::pending()).abort();
            let (mut sum, mut aborted) = (0, 0);
            while let Some(joined) = set.join_next().await {
                joined.map_or_else(|_| aborted += 1, |number| sum += number);
            }
            assert_eq!(aborted, 1);
            sum
        });
        assert_eq!(sum, 6);
    });
}

#[test]
fn all_at_once() {
    each_runtime(|rt| {
        let mut set: JoinSet<u32> = (0..10).map(|n| rt.spawn(async move { n })).collect();
        set.extend([rt.spawn_thread(|| 10)]);
        assert_eq!(set.join_all().wait().into_iter().sum::<u32>(), 55);
        assert_eq!(JoinSet::<u32>::new().join_all().wait(), []);
        // One panics, or is cancelled: so does the wait, and the others end.
        for aborted in [false, true] {
            let (told, gone) = (Arc::new(MVar::<()>::empty()), Arc::new(AtomicUsize::new(0)));
            let (tells, counts) = (told.clone(), Counts(gone.clone()));
            let mut set = JoinSet::<()>::new();
            set.push(rt.spawn(async move {
                let _counts = counts;
                tells.put(()).await;
                std::future::pending().await
            }));
            told.take().wait();
            match aborted {
                true => set.push(rt.spawn(std::future::pending())).abort(),
                false => drop(set.push(rt.spawn(async { panic_any(7_u32) }))),
            }
            let all = catch_unwind(AssertUnwindSafe(|| set.join_all().wait()));
            let payload = all.expect_err("one has no output");
            assert_eq!(payload.is::<u32>(), !aborted);
            while gone.load(Ordering::SeqCst) == 0 {
                rt.spawn(yield_now()).wait().expect("no panic");
            }
        }
    });
}

/// Counts its drops.
struct Counts(Arc<AtomicUsize>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn dropping_and_shutting_down_abort_all() {
    each_runtime(|rt| {
        let drops = Arc::new(AtomicUsize::new(0));
        let fill = |set: &mut JoinSet<()>| {
            for _ in 0..10 {
                let counts = Counts(drops.clone());
                set.push(rt.spawn(async move {
                    let _counts = counts;
                    std::future::pending().await
                }));
            }
        };
        let mut set = JoinSet::new();
        fill(&mut set);
        set.shutdown().wait();
        assert!(set.is_empty());
        assert_eq!(drops.load(Ordering::SeqCst), 10);
        fill(&mut set);
        drop(set);
        while drops.load(Ordering::SeqCst) < 20 {
            rt.spawn(yield_now()).wait().expect("no panic");
        }
        // Let go, they run on.
        let mut set = JoinSet::new();
        let mvar = Arc::new(MVar::<u32>::empty());
        let from = mvar.clone();
        let told = Arc::new(MVar::<u32>::empty());
        let tells = told.clone();
        set.push(rt.spawn(async move { tells.put(from.take().await).await }));
        set.detach_all();
        assert!(set.is_empty() && set.join_next().wait().is_none());
        drop(set);
        mvar.put(3).wait();
        assert_eq!(told.take().wait(), 3);
    });
}

#[test]
fn the_runtime_ends_first() {
    each_runtime(|rt| {
        let mut set: JoinSet<()> = (0..5).map(|_| rt.spawn(std::future::pending())).collect();
        drop(rt);
        for _ in 0..5 {
            assert!(
                set.join_next()
                    .wait()
                    .expect("five")
                    .expect_err("ended")
                    .is_cancelled()
            );
        }
    });
}

/// A wait that is dropped takes nothing, and another one finds what has ended.
#[test]
fn a_wait_is_dropped() {
    watched("single", || {
        let rt = runtime(Model::Single);
        let mvar = Arc::new(MVar::<u32>::empty());
        let from = mvar.clone();
        let mut set = JoinSet::new();
        set.push(rt.spawn(async move { from.take().await }));
        drop(parked(set.join_next()));
        let hand = parked(set.join_next());
        mvar.put(1).wait();
        rt.block_on(async {
            for _ in 0..5 {
                yield_now().await;
            }
        });
        assert_eq!(hand.wakes(), 1);
        drop(hand);
        assert_eq!(set.len(), 1);
        let joined = set.try_join_next().expect("it has ended");
        assert_eq!(joined.expect("no panic"), 1);
        assert!(set.try_join_next().is_none());
    });
}

struct Ill;

impl Wake for Ill {
    fn wake(self: Arc<Self>) {
        panic!("planned");
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("planned");
    }
}

#[test]
fn panics_of_wakers_and_outputs_harm_nobody() {
    watched("pool", || {
        let rt = runtime(Model::Pool { workers: 2 });
        let gate = Arc::new(MVar::<()>::empty());
        let opens = gate.clone();
        let mut set = JoinSet::new();
        set.push(rt.spawn(async move { opens.take().await }));
        let ill = Waker::from(Arc::new(Ill));
        assert!(Hand::new(set.join_next()).poll_with(&ill).is_pending());
        gate.put(()).wait();
        set.join_next().wait().expect("one").expect("no panic");
        let mut set: JoinSet<Bomb> = (0..5).map(|_| rt.spawn(async { Bomb })).collect();
        set.shutdown().wait();
        drop::<JoinSet<Bomb>>((0..5).map(|_| rt.spawn(async { Bomb })).collect());
        assert_eq!(rt.spawn(async { 1 }).wait().expect("unharmed"), 1);
    });
}

/// Many, with places that are used again.
#[test]
fn ten_thousand() {
    watched("pool", || {
        let rt = runtime(Model::Pool { workers: 2 });
        let mut set = JoinSet::new();
        let (mut sum, mut next) = (0, 0_u64);
        while next < 10_000 || !set.is_empty() {
            while set.len() < 100 && next < 10_000 {
                let number = next;
                set.push(rt.spawn(async move {
                    yield_now().await;
                    number
                }));
                next += 1;
            }
            sum += set.join_next().wait().expect("one").expect("no panic");
        }
        assert_eq!(sum, (0..10_000).sum());
    });
}

/// Filled and detached again and again, whether its tasks have ended by then or not, a set keeps nothing.
#[test]
fn detaching_leaves_nothing_behind() {
    let rt = runtime(Model::Single);
    let mut set = JoinSet::new();
    let mut rounds = |number: usize| {
        for _ in 0..number {
            set.extend((0..10).map(|_| rt.spawn(async {})));
            rt.block_on(yield_now());
            set.extend((0..10).map(|_| rt.spawn(async {})));
            set.detach_all();
        }
        rt.block_on(yield_now());
    };
    rounds(100);
    let kept = allocation_counter::measure(|| rounds(1_000));
    assert!(kept.bytes_current < 1_000, "{} bytes", kept.bytes_current);
}
