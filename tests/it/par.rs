//! Computing in parallel: what it promises under every model, from threads, tasks and fibers.

mod experiments;
mod handed;
mod panics;
mod sorting;

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::thread;

use gossamer::{Model, Runtime, Wait, par};

use crate::contract::SIM;
use crate::models::{MODELS, patience, runtime, watched};
use crate::patience::Patience;

/// Where a computation is called.
#[derive(Debug, Clone, Copy)]
enum From {
    Thread,
    BlockOn,
    Task,
    Fiber,
    Compute,
    Nowhere,
}

const FROM: [From; 6] = [
    From::Thread,
    From::BlockOn,
    From::Task,
    From::Fiber,
    From::Compute,
    From::Nowhere,
];

/// Runs `body` there.
fn called<R: Send + 'static>(rt: &Runtime, from: From, body: fn() -> R) -> R {
    match from {
        From::Thread => rt.enter(body),
        From::BlockOn => rt.block_on(async { body() }),
        From::Task => rt.spawn(async move { body() }).wait().expect("no panic"),
        From::Fiber => rt.spawn_fiber(body).wait().expect("no panic"),
        From::Compute => {
            let task = rt.spawn(async move { par::compute(body).await });
            task.wait().expect("no panic")
        }
        From::Nowhere => body(),
    }
}

/// Runs `body` under each model, from everywhere.
fn from_everywhere(body: fn()) {
    for model in MODELS {
        for from in FROM {
            watched(&format!("{model}, {from:?}"), move || {
                called(&runtime(model), from, body);
            });
        }
    }
}

fn fibonacci(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = par::join(|| fibonacci(n - 1), || fibonacci(n - 2));
    a + b
}

#[test]
fn both_are_called_and_give_their_results() {
    from_everywhere(|| {
        assert_eq!(fibonacci(16), 987);
        let mut words = ["a".to_owned(), "b".to_owned()];
        let (first, second) = words.split_at_mut(1);
        par::join(|| first[0].push('1'), || second[0].push('2'));
        assert_eq!(words, ["a1", "b2"]);
    });
}

#[test]
fn a_map_is_in_order() {
    from_everywhere(|| {
        for len in [0, 1, 2, 3, 1000] {
            let squares: Vec<usize> = (0..len).map(|n| n * n).collect();
            assert_eq!(par::map(0..len, |n| n * n), squares);
            assert_eq!(par::map(&squares, |&square| square), squares);
            let texts = par::map(&squares[..], usize::to_string);
            assert!(texts.iter().zip(&squares).all(|(a, b)| *a == b.to_string()));
        }
        assert_eq!(par::map(0..3u32, |_| ()), [(); 3]);
    });
}

#[test]
fn each_item_comes_once() {
    from_everywhere(|| {
        let mut numbers = vec![0; 1000];
        par::for_each(&mut numbers, |number| *number += 1);
        assert!(numbers.iter().all(|&number| number == 1));
        let seen: Vec<_> = (0..100).map(|_| AtomicUsize::new(0)).collect();
        par::for_each(0..100usize, |at| {
            seen[at].fetch_add(1, Ordering::Relaxed);
        });
        assert!(seen.iter().all(|seen| seen.load(Ordering::Relaxed) == 1));
    });
}

#[test]
fn a_reduction_combines_in_order() {
    from_everywhere(|| {
        let words: Vec<String> = (0..500).map(|n: u32| format!("{n},")).collect();
        let text = par::reduce(
            &words,
            String::new,
            |text, word| text + word,
            |text, next| text + &next,
        );
        assert_eq!(text, words.concat());
        assert_eq!(par::reduce(0..0u64, || 7, |a, b| a + b, |a, b| a + b), 7);
    });
}

#[test]
fn chunks_are_those_of_a_slice() {
    from_everywhere(|| {
        let numbers: Vec<u32> = (0..103).collect();
        for size in [1, 2, 10, 103, 1000] {
            let chunks = par::map(par::chunks(&numbers, size), <[u32]>::to_vec);
            let expected: Vec<Vec<u32>> = numbers.chunks(size).map(<[u32]>::to_vec).collect();
            assert_eq!(chunks, expected);
            let mut lens = numbers.clone();
            par::for_each(par::chunks_mut(&mut lens, size), |chunk| {
                chunk.fill(u32::try_from(chunk.len()).expect("a few"));
            });
            assert_eq!(lens[0] as usize, size.min(103));
            assert_eq!(lens[102] as usize, (103 - 1) % size + 1);
        }
    });
}

