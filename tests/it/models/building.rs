//! What a builder makes of what it is told, and what it refuses.

use std::error::Error;
use std::fmt::Display;
use std::hint::black_box;
use std::io::ErrorKind;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use gossamer::{Handle, Model, Runtime, Wait, blocking, spawn_local, task};
use gossamer_sched::Fifo;

use super::{FIBERS, MODELS, each_model, watched};
use crate::hand::Hand;

/// How many workers a runtime of the default model has.
fn default_workers() -> Option<usize> {
    let Model::Pool { workers } = Model::default() else {
        panic!("the default is a pool");
    };
    Some(workers)
}

#[test]
fn there_is_one_default_model() {
    for rt in [Runtime::new(), Runtime::builder().build()] {
        let rt = rt.expect("a runtime can be built");
        assert_eq!(rt.metrics().map(|of| of.workers), default_workers());
    }
}

/// What parsers of command lines ask of a type, clap among them.
#[test]
fn a_model_is_an_argument() {
    fn parsed<T>(text: &str) -> Result<T, Box<dyn Error>>
    where
        T: FromStr<Err: Error + Send + Sync + 'static> + Clone + Display + Send + Sync + 'static,
    {
        Ok(text.parse::<T>()?)
    }
    for model in MODELS {
        assert_eq!(parsed::<Model>(&model.to_string()).expect("a model"), model);
    }
    let error = parsed::<Model>("pol:4").expect_err("no model");
    let says = r#""pol:4" is no threading model: expected single, pool, pool:N (N from 1 to 1024), or threads"#;
    // As a `main` that returns it prints it, too.
    assert_eq!(
        (error.to_string(), format!("{error:?}")),
        (says.into(), says.into())
    );
}

#[test]
fn an_order_of_ones_own_is_not_ignored() {
    let builder = || Runtime::builder().scheduler(Fifo::default());
    let threads = || builder().model(Model::Threads);
    for (built, name) in [(builder().build(), "pool:"), (threads().build(), "threads")] {
        let error = built.expect_err("only one model has such an order");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let text = error.to_string();
        assert!(
            text.contains(name) && text.contains(".model(Model::Single)"),
            "{text}"
        );
    }
    let single = builder().model(Model::Single).build();
    assert_eq!(single.expect("a runtime").block_on(async { 1 }), 1);
}

fn thread_name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

#[test]
fn threads_have_the_names_they_are_given() {
    each_model(|model| {
        let rt = Runtime::builder().model(model).thread_name("mine");
        let rt = rt.build().expect("a runtime can be built");
        let task = rt.spawn(async { thread_name() }).wait().expect("no panic");
        assert_eq!(task == "mine", model != Model::Single, "{task}");
        let called = rt.spawn_blocking(thread_name).wait().expect("no panic");
        assert_eq!(called, "mine");
        drop(rt);
        let count = AtomicUsize::new(0);
        let name = move || format!("mine-{}", count.fetch_add(1, Ordering::Relaxed));
        let rt = Runtime::builder().model(model).thread_name_fn(name);
        let rt = rt.build().expect("a runtime can be built");
        let called = rt.spawn_blocking(thread_name).wait().expect("no panic");
        assert!(called.starts_with("mine-"), "{called}");
    });
}

#[test]
fn a_thread_without_a_name_does_not_start() {
    watched("names", || {
        let pool = || Runtime::builder().model(Model::Pool { workers: 2 });
        let error = pool().thread_name_fn(|| panic!("planned")).build();
        let text = error.expect_err("no name").to_string();
        assert!(text.contains("names the threads has panicked"), "{text}");
        let error = pool().thread_name("a\0b").build();
        let text = error.expect_err("no name").to_string();
        assert!(text.contains("zero byte"), "{text}");
    });
}

/// Uses so many KiB of the stack.
fn deep(kib: usize) -> usize {
    let used = black_box([1_u8; 1 << 10]);
    match kib {
        0 => 0,
        _ => deep(kib - 1) + usize::from(used[kib % used.len()]),
    }
}

#[test]
fn stacks_are_as_large_as_they_are_asked_to_be() {
    each_model(|model| {
        let builder = Runtime::builder()
            .model(model)
            .thread_stack_size(64 << 20)
            .fibers(FIBERS.stack_size(32 << 20));
        let rt = builder.build().expect("a runtime can be built");
        // Twice what a thread has by itself.
        const KIB: usize = 4 << 10;
        assert_eq!(
            rt.spawn_blocking(|| deep(KIB)).wait().expect("no panic"),
            KIB
        );
        assert_eq!(rt.spawn_fiber(|| deep(KIB)).wait().expect("no panic"), KIB);
        if model != Model::Single {
            assert_eq!(rt.spawn(async { deep(KIB) }).wait().expect("no panic"), KIB);
        }
    });
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (tiny, huge) = (FIBERS.stack_size(1_000), FIBERS.stack_size(usize::MAX));
    let builders = [
        (
            Runtime::builder().fibers(huge),
            "a stack of 18446744073709551615 bytes: a fiber has",
        ),
        (
            Runtime::builder().thread_stack_size(usize::MAX - 100),
            "a stack of 18446744073709551515 bytes: a thread has",
        ),
        (
            Runtime::builder().thread_stack_size(1_000),
            "a stack of 1000 bytes: a thread has 65536",
        ),
        (
            Runtime::builder().fibers(tiny),
            "a stack of 1000 bytes: a fiber has 16384",
        ),
        (
            Runtime::builder().max_blocking_threads(0),
            "0 threads for calls that block",
        ),
    ];
    for (builder, says) in builders {
        let error = builder.build().expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().starts_with(says), "{error}");
    }
    // One that the system has no memory for.
    let fibers = FIBERS.stack_size(isize::MAX as usize);
    let rt = Runtime::builder().model(Model::Single).fibers(fibers);
    let rt = rt.build().expect("a runtime can be built");
    let refused = rt.try_spawn_fiber(|| 1).expect_err("no memory");
    assert!(
        refused.error.to_string().starts_with("no memory for"),
        "{refused}"
    );
}

