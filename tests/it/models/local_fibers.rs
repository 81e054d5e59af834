//! Fibers whose closures need not be `Send`, and fibers that spawn onto the runtime that is there.

use std::cell::Cell;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use gossamer::task::try_spawn_local_fiber;
use gossamer::{Runtime, Wait, local, spawn_fiber, spawn_local, spawn_local_fiber};

use super::{each_model, runtime};
use crate::contract::panic_text;

#[test]
fn local_fibers_tasks_and_the_root_share_what_is_not_send() {
    each_model(|model| {
        let sum = runtime(model).block_on(async {
            let (ask, answer) = (
                Rc::new(local::MVar::<u32>::empty()),
                Rc::new(local::MVar::<u32>::empty()),
            );
            let fiber = spawn_local_fiber({
                let (ask, answer) = (ask.clone(), answer.clone());
                move || {
                    for _ in 0..10 {
                        let number = ask.take().wait();
                        let inner = spawn_local_fiber(move || number + 1);
                        answer.put(inner.wait().expect("no panic")).wait();
                    }
                    Rc::new("all").len()
                }
            });
            let task = spawn_local(async move {
                let mut number = 0;
                for _ in 0..10 {
                    ask.put(number).await;
                    number = answer.take().await;
                }
                number
            });
            task.await.expect("no panic") as usize + fiber.await.expect("no panic")
        });
        assert_eq!(sum, 13);
    });
}

struct Counts(Rc<Cell<u32>>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn the_end_of_block_on_unwinds_local_fibers() {
    each_model(|model| {
        let dropped = Rc::new(Cell::new(0));
        runtime(model).block_on(async {
            for _ in 0..3 {
                let counts = Counts(dropped.clone());
                drop(spawn_local_fiber(move || {
                    let own = counts;
                    local::MVar::<()>::empty().take().wait();
                    drop(own);
                }));
            }
            gossamer::yield_now().await;
            // One that has not begun.
            let counts = Counts(dropped.clone());
            drop(spawn_local_fiber(move || drop(counts)));
        });
        assert_eq!(dropped.get(), 4);
    });
}

#[test]
fn elsewhere_it_is_refused() {
    each_model(|model| {
        let rt = runtime(model);
        let task = rt.spawn(async {
            let refused = catch_unwind(|| spawn_local_fiber(|| ()));
            panic_text(&*refused.expect_err("this task may run on any thread"))
        });
        let said = task.wait().expect("no panic");
        assert!(said.starts_with("spawn_local_fiber() was called"), "{said}");
        let refused = catch_unwind(|| spawn_fiber(|| ()));
        let said = panic_text(&*refused.expect_err("there is no runtime"));
        assert!(said.starts_with("spawn_fiber() was called"), "{said}");
    });
}

#[test]
fn without_the_promise_the_closure_comes_back() {
    each_model(|model| {
        let without = Runtime::builder().model(model).build();
        without.expect("a runtime can be built").block_on(async {
            let value = Rc::new(7);
            let refused = try_spawn_local_fiber(move || *value).expect_err("no promise");
            assert_eq!(refused.error.kind(), ErrorKind::Unsupported);
            assert_eq!((refused.future)(), 7);
            let panics = |spawn: &dyn Fn()| {
                let ended = catch_unwind(AssertUnwindSafe(spawn));
                let said = panic_text(&*ended.expect_err("no promise"));
                assert!(said.contains("Fibers::contract"), "{said}");
            };
            panics(&|| drop(spawn_local_fiber(|| ())));
            panics(&|| drop(spawn_fiber(|| ())));
        });
    });
}

#[test]
fn fibers_spawn_onto_the_runtime_that_is_there() {
    each_model(|model| {
        let rt = runtime(model);
        let outer = rt.spawn_fiber(|| {
            let inner = spawn_fiber(|| gossamer::spawn(async { 20 }).wait());
            inner.wait().expect("no panic").expect("no panic") + 1
        });
        assert_eq!(outer.wait().expect("no panic"), 21);
        let task = rt.spawn(async { spawn_fiber(|| 2).await.expect("no panic") });
        assert_eq!(task.wait().expect("no panic"), 2);
    });
}
