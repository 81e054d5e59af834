//! Fibers: closures that stand still.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use gossamer::{Model, Runtime, Wait, sync::MVar, yield_now};

use super::{Random, each_model, runtime, watched};

type SharedMVar = Arc<MVar<u32>>;

fn mvars(count: usize) -> Vec<SharedMVar> {
    (0..count).map(|_| Arc::new(MVar::empty())).collect()
}

/// Waits at the bottom of so many calls.
fn deep(mvar: &MVar<u32>, calls: u32) -> u32 {
    if calls == 0 {
        return mvar.take().wait();
    }
    std::hint::black_box(deep(mvar, calls - 1)) + 1
}

#[test]
fn standing_still_in_the_midst_of_calls() {
    each_model(|model| {
        let rt = runtime(model);
        let mvars = mvars(50);
        let fibers: Vec<_> = mvars
            .iter()
            .cloned()
            .map(|mvar| rt.spawn_fiber(move || deep(&mvar, 100) + deep(&mvar, 50)))
            .collect();
        for mvar in &mvars {
            mvar.put(1).wait();
            mvar.put(2).wait();
        }
        for fiber in fibers {
            assert_eq!(fiber.wait().expect("no panic"), 153);
        }
    });
}

/// Has the members of a ring end, one after the other.
const STOP: u32 = u32::MAX;

/// What a member of a ring passes on, and whether it is the last thing it does.
fn next_token(token: u32) -> (u32, bool) {
    match token {
        0 | STOP => (STOP, true),
        token => (token - 1, false),
    }
}

#[test]
fn a_ring_of_tasks_fibers_and_threads() {
    each_model(|model| {
        let rt = runtime(model);
        let ring = mvars(30);
        let members: Vec<_> = (0..ring.len())
            .map(|at| {
                let (own, next) = (ring[at].clone(), ring[(at + 1) % ring.len()].clone());
                if at % 3 == 0 {
                    return rt.spawn(async move {
                        loop {
                            let token = own.take().await;
                            let (passed_on, last) = next_token(token);
                            next.put(passed_on).await;
                            if last {
                                return token == 0;
                            }
                        }
                    });
                }
                let pass_on = move || {
                    loop {
                        let token = own.take().wait();
                        let (passed_on, last) = next_token(token);
                        next.put(passed_on).wait();
                        if last {
                            return token == 0;
                        }
                    }
                };
                if at % 3 == 1 {
                    rt.spawn_fiber(pass_on)
                } else {
                    rt.spawn_thread(pass_on)
                }
            })
            .collect();
        ring[0].put(3_007).wait();
        let won: Vec<bool> = members
            .into_iter()
            .map(|member| member.wait().expect("no panic"))
            .collect();
        assert!(
            won.iter()
                .enumerate()
                .all(|(at, won)| *won == (at == 3_007 % 30))
        );
    });
}

#[test]
fn a_panic_is_the_fiber_s_own() {
    each_model(|model| {
        let rt = runtime(model);
        let mvar = Arc::new(MVar::<u32>::empty());
        let from = mvar.clone();
        let ill = rt.spawn_fiber(move || {
            let value = from.take().wait();
            panic_any(value);
        });
        let well = rt.spawn_fiber(|| {
            yield_now().wait();
            5
        });
        mvar.put(7).wait();
        let payload = ill.wait().expect_err("it panicked").try_into_panic();
        assert_eq!(payload.expect("a panic").downcast_ref(), Some(&7_u32));
        assert_eq!(well.wait().expect("unharmed"), 5);
    });
}

