//! Values of which each task, fiber and thread has its own; and names.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use gossamer::{Model, Runtime, Wait, sync::MVar, task::task_name, task_local, yield_now};

use super::each_runtime;
use crate::models::{runtime, watched};

task_local! {
    static NUMBER: Cell<u32> = Cell::new(7);
    static WORDS: RefCell<Vec<&'static str>> = RefCell::default();
    static COUNTED: Mutex<Option<Counts>> = Mutex::new(None);
    static ILL: Mutex<Option<Bomb>> = Mutex::new(None);
    static FIRST: Late = Late("first");
    static SECOND: Late = Late("second");
    static THIRD: Late = Late("third");
    static TOLD: Mutex<Option<Arc<Mutex<Vec<String>>>>> = Mutex::new(None);
}

/// Counts its drops.
struct Counts(Arc<AtomicUsize>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("planned");
    }
}

/// Uses other values when it is destroyed.
struct Late(&'static str);

impl Drop for Late {
    fn drop(&mut self) {
        let own = FIRST.try_with(|_| ()).is_ok();
        let others = (
            SECOND.try_with(|_| ()).is_ok(),
            THIRD.try_with(|_| ()).is_ok(),
        );
        let told = TOLD.with(|told| told.lock().expect("no panic").clone());
        if let Some(told) = told {
            let said = format!("{}: {own} {others:?}", self.0);
            told.lock().expect("no panic").push(said);
        }
    }
}

#[test]
fn each_has_its_own() {
    each_runtime(|rt| {
        NUMBER.set(100);
        let tasks: Vec<_> = (0..20)
            .map(|number| {
                let body = async move {
                    for _ in 0..number {
                        assert!(NUMBER.get() < 7 + number);
                        NUMBER.set(NUMBER.get() + 1);
                        yield_now().await;
                    }
                    NUMBER.get()
                };
                if number % 2 == 0 {
                    rt.spawn(body)
                } else {
                    rt.spawn_fiber(move || {
                        for _ in 0..number {
                            NUMBER.set(NUMBER.get() + 1);
                            yield_now().wait();
                        }
                        NUMBER.get()
                    })
                }
            })
            .collect();
        let thread = rt.spawn_thread(|| NUMBER.replace(8));
        for (number, task) in tasks.into_iter().enumerate() {
            assert_eq!(task.wait().expect("no panic"), 7 + number as u32);
        }
        assert_eq!(thread.wait().expect("no panic"), 7);
        // The future of a block_on is a task; the thread has its own.
        assert_eq!(rt.block_on(async { NUMBER.get() }), 7);
        assert_eq!(NUMBER.get(), 100);
    });
}

#[test]
fn a_fiber_waits_with_the_value_in_use() {
    each_runtime(|rt| {
        let mvar = Arc::new(MVar::<&'static str>::empty());
        let from = mvar.clone();
        let fiber = rt.spawn_fiber(move || {
            WORDS.with(|words| {
                let mut words = words.borrow_mut();
                words.push(from.take().wait());
                words.push(from.take().wait());
                words.len()
            })
        });
        let other = rt.spawn(async { WORDS.with(|words| words.borrow().len()) });
        mvar.put("one").wait();
        mvar.put("two").wait();
        assert_eq!(other.wait().expect("no panic"), 0);
        assert_eq!(fiber.wait().expect("no panic"), 2);
    });
}

/// Whoever joins finds them gone; also of those that are aborted, or panic, or whose runtime ends.
#[test]
fn they_go_with_their_task() {
    each_runtime(|rt| {
        let drops = Arc::new(AtomicUsize::new(0));
        let keep = |drops: &Arc<AtomicUsize>| {
            let counts = Counts(drops.clone());
            COUNTED.with(|kept| *kept.lock().expect("no panic") = Some(counts));
        };
        let all = [(); 4].map(|()| drops.clone());
        let [one, two, three, four] = all;
        rt.spawn(async move { keep(&one) })
            .wait()
            .expect("no panic");
        assert_eq!(drops.load(Ordering::SeqCst), 1);
        rt.spawn_fiber(move || keep(&two)).wait().expect("no panic");
        assert_eq!(drops.load(Ordering::SeqCst), 2);
        rt.spawn_thread(move || keep(&three))
            .wait()
            .expect("no panic");
        assert_eq!(drops.load(Ordering::SeqCst), 3);
        let panics = rt.spawn(async move {
            keep(&four);
            std::panic::resume_unwind(Box::new("planned"));
        });
        assert!(panics.wait().is_err());
        assert_eq!(drops.load(Ordering::SeqCst), 4);
        let told = Arc::new(MVar::empty());
        let left: Vec<_> = (0..4)
            .map(|_| {
                let (drops, tells) = (drops.clone(), told.clone());
                rt.spawn(async move {
                    keep(&drops);
                    tells.put(()).await;
                    std::future::pending::<()>().await;
                })
            })
            .collect();
        for _ in 0..4 {
            told.take().wait();
        }
        left[0].abort();
        drop(rt);
        for task in left {
            assert!(task.wait().expect_err("ended").is_cancelled());
        }
        assert_eq!(drops.load(Ordering::SeqCst), 8);
    });
}

#[test]
fn a_task_that_moves_takes_them_along() {
    watched("pool", || {
        let rt = runtime(Model::Pool { workers: 4 });
        let tasks: Vec<_> = (0..100)
            .map(|number| {
                rt.spawn(async move {
                    NUMBER.set(number);
                    for _ in 0..50 {
                        yield_now().await;
                        assert_eq!(NUMBER.get(), number);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.wait().expect("no panic");
        }
    });
}

#[test]
fn destructors_that_panic_or_use_others() {
    each_runtime(|rt| {
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let listens = told.clone();
        let body = move || {
            TOLD.with(|slot| *slot.lock().expect("no panic") = Some(listens.clone()));
            ILL.with(|ill| *ill.lock().expect("no panic") = Some(Bomb));
            SECOND.with(|_| ());
            FIRST.with(|_| ());
        };
        let (one, two) = (body.clone(), body.clone());
        rt.spawn(async move { one() })
            .wait()
            .expect("the panic ends there");
        rt.spawn_fiber(two).wait().expect("the panic ends there");
        rt.spawn_thread(body).wait().expect("the panic ends there");
        // The last made goes first; what it makes goes after it; what is gone stays gone.
        let said = [
            "first: false (true, true)",
            "third: false (true, false)",
            "second: false (false, false)",
        ];
        let told = told.lock().expect("no panic").clone();
        assert_eq!(told, [said, said, said].concat());
    });
}

#[test]
fn destructors_in_the_future_can_use_them() {
    struct Uses;
    impl Drop for Uses {
        fn drop(&mut self) {
            assert_eq!(NUMBER.get(), 9);
        }
    }
    each_runtime(|rt| {
        let told = Arc::new(MVar::empty());
        let tells = told.clone();
        let task = rt.spawn(async move {
            let _uses = Uses;
            NUMBER.set(9);
            tells.put(()).await;
            std::future::pending::<()>().await;
        });
        told.take().wait();
        task.abort();
        // A panic of the destructor would be the task's.
        assert!(task.wait().expect_err("aborted").is_cancelled());
    });
}

#[test]
fn an_output_that_nobody_wants_comes_too_late() {
    static TOO_LATE: AtomicUsize = AtomicUsize::new(0);
    struct Uses;
    impl Drop for Uses {
        fn drop(&mut self) {
            let too_late = NUMBER.try_with(|_| ()).is_err();
            TOO_LATE.fetch_add(usize::from(too_late), Ordering::SeqCst);
        }
    }
    watched("single", || {
        let rt = runtime(Model::Single);
        drop(rt.spawn(async {
            NUMBER.set(1);
            Uses
        }));
        rt.block_on(async {
            for _ in 0..3 {
                yield_now().await;
            }
        });
        assert_eq!(TOO_LATE.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn tasks_have_names() {
    each_runtime(|rt| {
        let task = rt.task().name("reader").spawn(async {
            yield_now().await;
            task_name()
        });
        let fiber = rt
            .task()
            .name(String::from("writer"))
            .spawn_fiber(task_name);
        let thread = rt.task().name("watcher").spawn_thread(task_name);
        assert_eq!(task.wait().expect("no panic").as_deref(), Some("reader"));
        assert_eq!(fiber.wait().expect("no panic").as_deref(), Some("writer"));
        assert_eq!(thread.wait().expect("no panic").as_deref(), Some("watcher"));
        assert_eq!(
            rt.spawn(async { task_name() }).wait().expect("no panic"),
            None
        );
        let zero = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            drop(rt.task().name("a\0b"));
        }));
        let payload = zero.expect_err("no such name");
        assert!(
            payload
                .downcast_ref::<String>()
                .expect("a text")
                .contains("zero byte")
        );
    });
}

/// A value of a thread that is being used outlasts the end of the thread's work, and goes with the thread.
#[test]
fn what_a_thread_uses_is_not_ended() {
    let drops = Arc::new(AtomicUsize::new(0));
    let its = drops.clone();
    let uses = move || {
        COUNTED.with(|counted| {
            *counted.lock().expect("no panic") = Some(Counts(its.clone()));
            gossamer_task::locals::end_thread();
            assert_eq!(its.load(Ordering::SeqCst), 0, "it was ended in its use");
        });
    };
    std::thread::spawn(uses).join().expect("no panic");
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}

#[test]
fn a_report_names_the_task_that_is_stuck() {
    watched("pool", || {
        let (told, tells) = mpsc::channel();
        let rt = Runtime::builder()
            .model(Model::Pool { workers: 1 })
            .on_stuck(move |stuck| told.send(stuck.clone()).unwrap_or_default())
            .build()
            .expect("a runtime can be built");
        let ((begun, begins), (open, opened)) = (mpsc::channel(), mpsc::channel::<()>());
        let task = rt.task().name("reader of \"x\"").spawn(async move {
            begun.send(()).expect("somebody listens");
            opened.recv().expect("somebody opens it");
        });
        begins.recv().expect("it begins");
        // Nobody is told of one that nobody waits for.
        let waits = rt.spawn(async {});
        let stuck = tells.recv().expect("it is told");
        waits.wait().expect("no panic");
        open.send(()).expect("it waits");
        let at = task.task();
        task.wait().expect("no panic");
        assert_eq!(gossamer_task::locals::name_of(at), None);
        assert_eq!(stuck.name.as_deref(), Some("reader of \"x\""));
        let text = stuck.to_string();
        for part in [
            "worker 0 ",
            r#"the task "reader of \"x\"""#,
            "locals.rs:",
            "blocking()",
        ] {
            assert!(text.contains(part), "{text}");
        }
    });
}
