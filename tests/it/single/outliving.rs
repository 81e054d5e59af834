//! Operations, mvars and wakers that outlive what they were begun in, or go while that is in use.

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use gossamer::{JoinHandle, Runtime, Wait, local, sync, yield_now};
use gossamer_sim::Sim;

use super::{planned, runtime};

type Taking = Pin<Box<dyn Future<Output = u32>>>;

thread_local! {
    static KEPT: RefCell<Option<Taking>> = const { RefCell::new(None) };
    static MVAR: RefCell<Option<Box<local::MVar<u32>>>> = const { RefCell::new(None) };
    static JOIN: RefCell<Option<Pin<Box<JoinHandle<()>>>>> = const { RefCell::new(None) };
}

fn leaked() -> &'static local::MVar<u32> {
    Box::leak(Box::new(local::MVar::empty()))
}

/// Polls a take so often, each time pending.
async fn begin(take: &mut Pin<Box<impl Future<Output = u32>>>, polls: u32) {
    let mut left = polls;
    poll_fn(|cx| {
        assert!(take.as_mut().poll(cx).is_pending());
        left -= 1;
        if left == 0 {
            Poll::Ready(())
        } else {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

/// Drops what is kept on this thread.
struct DropsKept;

impl Drop for DropsKept {
    fn drop(&mut self) {
        drop(KEPT.with(RefCell::take));
        drop(MVAR.with(RefCell::take));
    }
}

/// Has a runtime inside this one drop what is kept.
fn drop_kept_inside_an_inner_runtime() {
    let inner = runtime();
    let drops = DropsKept;
    drop(inner.spawn(async move {
        let _drops = drops;
        pending::<()>().await;
    }));
    drop(inner);
}

#[test]
fn an_output_holds_an_operation_loaned_to_its_own_task() {
    let mvar = leaked();
    runtime().block_on_local(|scope| {
        drop(scope.spawn_local(async move {
            let mut take = Box::pin(mvar.take());
            begin(&mut take, 1).await;
            Some(take)
        }));
        yield_now()
    });
}

#[test]
fn a_joiner_s_waker_drops_an_operation_loaned_to_the_task() {
    struct WakeDrops;
    impl Wake for WakeDrops {
        fn wake(self: Arc<Self>) {
            drop(KEPT.with(RefCell::take));
            drop(JOIN.with(RefCell::take));
        }
    }
    let mvar = leaked();
    runtime().block_on_local(|scope| {
        let handle = scope.spawn_local(async move {
            let mut take = Box::pin(mvar.take());
            begin(&mut take, 1).await;
            KEPT.with(|kept| kept.replace(Some(take)));
        });
        let mut handle = Box::pin(handle);
        let waker = Waker::from(Arc::new(WakeDrops));
        let polled = handle.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        JOIN.with(|join| join.replace(Some(handle)));
        yield_now()
    });
}

#[test]
fn a_simulation_forgets_an_operation_dropped_inside_an_inner_runtime() {
    let mvar = leaked();
    let ran = gossamer_sim::run(0, || async move {
        let mut take = Box::pin(mvar.take());
        begin(&mut take, 2).await;
        KEPT.with(|kept| kept.replace(Some(take)));
        drop_kept_inside_an_inner_runtime();
        pending::<()>().await;
    });
    let said = ran.expect_err("a deadlock").to_string();
    assert!(!said.contains("MVar::take"), "{said}");
}

#[test]
fn a_simulation_forgets_a_mvar_dropped_inside_an_inner_runtime() {
    let ran = gossamer_sim::run(0, || async move {
        let mvar = Box::new(local::MVar::<u32>::empty());
        {
            let mut take = Box::pin(mvar.take());
            begin(&mut take, 2).await;
            std::mem::forget(take);
        }
        MVAR.with(|kept| kept.replace(Some(mvar)));
        drop_kept_inside_an_inner_runtime();
        pending::<()>().await;
    });
    let said = ran.expect_err("a deadlock").to_string();
    assert!(!said.contains("MVar::take"), "{said}");
}

#[test]
fn a_simulation_without_scheduling_points_names_a_lone_waiter() {
    for sim in [Sim::new(), Sim::new().without_scheduling_points()] {
        let ran = sim.run(0, || async move {
            let mvar = Rc::new(local::MVar::<u32>::empty());
            mvar.take().await
        });
        let said = ran.expect_err("a deadlock").to_string();
        assert!(said.contains("MVar::take"), "{said}");
    }
}

#[test]
fn a_mvar_that_goes_lets_go_of_all_though_a_waker_panics() {
    struct PanicsDropped;
    impl Wake for PanicsDropped {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for PanicsDropped {
        fn drop(&mut self) {
            planned();
        }
    }
    let ran = Sim::new()
        .without_scheduling_points()
        .run(0, || async move {
            let mvar = Box::new(local::MVar::<u32>::empty());
            {
                let waker = Waker::from(Arc::new(PanicsDropped));
                let mut first = Box::pin(mvar.take());
                let polled = first.as_mut().poll(&mut Context::from_waker(&waker));
                assert!(polled.is_pending());
                std::mem::forget(first);
                let mut second = Box::pin(mvar.take());
                begin(&mut second, 1).await;
                std::mem::forget(second);
            }
            assert!(catch_unwind(AssertUnwindSafe(|| drop(mvar))).is_err());
            pending::<()>().await;
        });
    let said = ran.expect_err("a deadlock").to_string();
    assert!(!said.contains("MVar::take"), "{said}");
}

#[test]
fn a_chain_of_panics_does_not_keep_a_waiting_thread() {
    fn chain(rt: Arc<Runtime>, left: u32, count: Arc<AtomicU32>) {
        let again = rt.clone();
        drop(rt.spawn(async move {
            count.fetch_add(1, Ordering::Relaxed);
            if left > 0 {
                chain(again, left - 1, count);
            }
            planned();
        }));
    }
    let rt = Arc::new(runtime());
    let (count, mvar) = (Arc::new(AtomicU32::new(0)), Arc::new(sync::MVar::empty()));
    let put = mvar.clone();
    drop(rt.spawn(async move { put.put(()).await }));
    chain(rt.clone(), 5_000, count.clone());
    mvar.take().wait();
    let polled = count.load(Ordering::Relaxed);
    assert!(
        polled < 5_000,
        "the put was long done after {polled} panics"
    );
}
