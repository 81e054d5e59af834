//! Scopes whose children borrow: what they promise under every model.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gossamer::{Handle, Wait, sync::MVar, yield_now};

use super::each_runtime;

/// What a panic carries.
fn payload(body: impl FnOnce()) -> u32 {
    let panicked = catch_unwind(AssertUnwindSafe(body));
    let payload = panicked.expect_err("it panics");
    *payload.downcast::<u32>().expect("a number")
}

#[test]
fn tasks_fibers_and_threads_borrow() {
    each_runtime(|rt| {
        let words = ["one", "two", "three"].map(str::to_owned);
        let count = AtomicUsize::new(0);
        let (mut by_task, mut by_fiber, mut by_thread) = (0, 0, 0);
        let sum = rt.scope(|s| {
            s.spawn(async { by_task = words.len() });
            s.spawn_fiber(|| by_fiber = words[2].len());
            s.spawn_thread(|| by_thread = words[0].len());
            let lengths: Vec<_> = words
                .iter()
                .map(|word| {
                    s.spawn(async {
                        yield_now().await;
                        count.fetch_add(1, Ordering::SeqCst);
                        word.as_str()
                    })
                })
                .collect();
            let lengths = lengths.into_iter();
            lengths
                .map(|word| word.wait().expect("no panic").len())
                .sum::<usize>()
        });
        assert_eq!((sum, by_task, by_fiber, by_thread), (11, 3, 5, 3));
        assert_eq!(count.into_inner(), 3);
    });
}

#[test]
fn it_returns_when_all_have_ended() {
    each_runtime(|rt| {
        let ended = AtomicUsize::new(0);
        rt.scope(|s| {
            for turns in 0..20 {
                let ended = &ended;
                drop(s.spawn(async move {
                    for _ in 0..turns {
                        yield_now().await;
                    }
                    ended.fetch_add(1, Ordering::SeqCst);
                }));
            }
        });
        assert_eq!(ended.into_inner(), 20);
    });
}

#[test]
fn children_spawn_children() {
    each_runtime(|rt| {
        let count = AtomicUsize::new(0);
        rt.scope(|s| {
            let count = &count;
            drop(s.spawn(async move {
                for _ in 0..5 {
                    drop(s.spawn(async move {
                        yield_now().await;
                        drop(s.spawn_fiber(|| {
                            yield_now().wait();
                            count.fetch_add(1, Ordering::SeqCst);
                        }));
                    }));
                }
            }));
        });
        assert_eq!(count.into_inner(), 5);
    });
}

#[test]
fn a_scope_in_a_fiber_and_a_scope_in_that() {
    each_runtime(|rt| {
        let rt = Arc::new(rt);
        let inner = rt.clone();
        let fiber = rt.spawn_fiber(move || {
            let mut values = [1, 2, 3];
            inner.scope(|s| {
                for value in &mut values {
                    drop(s.spawn_fiber(|| {
                        let mut more = 10;
                        let handle = Handle::current();
                        handle.scope(|s| {
                            drop(s.spawn(async {
                                yield_now().await;
                                more += *value;
                            }));
                        });
                        *value = more;
                    }));
                }
            });
            values
        });
        assert_eq!(fiber.wait().expect("no panic"), [11, 12, 13]);
    });
}

#[test]
fn the_closure_panics() {
    each_runtime(|rt| {
        let ended = AtomicUsize::new(0);
        let raised = payload(|| {
            rt.scope(|s| {
                drop(s.spawn(async {
                    yield_now().await;
                    ended.fetch_add(1, Ordering::SeqCst);
                }));
                drop(s.spawn(async { panic_any(2_u32) }));
                panic_any(1_u32);
            });
        });
        assert_eq!((raised, ended.into_inner()), (1, 1));
    });
}

