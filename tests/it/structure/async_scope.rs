//! The scope that is a future.

use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gossamer::{Handle, Wait, scope::AsyncScope, sync::MVar, yield_now};

use super::each_runtime;
use crate::hand::Hand;

/// Counts its drops.
struct Counts(Arc<AtomicUsize>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn it_is_complete_when_all_have_ended() {
    each_runtime(|rt| {
        let count = Arc::new(AtomicUsize::new(0));
        let words = vec!["one".to_owned(), "two".to_owned(), "three".to_owned()];
        let counted = count.clone();
        let sum = rt.async_scope((words, counted), async |s, (words, count)| {
            let lengths: Vec<_> = words
                .into_iter()
                .map(|word| {
                    let (count, inner) = (count.clone(), s.clone());
                    s.spawn(async move {
                        yield_now().await;
                        // A sibling, which nobody joins.
                        inner.spawn_fiber(move || {
                            yield_now().wait();
                            count.fetch_add(1, Ordering::SeqCst);
                        });
                        word.len()
                    })
                })
                .collect();
            let mut sum = 0;
            for length in lengths {
                sum += length.await.expect("no panic");
            }
            sum
        });
        let task = rt.spawn(sum);
        assert_eq!(task.wait().expect("no panic"), 11);
        assert_eq!(count.load(Ordering::SeqCst), 3);
    });
}

#[test]
fn dropping_it_aborts_the_children() {
    each_runtime(|rt| {
        let drops = Arc::new(AtomicUsize::new(0));
        for polls in 0..4 {
            drops.store(0, Ordering::SeqCst);
            let told = Arc::new(MVar::<AsyncScope>::empty());
            let (tells, counted) = (told.clone(), drops.clone());
            let mut scope = Hand::new(rt.async_scope((), async move |s, ()| {
                for _ in 0..3 {
                    let (one, two) = (Counts(counted.clone()), Counts(counted.clone()));
                    s.spawn(async move {
                        let _one = one;
                        std::future::pending::<()>().await;
                    });
                    s.spawn_fiber(move || {
                        let _two = two;
                        MVar::<u32>::empty().take().wait();
                    });
                }
                tells.put(s).await;
                std::future::pending::<()>().await;
            }));
            for _ in 0..polls {
                assert!(scope.poll().is_pending());
                rt.spawn(yield_now()).wait().expect("no panic");
            }
            drop(scope);
            if polls == 0 {
                assert!(told.try_take().is_none());
                continue;
            }
            while drops.load(Ordering::SeqCst) < 6 {
                rt.spawn(yield_now()).wait().expect("no panic");
            }
            // One that comes too late is turned away.
            if let Some(late) = told.try_take() {
                assert!(
                    late.spawn(async {})
                        .wait()
                        .expect_err("too late")
                        .is_cancelled()
                );
                assert!(
                    late.spawn_fiber(|| ())
                        .wait()
                        .expect_err("too late")
                        .is_cancelled()
                );
            }
        }
    });
}

#[test]
fn panics_of_body_and_children() {
    each_runtime(|rt| {
        let ended = Arc::new(AtomicUsize::new(0));
        let counts = ended.clone();
        let body = rt.async_scope(counts, async |s, counts| {
            s.spawn(async move {
                yield_now().await;
                counts.fetch_add(1, Ordering::SeqCst);
            });
            panic_any(1_u32)
        });
        let error = rt.spawn(body).wait().expect_err("it panics");
        assert_eq!(
            error.try_into_panic().expect("a panic").downcast_ref(),
            Some(&1_u32)
        );
        assert_eq!(ended.load(Ordering::SeqCst), 1);
        let child = rt.async_scope((), async |s, ()| {
            s.spawn(async { panic_any(2_u32) });
        });
        let error = rt.spawn(child).wait().expect_err("it panics");
        assert_eq!(
            error.try_into_panic().expect("a panic").downcast_ref(),
            Some(&2_u32)
        );
        let joined = rt.async_scope((), async |s, ()| {
            s.spawn(async { panic_any(3_u32) })
                .await
                .expect_err("it panics")
                .is_panic()
        });
        assert!(rt.spawn(joined).wait().expect("it was joined"));
    });
}

#[test]
fn its_runtime_ends_first() {
    each_runtime(|rt| {
        let mut scope = Hand::new(rt.async_scope((), async |s, ()| {
            s.spawn(std::future::pending::<()>())
                .await
                .expect_err("ended")
                .is_cancelled()
        }));
        assert!(scope.poll().is_pending());
        drop(rt);
        assert_eq!(scope.poll(), std::task::Poll::Ready(true));
    });
}

#[test]
fn from_inside_a_task() {
    each_runtime(|rt| {
        let task = rt.spawn(async {
            let handle = Handle::current();
            handle
                .async_scope(2, async |s, two| s.spawn(async move { two + 1 }).await)
                .await
        });
        assert_eq!(task.wait().expect("no panic").expect("no panic"), 3);
        assert!(Handle::try_current().is_none());
    });
}

/// Under every model, also in what makes the future of a blocking call.
#[test]
fn from_inside_a_blocking_call() {
    each_runtime(|rt| {
        let found = rt.block_on_local(|_| {
            let made = Handle::try_current().is_some();
            async move { made && Handle::try_current().is_some() }
        });
        assert!(found);
    });
}
