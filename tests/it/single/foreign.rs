//! Strangers: other executors, operations that change hands, and operations that are forgotten.

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use gossamer::{JoinHandle, Wait, local, sync, yield_now};

use super::runtime;

/// The smallest executor there is: a condition variable.
#[derive(Default)]
struct Parked(Mutex<bool>, Condvar);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        *self.0.lock().unwrap() = true;
        self.1.notify_one();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let parked = Arc::new(Parked::default());
    let waker = Waker::from(parked.clone());
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        let mut woken = parked.0.lock().unwrap();
        while !std::mem::take(&mut *woken) {
            woken = parked.1.wait(woken).unwrap();
        }
    }
}

#[test]
fn another_executor_uses_the_mvars() {
    let (there, back) = (Arc::new(sync::MVar::empty()), Arc::new(sync::MVar::empty()));
    let other = thread::spawn({
        let (there, back) = (there.clone(), back.clone());
        move || {
            block_on(async {
                for _ in 0..1000 {
                    let value: u32 = there.take().await;
                    back.put(value + 1).await;
                }
            });
        }
    });
    let rt = runtime();
    rt.block_on(async {
        for value in 0..1000 {
            there.put(value).await;
            assert_eq!(back.take().await, value + 1);
        }
    });
    other.join().unwrap();
}

#[test]
fn another_executor_joins_a_task() {
    let rt = runtime();
    let gate = Arc::new(sync::MVar::empty());
    let task: JoinHandle<u32> = rt.spawn({
        let gate = gate.clone();
        async move { gate.take().await }
    });
    let other = thread::spawn(move || block_on(task).unwrap());
    rt.block_on(yield_now());
    gate.put(8).wait();
    rt.block_on(async {
        while !other.is_finished() {
            yield_now().await;
        }
    });
    assert_eq!(other.join().unwrap(), 8);
}

/// A local mvar, with a foreign executor that runs on the same thread.
#[test]
fn another_executor_uses_a_local_mvar() {
    let mvar = Rc::new(local::MVar::empty());
    let mut take = pin!(mvar.take());
    let mut put = pin!(mvar.put(4));
    block_on(poll_fn(|cx| {
        assert!(take.as_mut().poll(cx).is_pending());
        assert!(put.as_mut().poll(cx).is_ready());
        let Poll::Ready(value) = take.as_mut().poll(cx) else {
            panic!("it waits")
        };
        assert_eq!(value, 4);
        Poll::Ready(())
    }));
}

type Taking<'a> = Pin<Box<dyn Future<Output = u32> + 'a>>;