#[test]
fn a_child_panics() {
    each_runtime(|rt| {
        let ended = AtomicUsize::new(0);
        // Nobody joins it: raised again, when all have ended.
        let raised = payload(|| {
            rt.scope(|s| {
                drop(s.spawn(async { panic_any(7_u32) }));
                drop(s.spawn(async {
                    yield_now().await;
                    ended.fetch_add(1, Ordering::SeqCst);
                }));
            });
        });
        assert_eq!((raised, ended.into_inner()), (7, 1));
        let raised = payload(|| {
            rt.scope(|s| {
                let _kept = s.spawn_fiber(|| panic_any(8_u32));
                yield_now().wait();
            });
        });
        assert_eq!(raised, 8);
        let raised = payload(|| {
            rt.scope(|s| drop(s.spawn_thread(|| panic_any(9_u32))));
        });
        assert_eq!(raised, 9);
        // Joined: it is the joiner's.
        rt.scope(|s| {
            let error = s
                .spawn(async { panic_any(7_u32) })
                .wait()
                .expect_err("it panics");
            assert!(error.is_panic());
        });
        // Forgotten: it is not lost.
        let forgotten = catch_unwind(AssertUnwindSafe(|| {
            rt.scope(|s| std::mem::forget(s.spawn(async { panic_any(7_u32) })));
        }));
        assert!(forgotten.is_err());
    });
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any(5_u32);
    }
}

#[test]
fn destructors_panic() {
    each_runtime(|rt| {
        // The output that nobody wants: nobody is told, whether the child or its handle goes first.
        rt.scope(|s| drop(s.spawn(async { Bomb })));
        rt.scope(|s| {
            let child = s.spawn(async { Bomb });
            while !child.is_finished() {
                yield_now().wait();
            }
            drop(child);
        });
        // The future: the child's panic.
        let raised = payload(|| {
            rt.scope(|s| {
                let bomb = Bomb;
                let child = s.spawn(async move {
                    std::future::pending::<()>().await;
                    drop(bomb);
                });
                child.abort();
            });
        });
        assert_eq!(raised, 5);
    });
}

#[test]
fn a_child_is_aborted() {
    each_runtime(|rt| {
        let mvar = MVar::<u32>::empty();
        rt.scope(|s| {
            let child = s.spawn(async { mvar.take().await });
            let fiber = s.spawn_fiber(|| mvar.take().wait());
            child.abort();
            fiber.abort();
            assert!(child.wait().expect_err("aborted").is_cancelled());
            assert!(fiber.wait().expect_err("aborted").is_cancelled());
        });
        // Its waits have left the line.
        mvar.put(1).wait();
        assert_eq!(mvar.take().wait(), 1);
    });
}

#[test]
fn inside_a_task_it_is_refused() {
    each_runtime(|rt| {
        let handle = rt.handle();
        let task = rt.spawn(async move { handle.scope(|_| ()) });
        let error = task.wait().expect_err("a task must not wait");
        assert!(
            error
                .to_string()
                .contains("scope() was called inside a task, where it would block every other task: use async_scope()"),
            "{error}"
        );
    });
}

#[test]
fn a_handle_is_joined_by_another_child() {
    each_runtime(|rt| {
        let sum = rt.scope(|s| {
            let one = s.spawn(async {
                yield_now().await;
                1
            });
            let two = s.spawn(async move { one.await.expect("no panic") + 1 });
            s.spawn_fiber(move || two.wait().expect("no panic") + 1)
                .wait()
                .expect("no panic")
        });
        assert_eq!(sum, 3);
    });
}

#[test]
fn after_the_runtime_s_end_children_are_cancelled() {
    each_runtime(|rt| {
        let handle = rt.handle();
        drop(rt);
        handle.scope(|s| {
            assert!(
                s.spawn(async { 1 })
                    .wait()
                    .expect_err("no runtime")
                    .is_cancelled()
            );
            assert!(
                s.spawn_fiber(|| 1)
                    .wait()
                    .expect_err("no runtime")
                    .is_cancelled()
            );
            assert_eq!(s.spawn_thread(|| 1).wait().expect("a thread needs none"), 1);
        });
        assert!(
            handle
                .spawn(async { 1 })
                .wait()
                .expect_err("no runtime")
                .is_cancelled()
        );
        assert!(
            handle
                .spawn_blocking(|| 1)
                .wait()
                .expect_err("no runtime")
                .is_cancelled()
        );
    });
}