#[test]
fn ranges_of_all_integers_are_split() {
    from_everywhere(|| {
        let from_to = par::map(i8::MIN..i8::MAX, |n| n);
        assert!(from_to.into_iter().eq(i8::MIN..i8::MAX));
        let sum = |range| par::reduce(range, || 0, |a, b| a + b, |a, b| a + b);
        let nothing = std::ops::Range { start: 3, end: -5 };
        assert_eq!((sum(-5..3), sum(nothing)), (-12, 0));
        assert_eq!(par::map(u64::MAX - 3..u64::MAX, |n| n % 10), [2, 3, 4]);
    });
}

#[test]
#[should_panic(expected = "chunks of 0 items")]
fn chunks_have_items() {
    par::for_each(par::chunks(&[1, 2, 3], 0), |_| ());
}

/// Has parts wait for each other until so many threads have come.
fn meet(threads: usize, met: &Mutex<HashSet<thread::ThreadId>>) {
    let mut patience = Patience::new(patience());
    loop {
        let mut met = met.lock().expect("no panic under it");
        met.insert(thread::current().id());
        if met.len() >= threads {
            return;
        }
        drop(met);
        assert!(!patience.is_over(), "{threads} threads do not come");
        thread::yield_now();
    }
}

#[test]
fn workers_help() {
    for from in [
        From::Thread,
        From::BlockOn,
        From::Task,
        From::Fiber,
        From::Compute,
    ] {
        for workers in [2, 4] {
            watched(&format!("{workers}, {from:?}"), move || {
                let rt = runtime(Model::Pool { workers });
                match workers {
                    2 => called(&rt, from, || all_meet(2)),
                    _ => called(&rt, from, || all_meet(4)),
                }
            });
        }
    }
}

fn all_meet(threads: usize) {
    let met = Mutex::default();
    par::for_each(0..64usize, |_| meet(threads, &met));
    assert_eq!(met.lock().expect("no panic under it").len(), threads);
}

#[test]
fn what_is_left_of_a_part_is_split() {
    watched("pool:2", || {
        let rt = runtime(Model::Pool { workers: 2 });
        let done = [(); 64].map(|()| AtomicUsize::new(0));
        let wait_for = |items: std::ops::Range<usize>| {
            let mut patience = Patience::new(patience());
            while done[items.clone()]
                .iter()
                .any(|done| done.load(Ordering::SeqCst) == 0)
            {
                assert!(!patience.is_over(), "nobody comes for {items:?}");
                thread::yield_now();
            }
        };
        rt.enter(|| {
            par::for_each(0..64usize, |at| {
                match at {
                    // A worker has taken all other parts, and done them.
                    0 => wait_for(16..64),
                    // It comes for the rest of this one.
                    5 => wait_for(12..13),
                    _ => {}
                }
                done[at].store(1, Ordering::SeqCst);
            });
        });
    });
}

#[test]
fn it_follows_a_resize() {
    watched("pool:1 to pool:3", || {
        let rt = runtime(Model::Pool { workers: 1 });
        let met = Mutex::default();
        rt.scope(|s| {
            s.spawn_thread(|| rt.enter(|| par::for_each(0..64usize, |_| meet(3, &met))));
            while met.lock().expect("no panic under it").is_empty() {
                thread::yield_now();
            }
            rt.resize(3).wait().expect("two more threads");
        });
    });
}

#[test]
fn a_runtime_of_one_thread_computes_there() {
    watched("single", || {
        let rt = runtime(Model::Single);
        let here = thread::current().id();
        let there = rt.enter(|| par::map(0..100u32, |_| thread::current().id()));
        assert!(there.iter().all(|&id| id == here));
    });
}