#[test]
fn only_a_pool_has_workers() {
    for model in [Model::Single, Model::Threads] {
        let rt = Runtime::builder().model(model).workers(3).build();
        assert!(rt.expect("a runtime").metrics().is_none());
    }
}

#[test]
fn no_more_threads_for_calls_than_allowed() {
    each_model(|model| {
        let rt = Runtime::builder()
            .model(model)
            .max_blocking_threads(2)
            .thread_keep_alive(Duration::ZERO)
            .build()
            .expect("a runtime can be built");
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let calls: Vec<_> = (0..50)
            .map(|_| {
                let (running, most) = (running.clone(), most.clone());
                rt.spawn_blocking(move || {
                    let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    thread::yield_now();
                    running.fetch_sub(1, Ordering::SeqCst);
                })
            })
            .collect();
        for call in calls {
            call.wait().expect("no panic");
        }
        assert!(most.load(Ordering::SeqCst) <= 2);
    });
}

/// It has a thread already, and there may be no other.
#[test]
fn a_call_that_blocks_inside_another_one() {
    each_model(|model| {
        let rt = Runtime::builder().model(model).max_blocking_threads(1);
        let rt = rt.build().expect("a runtime can be built");
        let call = rt.spawn_blocking(|| blocking(|| 1).wait());
        assert_eq!(call.wait().expect("no panic"), 1);
    });
}

#[test]
fn panics_are_told_of() {
    each_model(|model| {
        let told = Arc::new(Mutex::new(Vec::new()));
        let tells = told.clone();
        let rt = Runtime::builder()
            .model(model)
            .fibers(FIBERS)
            .on_panic(move |panic| {
                // It is the task: it can spawn, and must not wait.
                let spawns = Handle::try_current().is_some();
                let (name, said) = (panic.name.clone(), panic.message().map(str::to_owned));
                tells
                    .lock()
                    .expect("unharmed")
                    .push((panic.id, name, said, spawns));
                panic!("planned: a report that panics");
            })
            .build()
            .expect("a runtime can be built");
        let named = rt.task().name("named").spawn(async { panic!("planned") });
        let fiber = rt.spawn_fiber(|| panic!("planned: {}", 1));
        let call = rt.spawn_blocking(|| std::panic::panic_any(7));
        let mut expected = vec![
            (
                named.id(),
                Some("named".to_owned()),
                Some("planned".to_owned()),
                true,
            ),
            (fiber.id(), None, Some("planned: 1".to_owned()), true),
            (call.id(), None, None, true),
        ];
        // The task that waits for a call panics as it does: that is one panic.
        let waits = rt.spawn(async { blocking(|| panic!("planned: a call")).await });
        expected.push((waits.id(), None, Some("planned: a call".to_owned()), true));
        for handle in [named, fiber, call, waits] {
            assert!(handle.wait().expect_err("it panics").is_panic());
        }
        // Neither what is cancelled, nor what its caller has anyway.
        rt.spawn(std::future::pending::<()>()).abort();
        let root = std::panic::AssertUnwindSafe(|| {
            rt.block_on(async {
                let local = spawn_local(async { panic!("planned: local") });
                let id = local.id();
                assert!(local.await.is_err());
                std::panic::panic_any(id);
            })
        });
        let payload = std::panic::catch_unwind(root).expect_err("it panics");
        let id = *payload.downcast_ref().expect("an id");
        expected.push((id, None, Some("planned: local".to_owned()), true));
        let mut told = told.lock().expect("unharmed").clone();
        told.sort();
        expected.sort();
        assert_eq!(told, expected);
    });
}

/// Nobody waits for it any more: it is told of all the same, once.
#[test]
fn panics_of_calls_that_were_dropped_are_told_of() {
    each_model(|model| {
        let (tells, told) = mpsc::channel();
        let rt = Runtime::builder().model(model).on_panic(move |panic| {
            let is_call = task::try_id() == Some(panic.id);
            let _ = tells.send((panic.message() == Some("planned"), is_call));
        });
        let rt = rt.build().expect("a runtime can be built");
        let (begun, ends) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let (begins, end) = (begun.clone(), ends.clone());
        rt.block_on(async {
            let mut call = Hand::new(blocking(move || {
                begins.wait();
                end.wait();
                panic!("planned");
            }));
            assert!(call.poll().is_pending());
            begun.wait();
        });
        ends.wait();
        assert_eq!(told.recv(), Ok((true, true)));
        // It has panicked, and its task has not come for it; who drops it is none of the runtime's.
        let call = rt.block_on(async {
            let end = ends.clone();
            let mut call = Hand::new(blocking(move || {
                end.wait();
                panic!("planned");
            }));
            assert!(call.poll().is_pending());
            ends.wait();
            while call.wakes() == 0 {
                thread::yield_now();
            }
            call
        });
        assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Empty));
        drop(call);
        assert_eq!(told.recv(), Ok((true, false)));
        drop(rt);
        assert_eq!(told.recv(), Err(mpsc::RecvError));
    });
}
