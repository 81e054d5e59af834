//! A task whose operations are always ready yields to the others all the same.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use gossamer::channel::unbounded;
use gossamer::time::sleep as rest;
use gossamer::{JoinHandle, Model, Runtime, Wait, local, sync::MVar, yield_now};

use super::{MODELS, each_model, runtime, watched};

/// Longer than any test.
const FAR: Duration = Duration::from_secs(3_000);

/// Spawns eight actors, as many as there are workers at most, each busy until a ninth stops them.
fn nine(spawn: impl Fn(&Runtime, Arc<AtomicBool>) -> JoinHandle<()> + Copy) {
    for model in MODELS {
        let rt = runtime(model);
        let stop = Arc::new(AtomicBool::new(false));
        let busy: Vec<_> = (0..8).map(|_| spawn(&rt, stop.clone())).collect();
        let ends = rt.spawn(async move { stop.store(true, Ordering::Relaxed) });
        for actor in busy.into_iter().chain([ends]) {
            actor.wait().expect("no panic");
        }
    }
}

#[test]
fn always_ready_and_yet_not_alone() {
    watched("tasks", || {
        nine(|rt, stop| {
            rt.spawn(async move {
                let mvar = MVar::<u32>::empty();
                while !stop.load(Ordering::Relaxed) {
                    mvar.put(1).await;
                    mvar.take().await;
                }
            })
        });
    });
}

#[test]
fn the_same_for_fibers() {
    watched("fibers", || {
        nine(|rt, stop| {
            rt.spawn_fiber(move || {
                let mvar = MVar::<u32>::empty();
                while !stop.load(Ordering::Relaxed) {
                    mvar.put(1).wait();
                    mvar.take().wait();
                }
            })
        });
    });
}

/// An operation that waits beside one that is always ready does not make the poll a short one.
#[test]
fn always_ready_beside_one_that_waits() {
    watched("beside", || {
        nine(|rt, stop| {
            rt.spawn(async move {
                let (never, mvar) = (MVar::<u32>::empty(), MVar::<u32>::empty());
                while !stop.load(Ordering::Relaxed) {
                    let mut waits = pin!(never.take());
                    poll_fn(|cx| {
                        assert!(waits.as_mut().poll(cx).is_pending());
                        Poll::Ready(())
                    })
                    .await;
                    mvar.put(1).await;
                    mvar.take().await;
                }
            })
        });
    });
}

#[test]
fn the_same_for_mvars_of_one_thread() {
    each_model(|model| {
        let rt = runtime(model);
        rt.block_on_local(|scope| {
            let stop = std::rc::Rc::new(std::cell::Cell::new(false));
            let stops = stop.clone();
            drop(scope.spawn_local(async move { stops.set(true) }));
            async move {
                let mvar = local::MVar::<u32>::empty();
                while !stop.get() {
                    mvar.put(1).await;
                    mvar.take().await;
                }
            }
        });
    });
}

