//! At most so many at once.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use gossamer::{Model, Wait, limit::ConcurrencyLimit, sync::MVar, yield_now};

use super::each_runtime;
use crate::hand::{Hand, parked};
use crate::models::runtime;

#[test]
fn never_more_than_the_limit() {
    each_runtime(|rt| {
        let bounded = rt.limited(3);
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..50)
            .map(|_| {
                let (now, most) = (now.clone(), most.clone());
                let spawned = bounded.spawn(async move {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    yield_now().await;
                    now.fetch_sub(1, Ordering::SeqCst);
                });
                spawned.wait()
            })
            .collect();
        for task in tasks {
            task.wait().expect("no panic");
        }
        assert!(most.load(Ordering::SeqCst) <= 3);
        assert_eq!((bounded.limit().free(), bounded.limit().limit()), (3, 3));
    });
}

/// Looks how many permits are free when it is dropped.
struct Looks(ConcurrencyLimit, Arc<AtomicUsize>);

impl Drop for Looks {
    fn drop(&mut self) {
        self.1.store(self.0.free(), Ordering::SeqCst);
    }
}

/// Also the permit of a task that was never polled.
#[test]
fn a_permit_comes_back_when_the_future_has_gone() {
    let rt = runtime(Model::Single);
    let (bounded, free) = (rt.limited(1), Arc::new(AtomicUsize::new(usize::MAX)));
    let looks = Looks(bounded.limit().clone(), free.clone());
    let unpolled = bounded.try_spawn(async move { drop(looks) });
    drop((rt, unpolled));
    assert_eq!(free.load(Ordering::SeqCst), 0);
    assert_eq!(bounded.limit().free(), 1);
}

#[test]
fn the_handle_is_suspended() {
    each_runtime(|rt| {
        let bounded = rt.limited(1);
        let gate = Arc::new(MVar::<()>::empty());
        let opens = gate.clone();
        let first = bounded.spawn(async move { opens.take().await }).wait();
        assert!(bounded.try_spawn(async {}).is_err());
        let own = bounded.clone();
        let spawns = rt.spawn(async move { own.spawn(async { 2 }).await.await.expect("no panic") });
        let own = bounded.clone();
        let fiber = rt.spawn_fiber(move || own.spawn(async { 3 }).wait().wait().expect("no panic"));
        rt.spawn(yield_now()).wait().expect("no panic");
        assert!(!spawns.is_finished() && !fiber.is_finished());
        gate.put(()).wait();
        first.wait().expect("no panic");
        assert_eq!(
            spawns.wait().expect("no panic") + fiber.wait().expect("no panic"),
            5
        );
        let last = bounded
            .try_spawn(async { 4 })
            .map_err(drop)
            .expect("there is a permit");
        assert_eq!(last.wait().expect("no panic"), 4);
    });
}

#[test]
fn panics_aborts_and_drops_give_the_permit_back() {
    each_runtime(|rt| {
        let bounded = rt.limited(1);
        let ill = bounded.spawn(async { panic_any(1_u32) }).wait();
        assert!(ill.wait().is_err());
        let endless = bounded.spawn(std::future::pending::<()>()).wait();
        endless.abort();
        assert!(endless.wait().is_err());
        // Never spawned.
        drop(bounded.spawn(async {}));
        let handle = rt.handle();
        assert_eq!(
            bounded.spawn(async { 1 }).wait().wait().expect("no panic"),
            1
        );
        drop(rt);
        assert!(
            bounded
                .spawn(async { 1 })
                .wait()
                .wait()
                .expect_err("no runtime")
                .is_cancelled()
        );
        assert_eq!(bounded.limit().free(), 1);
        drop(handle);
    });
}

#[test]
fn zero_is_refused() {
    let refused = catch_unwind(AssertUnwindSafe(|| ConcurrencyLimit::new(0)));
    let payload = refused.expect_err("nothing could begin");
    let text = payload.downcast_ref::<&str>().expect("a text");
    assert!(text.contains("at least 1"), "{text}");
}

#[test]
fn first_come_first_served_whoever_is_dropped() {
    let bounded = ConcurrencyLimit::new(1);
    let permit = bounded.try_acquire().expect("free");
    let mut line: Vec<_> = (0..4).map(|_| parked(bounded.acquire())).collect();
    drop(line.remove(1));
    drop(permit);
    assert_eq!(line[0].wakes(), 1);
    // Nobody overtakes, and who is dropped with a promise passes it on.
    assert!(bounded.try_acquire().is_none());
    let late = parked(bounded.acquire());
    drop(line.remove(0));
    assert_eq!((line[0].wakes(), line[1].wakes(), late.wakes()), (1, 0, 0));
    let std::task::Poll::Ready(permit) = line[0].poll() else {
        panic!("it was promised");
    };
    drop(permit);
    assert_eq!(line[1].wakes(), 1);
    drop(line);
    assert_eq!(late.wakes(), 1);
    drop(late);
    assert_eq!(bounded.free(), 1);
}

/// Who was handed a permit, and has not come for it so far, keeps nobody else from one.
#[test]
fn permits_that_come_back_one_after_the_other() {
    let bounded = ConcurrencyLimit::new(2);
    let mut permits = [bounded.try_acquire(), bounded.try_acquire()];
    let (first, mut second) = (parked(bounded.acquire()), parked(bounded.acquire()));
    permits[0] = None;
    assert_eq!((first.wakes(), second.wakes()), (1, 0));
    permits[1] = None;
    assert_eq!((first.wakes(), second.wakes()), (1, 1));
    assert!(second.poll().is_ready());
    drop(first);
    assert_eq!(bounded.free(), 2);
}

struct Ill;

impl Wake for Ill {
    fn wake(self: Arc<Self>) {
        panic!("planned");
    }
}

#[test]
fn a_foreign_waker_that_panics() {
    let bounded = ConcurrencyLimit::new(2);
    let permits = [bounded.try_acquire(), bounded.try_acquire()];
    let mut ill = Hand::new(bounded.acquire());
    assert!(ill.poll_with(&Waker::from(Arc::new(Ill))).is_pending());
    let mut well = parked(bounded.acquire());
    drop(permits);
    assert!(ill.poll().is_ready() && well.poll().is_ready());
}