/// Adds one when it is dropped.
struct Counts(Arc<AtomicUsize>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn an_abort_unwinds_the_stack() {
    each_model(|model| {
        let rt = runtime(model);
        let mvar = Arc::new(MVar::<u32>::empty());
        let begun = Arc::new(MVar::<()>::empty());
        let dropped = Arc::new(AtomicUsize::new(0));
        let (from, begins, counts) = (mvar.clone(), begun.clone(), Counts(dropped.clone()));
        let fiber = rt.spawn_fiber(move || {
            let _counts = counts;
            begins.put(()).wait();
            // Who catches the unwinding meets it again at the next wait.
            let caught = catch_unwind(AssertUnwindSafe(|| from.take().wait()));
            assert!(caught.is_err(), "nothing was put");
            from.take().wait()
        });
        begun.take().wait();
        assert_eq!(dropped.load(Ordering::SeqCst), 0);
        fiber.abort();
        assert!(fiber.wait().expect_err("aborted").is_cancelled());
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
        assert_eq!(mvar.try_put(1), Ok(()));
    });
}

#[test]
fn the_end_of_the_runtime_unwinds_all_stacks() {
    each_model(|model| {
        let rt = runtime(model);
        let never = Arc::new(MVar::<u32>::empty());
        let dropped = Arc::new(AtomicUsize::new(0));
        let begun = Arc::new(AtomicUsize::new(0));
        let fibers: Vec<_> = (0..40)
            .map(|at| {
                let (never, counts) = (never.clone(), Counts(dropped.clone()));
                let begun = begun.clone();
                rt.spawn_fiber(move || {
                    let _counts = counts;
                    begun.fetch_add(1, Ordering::SeqCst);
                    if at % 2 == 0 {
                        never.take().wait();
                    }
                })
            })
            .collect();
        // Some have not begun, some stand still, some have ended.
        fibers
            .into_iter()
            .nth(1)
            .expect("there are 40")
            .wait()
            .expect("it ends");
        drop(rt);
        assert_eq!(dropped.load(Ordering::SeqCst), 40);
        assert!(begun.load(Ordering::SeqCst) > 0);
    });
}

#[test]
fn a_destructor_that_waits_while_its_fiber_unwinds() {
    struct Waits(SharedMVar);
    impl Drop for Waits {
        fn drop(&mut self) {
            assert_eq!(self.0.take().wait(), 9);
        }
    }
    each_model(|model| {
        let rt = runtime(model);
        let (never, last) = (
            Arc::new(MVar::<u32>::empty()),
            Arc::new(MVar::<u32>::empty()),
        );
        let begun = Arc::new(MVar::<()>::empty());
        let (waits, puts, begins) = (Waits(last.clone()), last.clone(), begun.clone());
        let fiber = rt.spawn_fiber(move || {
            let _waits = waits;
            begins.put(()).wait();
            never.take().wait();
        });
        begun.take().wait();
        let thread = rt.spawn_thread(move || puts.put(9).wait());
        fiber.abort();
        assert!(fiber.wait().expect_err("aborted").is_cancelled());
        thread.wait().expect("no panic");
    });
}

/// What is not `Send` lives on a fiber's stack, while tasks are stolen and pulled all around.
#[test]
fn a_fiber_stays_with_its_thread() {
    const ROUNDS: u32 = 400;
    each_model(|model| {
        let rt = runtime(model);
        let mvars = mvars(16);
        let fibers: Vec<_> = (0..16)
            .map(|at| {
                let (own, next) = (mvars[at].clone(), mvars[(at + 1) % 16].clone());
                rt.spawn_fiber(move || {
                    let here = thread::current().id();
                    let log = Rc::new(RefCell::new(Vec::new()));
                    for round in 0..ROUNDS {
                        if at == 0 {
                            next.put(round).wait();
                        }
                        log.borrow_mut().push(own.take().wait());
                        assert_eq!(thread::current().id(), here);
                        if at != 0 {
                            next.put(round).wait();
                        }
                        yield_now().wait();
                    }
                    log.borrow().len()
                })
            })
            .collect();
        let tasks: Vec<_> = (0..16)
            .map(|_| {
                rt.spawn(async {
                    for _ in 0..ROUNDS {
                        yield_now().await;
                    }
                })
            })
            .collect();
        for fiber in fibers {
            assert_eq!(fiber.wait().expect("no panic"), ROUNDS as usize);
        }
        for task in tasks {
            task.wait().expect("no panic");
        }
    });
}

/// Pairs of fibers that pass numbers while workers come and go; each finds itself on one thread all the time.
#[test]
fn fibers_outlast_their_workers() {
    for seed in 1..20_u64 {
        watched(&format!("seed {seed}"), move || {
            let rt = runtime(Model::Pool { workers: 6 });
            let mut random = Random(seed);
            let fibers: Vec<_> = (0..12)
                .flat_map(|_| {
                    let (there, back) = (Arc::new(MVar::<u32>::empty()), Arc::new(MVar::empty()));
                    let (from, to) = (there.clone(), back.clone());
                    let pass = |from: SharedMVar, to: SharedMVar, first: bool| {
                        move || {
                            let here = thread::current().id();
                            for number in 0..200 {
                                if first {
                                    to.put(number).wait();
                                }
                                assert_eq!(from.take().wait(), number);
                                if !first {
                                    to.put(number).wait();
                                }
                                assert_eq!(thread::current().id(), here);
                            }
                        }
                    };
                    [
                        rt.spawn_fiber(pass(from, to, false)),
                        rt.spawn_fiber(pass(back, there, true)),
                    ]
                })
                .collect();
            for _ in 0..30 {
                let workers = random.below(8) as usize + 1;
                rt.resize(workers).wait().expect("it can be resized");
                assert_eq!(rt.metrics().expect("a pool").workers, workers);
            }
            for fiber in fibers {
                fiber.wait().expect("no panic");
            }
        });
    }
}

#[test]
fn a_worker_that_drains_is_started_again() {
    watched("started again", || {
        let rt = runtime(Model::Pool { workers: 4 });
        let (gates, begun) = (mvars(4), Arc::new(MVar::<()>::empty()));
        // Four fibers on four workers: none ends its first turn before all have begun.
        let fibers: Vec<_> = gates
            .iter()
            .cloned()
            .map(|gate| {
                let begins = begun.clone();
                rt.spawn_fiber(move || {
                    begins.put(()).wait();
                    gate.take().wait()
                })
            })
            .collect();
        for _ in 0..4 {
            begun.take().wait();
        }
        rt.resize(1).wait().expect("it can be resized");
        let few = rt.metrics().expect("a pool");
        assert_eq!(few.workers, 1);
        rt.resize(4).wait().expect("it can be resized");
        let many = rt.metrics().expect("a pool");
        assert_eq!((many.workers, many.draining), (4, 0));
        rt.resize(1).wait().expect("it can be resized");
        for (number, gate) in gates.iter().enumerate() {
            gate.put(number as u32).wait();
        }
        for (number, fiber) in fibers.into_iter().enumerate() {
            assert_eq!(fiber.wait().expect("no panic"), number as u32);
        }
    });
}

#[test]
fn fibers_spawn_fibers_and_join_them() {
    fn sum(rt: &Arc<Runtime>, depth: u32) -> u32 {
        if depth == 0 {
            return 1;
        }
        let halves = [(), ()].map(|()| {
            let inner = rt.clone();
            rt.spawn_fiber(move || sum(&inner, depth - 1))
        });
        halves
            .map(|half| half.wait().expect("no panic"))
            .iter()
            .sum()
    }
    each_model(|model| {
        let rt = Arc::new(runtime(model));
        let inner = rt.clone();
        let all = rt.spawn_fiber(move || sum(&inner, 5));
        assert_eq!(all.wait().expect("no panic"), 32);
    });
}

#[test]
fn a_closure_may_be_large() {
    #[repr(align(128))]
    struct Aligned(u64);
    each_model(|model| {
        let rt = runtime(model);
        let numbers = [1_u64; 1_000];
        let fiber = rt.spawn_fiber(move || numbers.iter().sum::<u64>());
        assert_eq!(fiber.wait().expect("no panic"), 1_000);
        let aligned = Aligned(7);
        let fiber = rt.spawn_fiber(move || {
            let address = (&raw const aligned).addr();
            (address % 128, aligned.0)
        });
        assert_eq!(fiber.wait().expect("no panic"), (0, 7));
    });
}

/// Uses ten kilobytes for each call.
fn roomy(calls: u32) -> u32 {
    let room = std::hint::black_box([calls as u8; 10_000]);
    match calls {
        0 => 0,
        _ => roomy(calls - 1) + u32::from(std::hint::black_box(room)[9] == calls as u8),
    }
}

#[test]
fn a_fiber_has_the_stack_that_its_builder_was_told() {
    each_model(|model| {
        let rt = runtime(model);
        let fiber = rt.task().stack_size(8 << 20).spawn_fiber(|| roomy(200));
        assert_eq!(fiber.wait().expect("no panic"), 200);
        let refused = rt.task().stack_size(1_000).try_spawn_fiber(|| 1);
        let refused = refused.expect_err("nothing fits");
        assert!(
            refused
                .error
                .to_string()
                .starts_with("a stack of 1000 bytes")
        );
        assert_eq!((refused.future)(), 1);
    });
}

#[test]
fn a_blocking_call_inside_a_fiber_is_refused() {
    each_model(|model| {
        let rt = Arc::new(runtime(model));
        let inner = Arc::downgrade(&rt);
        let fiber = rt.spawn_fiber(move || inner.upgrade().expect("it lives").block_on(async {}));
        let payload = fiber.wait().expect_err("refused").try_into_panic();
        let text = payload
            .expect("a panic")
            .downcast::<String>()
            .expect("a text");
        assert!(text.contains("inside a fiber"), "{text}");
    });
}

#[test]
fn a_runtime_with_fibers_is_run_by_their_thread_alone() {
    watched("single", || {
        let rt = runtime(Model::Single);
        let mvar = Arc::new(MVar::<u32>::empty());
        let from = mvar.clone();
        let fiber = rt.spawn_fiber(move || from.take().wait());
        rt.block_on(yield_now());
        thread::scope(|scope| {
            let refused = scope.spawn(|| catch_unwind(AssertUnwindSafe(|| rt.block_on(async {}))));
            let payload = refused.join().expect("caught").expect_err("refused");
            let text = payload.downcast_ref::<&str>().expect("a text");
            assert!(
                text.contains("fibers that began on another thread"),
                "{text}"
            );
        });
        mvar.put(3).wait();
        assert_eq!(fiber.wait().expect("no panic"), 3);
        // Without fibers anybody may.
        thread::scope(|scope| {
            scope.spawn(|| rt.block_on(async {}));
        });
    });
}

#[test]
fn what_waits_inside_a_poll_on_a_fiber_stands_still_too() {
    each_model(|model| {
        let rt = runtime(model);
        let mvar = Arc::new(MVar::<u32>::empty());
        let from = mvar.clone();
        let fiber = rt.spawn_fiber(move || async { from.take().wait() + from.take().await }.wait());
        mvar.put(1).wait();
        mvar.put(2).wait();
        assert_eq!(fiber.wait().expect("no panic"), 3);
    });
}