/// That one task has yielded is none of the next one's business, which is aborted: an operation in its destructor
/// yields once, and is ready then.
#[test]
fn a_destructor_after_one_that_yielded() {
    const MANY: usize = 10;
    /// Counts how often an operation is tried.
    struct Tries(Arc<AtomicUsize>);
    impl Drop for Tries {
        fn drop(&mut self) {
            let (mvar, mut cx) = (MVar::empty(), Context::from_waker(Waker::noop()));
            let tries = (1..MANY).find(|_| pin!(mvar.put(1)).poll(&mut cx).is_ready());
            self.0.store(tries.unwrap_or(MANY), Ordering::Relaxed);
        }
    }
    watched("destructor", || {
        let rt = runtime(Model::Pool { workers: 1 });
        let (tried, begun) = (Arc::new(AtomicUsize::new(0)), Arc::new(MVar::empty()));
        let (tries, begins) = (Tries(tried.clone()), begun.clone());
        let aborted = rt.spawn(async move {
            let _tries = tries;
            begins.put(()).await;
            std::future::pending::<()>().await;
        });
        let mvar = MVar::empty();
        let busy = rt.spawn(async move {
            begun.take().await;
            aborted.abort();
            let mut yielded = false;
            poll_fn(|cx| {
                while !yielded && pin!(mvar.put(1)).poll(cx).is_ready() {
                    mvar.try_take();
                }
                if std::mem::replace(&mut yielded, true) {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
        });
        busy.wait().expect("no panic");
        while tried.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        assert!(tried.load(Ordering::Relaxed) <= 2, "{tried:?} tries");
    });
}

#[test]
fn a_thread_does_not_yield() {
    // Polled by hand, beside any runtime: each operation is complete at its first poll, however many there are.
    let mvar = MVar::<u32>::empty();
    for number in 0..10_000 {
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let put = std::pin::pin!(mvar.put(number)).poll(&mut cx);
        assert!(put.is_ready(), "operation {number}");
        assert_eq!(mvar.try_take(), Some(number));
    }
}

/// Sends to itself, and receives that, until it is told to stop; how often.
async fn talks_to_itself(stop: &AtomicBool) -> usize {
    let (tx, rx) = unbounded();
    let mut received = 0;
    while !stop.load(Ordering::Relaxed) {
        tx.try_send(()).expect("it is received");
        rx.recv().await.expect("it was sent");
        received += 1;
    }
    received
}

/// In the closure of `block_on_local` a thread is in the midst of running: what can be done at once is done at once.
#[test]
fn many_waits_in_the_closure_of_block_on_local() {
    let rt = runtime(Model::Single);
    let (tx, rx) = unbounded();
    rt.block_on_local(|_| {
        for number in 0..5_000 {
            tx.send(number).wait().expect("somebody receives");
            assert_eq!(rx.recv().wait(), Ok(number));
        }
        async {}
    });
}

/// A long poll is as many short ones to the runner, which looks at its timers after each so many.
#[test]
fn a_timer_beside_who_is_always_ready() {
    watched("a timer", || {
        for model in [Model::Single, Model::Pool { workers: 1 }] {
            // None is taken to be stuck on a busy machine: its tasks would be evacuated.
            let rt = Runtime::builder().model(model).stuck_after(FAR).build();
            let rt = rt.expect("a runtime can be built");
            let stop = Arc::new(AtomicBool::new(false));
            let (stops, begun) = (stop.clone(), Arc::new(MVar::empty()));
            let begins = begun.clone();
            let busy = rt.spawn(async move {
                begun.take().await;
                talks_to_itself(&stop).await
            });
            // Due before the other one's first turn is over.
            drop(rt.spawn(async move {
                begins.put(()).await;
                rest(Duration::from_nanos(1)).await;
                stops.store(true, Ordering::Relaxed);
            }));
            let received = busy.wait().expect("no panic");
            assert!(received < 20_000, "{model}: {received} messages before");
        }
    });
}

/// Somebody else's executor inside a poll may begin each operation anew: one in so many yields, and no more.
#[test]
fn begun_anew_in_one_poll() {
    each_model(|model| {
        let rt = runtime(model);
        rt.block_on(async {
            let (mvar, mut cx) = (MVar::empty(), Context::from_waker(Waker::noop()));
            let mut put = 0;
            for _ in 0..10_000 {
                put += u32::from(pin!(mvar.put(())).poll(&mut cx).is_ready());
                mvar.try_take();
            }
            assert!(put > 9_000, "{put} operations of 10,000");
        });
    });
}

/// The output that nobody wants panics when it is dropped, and so the payload is: that is still a part of the task,
/// which is there as long as the operations that begin in it.
#[test]
fn begun_by_the_payload_of_an_output() {
    /// Counts the operations that were complete at once.
    struct Payload(Arc<AtomicUsize>);
    impl Drop for Payload {
        fn drop(&mut self) {
            let (mvar, mut cx) = (MVar::empty(), Context::from_waker(Waker::noop()));
            let mut put = 0;
            for _ in 0..10_000 {
                put += usize::from(pin!(mvar.put(())).poll(&mut cx).is_ready());
                mvar.try_take();
            }
            self.0.store(put, Ordering::Relaxed);
        }
    }
    struct Panics(Arc<AtomicUsize>);
    impl Drop for Panics {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new(Payload(self.0.clone())));
        }
    }
    each_model(|model| {
        let rt = runtime(model);
        let (put, unwanted) = (Arc::new(AtomicUsize::new(0)), Arc::new(MVar::empty()));
        let (output, waits) = (Panics(put.clone()), unwanted.clone());
        drop(rt.spawn(async move {
            waits.take().await;
            // That it wakes itself in its last poll says nothing of what comes after it.
            poll_fn(|cx| {
                cx.waker().wake_by_ref();
                Poll::Ready(())
            })
            .await;
            output
        }));
        unwanted.put(()).wait();
        while put.load(Ordering::Relaxed) == 0 {
            rt.block_on(yield_now());
        }
        assert!(put.load(Ordering::Relaxed) > 9_000, "{put:?} of 10,000");
    });
}

/// Who receives has a longer turn than each of a few who send, so an unbounded channel does not get fuller and fuller.
#[test]
fn a_few_senders_do_not_outrun_their_receiver() {
    let rt = runtime(Model::Single);
    let (tx, rx) = unbounded();
    for _ in 0..4 {
        let tx = tx.clone();
        drop(rt.spawn(async move {
            for number in 0..20_000 {
                tx.send(number).await.expect("it is received");
            }
        }));
    }
    drop(tx);
    let receiver = rt.spawn(async move {
        let (mut received, mut most) = (0, 0);
        while rx.recv().await.is_ok() {
            (received, most) = (received + 1, most.max(rx.len()));
        }
        (received, most)
    });
    let (received, most) = receiver.wait().expect("no panic");
    assert_eq!(received, 80_000);
    assert!(most < 20_000, "{most} messages were in line");
}