#[test]
fn tasks_run_while_a_computation_holds_all_workers() {
    watched("pool:2", || {
        let rt = runtime(Model::Pool { workers: 2 });
        let ran = Arc::new(AtomicUsize::new(0));
        let runs = ran.clone();
        let handle = rt.handle();
        let computation = rt.spawn(par::compute(move || {
            let met = Mutex::default();
            par::for_each(0..64usize, |at| {
                meet(2, &met);
                if at == 0 {
                    let runs = runs.clone();
                    drop(handle.spawn(async move { runs.fetch_add(1, Ordering::SeqCst) }));
                }
                let mut patience = Patience::new(patience());
                while runs.load(Ordering::SeqCst) == 0 {
                    assert!(!patience.is_over(), "the task does not run");
                    thread::yield_now();
                }
            });
        }));
        computation.wait().expect("no panic");
        assert_eq!(ran.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_smaller_pool_computes_to_the_end() {
    watched("pool:4 to pool:1", || {
        let rt = runtime(Model::Pool { workers: 4 });
        let met = Mutex::default();
        let is_smaller = AtomicUsize::new(0);
        rt.scope(|s| {
            s.spawn_thread(|| {
                let sum = rt.enter(|| {
                    par::reduce(
                        0..1000usize,
                        || 0,
                        |sum, n| {
                            meet(3, &met);
                            while is_smaller.load(Ordering::SeqCst) == 0 {
                                thread::yield_now();
                            }
                            sum + n
                        },
                        |a, b| a + b,
                    )
                });
                assert_eq!(sum, 499_500);
                // The next one has a single worker, and no helper.
                let met = Mutex::<HashSet<_>>::default();
                rt.enter(|| {
                    par::for_each(0..64, |_| {
                        let here = thread::current().id();
                        met.lock().expect("no panic under it").insert(here);
                    });
                });
                assert_eq!(met.lock().expect("no panic under it").len(), 1);
            });
            while met.lock().expect("no panic under it").len() < 3 {
                thread::yield_now();
            }
            let resize = rt.resize(1);
            let mut resize = std::pin::pin!(resize);
            let _begun = resize
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            is_smaller.store(1, Ordering::SeqCst);
            resize.wait().expect("nobody resizes otherwise");
        });
    });
}

#[test]
fn a_runtime_inside_another_one_computes_too() {
    watched("pool:2 in pool:2", || {
        let outer = runtime(Model::Pool { workers: 2 });
        let task = outer.spawn(async {
            let inner = runtime(Model::Pool { workers: 2 });
            let own = par::map(0..100u64, |n| n).len();
            own + inner.enter(|| par::map(0..100u64, |n| n)).len()
        });
        assert_eq!(task.wait().expect("no panic"), 200);
    });
}

#[test]
fn a_part_may_drop_the_runtime_while_a_worker_waits_for_it() {
    watched("pool:2", || {
        let rt = runtime(Model::Pool { workers: 2 });
        let handle = rt.handle();
        let (ends, has_ended) = std::sync::mpsc::channel();
        let work = move || {
            let met = Mutex::default();
            // Each is one worker's; the first one then waits for the second.
            par::join(
                || meet(2, &met),
                || {
                    meet(2, &met);
                    drop(rt);
                    ends.send(()).expect("the test waits for it");
                },
            );
        };
        drop(handle.spawn(par::compute(work)));
        has_ended.recv().expect("it does not panic");
    });
}

#[test]
fn a_simulation_computes_in_order() {
    for seed in 0..20 {
        let ran = SIM.run(seed, || async {
            let here = thread::current().id();
            let in_task = par::map(0..10u32, |n| (n, thread::current().id()));
            assert!((0..).zip(&in_task).all(|(n, seen)| *seen == (n, here)));
            let handed = par::compute(|| par::reduce(0..10u32, || 0, |a, b| a + b, |a, b| a + b));
            assert_eq!(handed.await, 45);
            let thread = gossamer::spawn_thread(|| fibonacci(10));
            assert_eq!(thread.await.expect("no panic"), 55);
        });
        ran.unwrap_or_else(|failure| panic!("{failure}"));
    }
}

#[test]
fn many_compute_at_once() {
    for model in MODELS {
        watched(&model.to_string(), move || {
            let rt = runtime(model);
            rt.scope(|s| {
                for round in 0..20u64 {
                    let body = move || {
                        let sums = par::map(0..10 + round, |n| {
                            let squares = par::map(0..n, |n| n * n);
                            par::reduce(&squares, || 0, |a, b| a + b, |a, b| a + b)
                        });
                        let expected = |n: u64| (0..n).map(|n| n * n).sum::<u64>();
                        assert!((0..).zip(sums).all(|(n, sum)| sum == expected(n)));
                    };
                    drop(s.spawn(async move { body() }));
                    drop(s.spawn_fiber(body));
                    drop(s.spawn(async move { par::compute(body).await }));
                }
            });
        });
    }
}

#[test]
fn it_computes_while_a_thread_ends() {
    struct Computes;
    impl Drop for Computes {
        fn drop(&mut self) {
            assert_eq!(fibonacci(5), 5);
        }
    }
    thread_local!(static AT_END: Computes = const { Computes });
    watched("a destructor", || {
        let rt = runtime(Model::Pool { workers: 2 });
        let thread = rt.spawn_thread(|| AT_END.with(|_| ()));
        thread.wait().expect("no panic");
    });
}