/// Polls once in a task of its own, which then ends, and gives the operation back.
async fn parked_by_a_task(
    scope: &gossamer::runtime::LocalScope,
    operation: impl Future<Output = u32> + 'static,
) -> Taking<'static> {
    let mut operation: Taking<'static> = Box::pin(operation);
    let slot = Rc::new(RefCell::new(None));
    let filled = slot.clone();
    let task = scope.spawn_local(async move {
        poll_fn(|cx| {
            assert!(operation.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        filled.replace(Some(operation));
    });
    task.await.unwrap();
    slot.take().expect("the task filled it")
}

/// The body for a mvar of either flavour.
macro_rules! changes_hands {
    ($make:expr) => {{
        let rt = runtime();
        rt.block_on_local(|scope| {
            let scope = scope.clone();
            async move {
                // Forgotten after its task has ended: a put finds the node, and nobody to wake.
                let mvar = Rc::new($make);
                let again = mvar.clone();
                let forgotten = parked_by_a_task(&scope, async move { again.take().await }).await;
                std::mem::forget(forgotten);
                for _ in 0..10 {
                    scope.spawn_local(async { [0_u64; 20] }).await.unwrap();
                }
                mvar.put(1_u32).await;
                assert_eq!(mvar.try_take(), None, "it is promised to the forgotten one");
                assert_eq!(mvar.replace(2).await, Some(1));

                // Parked by one task, completed by another, with both orders of wake and poll.
                for poll_first in [false, true] {
                    let mvar = Rc::new($make);
                    let again = mvar.clone();
                    let mut moved =
                        parked_by_a_task(&scope, async move { again.take().await }).await;
                    if poll_first {
                        let polled = poll_fn(|cx| Poll::Ready(moved.as_mut().poll(cx))).await;
                        assert!(polled.is_pending());
                    }
                    mvar.put(3_u32).await;
                    assert_eq!(moved.await, 3);
                }

                // Parked by one task, dropped by another.
                let mvar = Rc::new($make);
                let again = mvar.clone();
                let dropped = parked_by_a_task(&scope, async move { again.take().await }).await;
                drop(dropped);
                mvar.put(4_u32).await;
                assert_eq!(mvar.try_take(), Some(4));

                // Parked by a task that is aborted while another holds the operation.
                let mvar = Rc::new($make);
                let slot: Rc<RefCell<Option<Taking<'static>>>> = Rc::default();
                let first = scope.spawn_local({
                    let (mvar, slot) = (mvar.clone(), slot.clone());
                    async move {
                        let mut take: Taking<'static> = Box::pin(async move { mvar.take().await });
                        poll_fn(|cx| {
                            assert!(take.as_mut().poll(cx).is_pending());
                            Poll::Ready(())
                        })
                        .await;
                        slot.replace(Some(take));
                        pending::<()>().await;
                    }
                });
                yield_now().await;
                first.abort();
                assert!(first.await.unwrap_err().is_cancelled());
                let take = slot.take().expect("it was polled");
                mvar.put(5_u32).await;
                assert_eq!(take.await, 5);
            }
        });
        drop(rt);
    }};
}

#[test]
fn a_local_operation_changes_hands() {
    changes_hands!(local::MVar::empty());
}

#[test]
fn a_shared_operation_changes_hands() {
    changes_hands!(sync::MVar::empty());
}

/// Parked under a runtime that then ends; completed, woken or dropped outside of any.
#[test]
fn an_operation_outlives_its_runtime() {
    for ending in 0..3 {
        let mvar: Rc<local::MVar<u32>> = Rc::new(local::MVar::empty());
        let slot: Rc<RefCell<Option<Taking<'static>>>> = Rc::default();
        let rt = runtime();
        rt.block_on_local(|scope| {
            let (mvar, slot) = (mvar.clone(), slot.clone());
            let task = scope.spawn_local(async move {
                let mut take: Taking<'static> = Box::pin(async move { mvar.take().await });
                poll_fn(|cx| {
                    assert!(take.as_mut().poll(cx).is_pending());
                    Poll::Ready(())
                })
                .await;
                slot.replace(Some(take));
                pending::<()>().await;
            });
            async move {
                yield_now().await;
                drop(task);
            }
        });
        let take = slot.take().expect("it was polled");
        match ending {
            0 => {
                drop(rt);
                drop(take);
            }
            1 => {
                drop(take);
                drop(rt);
            }
            _ => {
                mvar.put(1).wait();
                drop(rt);
                assert_eq!(take.wait(), 1);
                continue;
            }
        }
        mvar.put(2).wait();
        assert_eq!(mvar.try_take(), Some(2));
    }
}

/// A shared operation, parked by a task, dropped or completed by another thread.
#[test]
fn a_shared_operation_goes_to_another_thread() {
    type Sent = Pin<Box<dyn Future<Output = u32> + Send>>;
    for completed in [false, true] {
        let rt = runtime();
        let mvar = Arc::new(sync::MVar::<u32>::empty());
        let slot: Arc<Mutex<Option<Sent>>> = Arc::default();
        let task = rt.spawn({
            let (mvar, slot) = (mvar.clone(), slot.clone());
            async move {
                let mut take: Sent = Box::pin(async move { mvar.take().await });
                poll_fn(|cx| {
                    assert!(take.as_mut().poll(cx).is_pending());
                    Poll::Ready(())
                })
                .await;
                slot.lock().unwrap().replace(take);
                pending::<()>().await;
            }
        });
        rt.block_on(yield_now());
        let take = slot.lock().unwrap().take().expect("it was polled");
        let other = thread::spawn(move || completed.then(|| take.wait()));
        if completed {
            mvar.put(6).wait();
        }
        assert_eq!(other.join().unwrap(), completed.then_some(6));
        rt.block_on(yield_now());
        task.abort();
        assert!(task.wait().unwrap_err().is_cancelled());
        assert!(mvar.is_empty());
    }
}
