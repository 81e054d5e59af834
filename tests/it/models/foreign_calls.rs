//! Fibers in the midst of a call of C: what an abort, and the end of the runtime, do then; and C's error number.

use std::cmp::Ordering::{Equal, Greater, Less};
use std::ffi::{c_int, c_void};
use std::future::pending;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;

use gossamer::sync::MVar;
use gossamer::{Handle, Model, Runtime, Wait, foreign, spawn_thread, yield_now};

use super::{each_model, runtime, watched};
use crate::contract::SIM;

/// The comparisons that a sort asks for, and the answers.
#[derive(Default)]
struct Asked {
    question: MVar<[u32; 2]>,
    answer: MVar<c_int>,
}

/// A number that is compared by asking.
struct Item<'a>(u32, &'a Asked);

/// # Safety
/// Both point at items.
unsafe extern "C" fn compare(left: *const c_void, right: *const c_void) -> c_int {
    // SAFETY: the caller says so.
    let [left, right] = [left, right].map(|item| unsafe { &*item.cast::<Item<'_>>() });
    left.1.question.put([left.0, right.0]).wait();
    left.1.answer.take().wait()
}

/// Sorts in C; each comparison waits for somebody's answer.
fn sort_by_asking(numbers: &mut [u32], asked: &Asked) {
    let mut items: Vec<_> = numbers.iter().map(|number| Item(*number, asked)).collect();
    foreign(|| {
        // SAFETY: these are the items, and `compare` is for items.
        unsafe {
            libc::qsort(
                items.as_mut_ptr().cast(),
                items.len(),
                size_of::<Item<'_>>(),
                Some(compare),
            );
        }
    });
    for (number, item) in numbers.iter_mut().zip(items) {
        *number = item.0;
    }
}

fn answer([left, right]: [u32; 2]) -> c_int {
    match left.cmp(&right) {
        Less => -1,
        Equal => 0,
        Greater => 1,
    }
}

/// What a fiber did: it sorts three numbers, and then waits for ever.
#[derive(Default)]
struct Sorter {
    asked: Asked,
    has_sorted: AtomicBool,
}

impl Sorter {
    fn run(&self) {
        let mut numbers = [3, 1, 2];
        sort_by_asking(&mut numbers, &self.asked);
        self.has_sorted
            .store(numbers == [1, 2, 3], Ordering::SeqCst);
        pending::<()>().wait();
    }

    /// The call was whole.
    fn check(&self) {
        assert!(
            self.has_sorted.load(Ordering::SeqCst),
            "the call was broken off"
        );
    }
}

fn some_turns(rt: &Runtime) {
    rt.block_on(async {
        for _ in 0..5 {
            yield_now().await;
        }
    });
}

#[test]
fn an_abort_waits_until_the_call_has_returned() {
    each_model(|model| {
        let rt = runtime(model);
        let sorter = Arc::new(Sorter::default());
        let its = sorter.clone();
        let fiber = rt.spawn_fiber(move || its.run());
        let first = sorter.asked.question.take().wait();
        fiber.abort();
        some_turns(&rt);
        assert!(!fiber.is_finished(), "{model}");
        sorter.asked.answer.put(answer(first)).wait();
        let its = sorter.clone();
        let answers = rt.spawn(async move {
            loop {
                let question = its.asked.question.take().await;
                its.asked.answer.put(answer(question)).await;
            }
        });
        let ended = fiber.wait();
        assert!(ended.is_err_and(|error| error.is_cancelled()), "{model}");
        answers.abort();
        sorter.check();
    });
}

/// The runtime's end comes while the fiber waits in the call, and the answers from a thread that is not the runtime's.
#[test]
fn the_end_of_the_runtime_waits_too() {
    each_model(|model| {
        let rt = runtime(model);
        let sorter = Arc::new(Sorter::default());
        let its = sorter.clone();
        drop(rt.spawn_fiber(move || its.run()));
        let first = sorter.asked.question.take().wait();
        let its = sorter.clone();
        let end = Arc::new(Barrier::new(2));
        let ends = end.clone();
        let answers = thread::spawn(move || {
            ends.wait();
            its.asked.answer.put(answer(first)).wait();
            while !its.has_sorted.load(Ordering::SeqCst) {
                if let Some(question) = its.asked.question.try_take() {
                    its.asked.answer.put(answer(question)).wait();
                }
                thread::yield_now();
            }
        });
        end.wait();
        drop(rt);
        sorter.check();
        answers.join().expect("no panic");
    });
}

/// The same without C, where an unwinding would be no crash.
#[test]
fn a_call_of_rust_is_not_unwound_either() {
    each_model(|model| {
        let rt = runtime(model);
        let (begun, go_on) = (Arc::new(MVar::empty()), Arc::new(MVar::<()>::empty()));
        let has_returned = Arc::new(AtomicBool::new(false));
        let its = (begun.clone(), go_on.clone(), has_returned.clone());
        drop(rt.spawn_fiber(move || {
            foreign(|| {
                its.0.put(()).wait();
                its.1.take().wait();
            });
            its.2.store(true, Ordering::SeqCst);
        }));
        begun.take().wait();
        let end = Arc::new(Barrier::new(2));
        let ends = end.clone();
        let goes_on = thread::spawn(move || {
            ends.wait();
            go_on.put(()).wait();
        });
        end.wait();
        drop(rt);
        assert!(has_returned.load(Ordering::SeqCst), "{model}");
        goes_on.join().expect("no panic");
    });
}

#[test]
fn a_call_inside_a_call_is_part_of_it() {
    each_model(|model| {
        let rt = runtime(model);
        let (begun, go_on) = (Arc::new(MVar::empty()), Arc::new(MVar::<()>::empty()));
        let reached = Arc::new(AtomicU32::new(0));
        let its = (begun.clone(), go_on.clone(), reached.clone());
        let fiber = rt.spawn_fiber(move || {
            let (begun, go_on, reached) = its;
            foreign(|| {
                foreign(|| begun.put(()).wait());
                let panics = catch_unwind(AssertUnwindSafe(|| foreign(|| panic!("planned"))));
                assert!(panics.is_err());
                go_on.take().wait();
                reached.fetch_add(1, Ordering::SeqCst);
            });
            yield_now().wait();
            reached.fetch_add(10, Ordering::SeqCst);
        });
        begun.take().wait();
        fiber.abort();
        some_turns(&rt);
        go_on.put(()).wait();
        assert!(
            fiber.wait().is_err_and(|error| error.is_cancelled()),
            "{model}"
        );
        assert_eq!(reached.load(Ordering::SeqCst), 1, "{model}");
    });
}

/// It makes one call after the other, and never waits in between.
#[test]
fn an_abort_takes_effect_between_two_calls() {
    each_model(|model| {
        let rt = runtime(model);
        let numbers = Arc::new(MVar::<u32>::empty());
        let from = numbers.clone();
        let fiber = rt.spawn_fiber(move || {
            loop {
                foreign(|| from.take().wait());
            }
        });
        numbers.put(1).wait();
        numbers.put(2).wait();
        fiber.abort();
        // It may have ended before it took the second one.
        let _put_or_not = numbers.try_put(3);
        assert!(
            fiber.wait().is_err_and(|error| error.is_cancelled()),
            "{model}"
        );
    });
}

#[test]
fn the_end_of_the_thread_waits_too() {
    watched("single", || {
        let (begun, go_on) = (Arc::new(MVar::empty()), Arc::new(MVar::<()>::empty()));
        let its = (begun.clone(), go_on.clone());
        let (gives, given) = mpsc::channel();
        let owner = thread::spawn(move || {
            let rt = runtime(Model::Single);
            let fiber = rt.spawn_fiber(move || {
                foreign(|| {
                    its.0.put(()).wait();
                    its.1.take().wait();
                });
                pending::<()>().wait();
            });
            begun.take().wait();
            gives.send((rt, fiber)).expect("somebody listens");
        });
        let (rt, fiber) = given.recv().expect("it is given");
        go_on.put(()).wait();
        owner.join().expect("no panic");
        let ended = rt.block_on(fiber);
        assert!(ended.is_err_and(|error| error.is_cancelled()));
    });
}

/// Says when it goes.
struct Gone(Arc<AtomicBool>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Its simulation ends while it is in the call: its OS thread stays.
#[test]
fn a_simulated_thread_is_not_unwound_out_of_a_call() {
    let gone = Arc::new(AtomicBool::new(false));
    let its = gone.clone();
    SIM.explore(0..1, move || {
        let its = its.clone();
        async move {
            let begun = Arc::new(MVar::empty());
            let to = begun.clone();
            drop(spawn_thread(move || {
                foreign(|| {
                    let _gone = Gone(its);
                    to.put(()).wait();
                    pending::<()>().wait();
                });
            }));
            begun.take().await;
        }
    });
    assert!(!gone.load(Ordering::SeqCst), "the call was broken off");
}

/// It was aborted in the call, and never waits after it: it has ended, and nothing was broken off.
#[test]
fn a_fiber_that_ends_with_the_call_has_ended() {
    each_model(|model| {
        let rt = runtime(model);
        let (begun, go_on) = (Arc::new(MVar::empty()), Arc::new(MVar::<u32>::empty()));
        let its = (begun.clone(), go_on.clone());
        let fiber = rt.spawn_fiber(move || {
            foreign(|| {
                its.0.put(()).wait();
                its.1.take().wait()
            })
        });
        begun.take().wait();
        fiber.abort();
        go_on.put(7).wait();
        assert_eq!(
            fiber.wait().expect("nothing was left to be aborted"),
            7,
            "{model}"
        );
    });
}

#[test]
fn tasks_and_threads_only_call() {
    each_model(|model| {
        assert_eq!(foreign(|| 1), 1);
        let rt = runtime(model);
        let task = rt.spawn(async { foreign(|| 2) });
        assert_eq!(task.wait().expect("no panic"), 2);
        let panics = rt.spawn(async { foreign(|| panic!("planned")) });
        assert!(panics.wait().is_err_and(|error| error.is_panic()));
    });
}

#[test]
fn an_abort_at_any_moment_leaves_the_call_whole() {
    SIM.explore(0..10_000, || async {
        let handle = Handle::current();
        let mvar = Arc::new(MVar::<u32>::empty());
        let calls = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        let its = (mvar.clone(), calls.clone());
        let fiber = handle.spawn_fiber(move || {
            for _ in 0..2 {
                foreign(|| {
                    its.1[0].fetch_add(1, Ordering::SeqCst);
                    its.0.take().wait();
                    its.1[1].fetch_add(1, Ordering::SeqCst);
                });
                yield_now().wait();
            }
        });
        let to = mvar.clone();
        let puts = handle.spawn(async move {
            for value in 0..2 {
                to.put(value).await;
            }
        });
        yield_now().await;
        fiber.abort();
        let _cancelled_or_not = fiber.await;
        puts.abort();
        let [begun, returned] = [0, 1].map(|at| calls[at].load(Ordering::SeqCst));
        assert_eq!(begun, returned, "a call was broken off");
    });
}

/// Has C set its error number.
fn fail_in_c(is_first: bool) -> Option<i32> {
    let failed = match is_first {
        // SAFETY: no file has this number.
        true => unsafe { libc::close(-1) },
        // SAFETY: no signal has this number.
        false => unsafe { libc::raise(-1) },
    };
    assert_ne!(failed, 0);
    io::Error::last_os_error().raw_os_error()
}

#[test]
fn each_fiber_has_an_error_number_of_its_own() {
    each_model(|model| {
        let rt = runtime(model);
        let fibers = [true, false].map(|is_first| {
            rt.spawn_fiber(move || {
                for _ in 0..100 {
                    let before = fail_in_c(is_first);
                    yield_now().wait();
                    assert_eq!(io::Error::last_os_error().raw_os_error(), before);
                }
                fail_in_c(is_first)
            })
        });
        let [first, second] = fibers.map(|fiber| fiber.wait().expect("it is its own"));
        assert_ne!(first, second, "{model}");
    });
}
