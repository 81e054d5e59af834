//! The frames of a fiber that stands still: many, large, and left by a panic.

use std::future::poll_fn;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll};
use std::thread;

use gossamer::{Model, Wait, spawn_fiber, sync::MVar, yield_now};

use super::{each_model, runtime, watched};
use crate::again::{again, is_again};

/// The frames that have been left, in their order.
type Left = Arc<Mutex<Vec<u32>>>;

/// Says when its frame is left.
struct Frame<'a>(u32, &'a Mutex<Vec<u32>>);

impl Drop for Frame<'_> {
    fn drop(&mut self) {
        self.1.lock().expect("no panic holds it").push(self.0);
    }
}

/// Stands still in each of so many frames, and panics in the last one, with the sum of what it got. Some of the frames
/// are inside a poll, and some stand still again while they have the payload.
fn deep(frames: u32, sum: u32, from: &MVar<u32>, left: &Mutex<Vec<u32>>) {
    let _frame = Frame(frames, left);
    let sum = sum + from.take().wait();
    if frames == 0 {
        panic_any(sum);
    }
    let deeper = || deep(frames - 1, sum, from, left);
    match frames % 3 {
        0 => deeper(),
        1 => {
            let inside = |_: &mut Context<'_>| {
                deeper();
                Poll::Ready(())
            };
            poll_fn(inside).wait();
        }
        _ => {
            let payload = catch_unwind(AssertUnwindSafe(deeper)).expect_err("it panics");
            yield_now().wait();
            resume_unwind(payload);
        }
    }
}

#[test]
fn a_panic_leaves_all_frames_that_stood_still() {
    const FRAMES: u32 = 30;
    each_model(|model| {
        let rt = runtime(model);
        let fibers: Vec<_> = (1..=4)
            .map(|value| {
                let (mvar, left) = (Arc::new(MVar::<u32>::empty()), Left::default());
                let (from, its) = (mvar.clone(), left.clone());
                let fiber = rt.spawn_fiber(move || deep(FRAMES, 0, &from, &its));
                (value, mvar, left, fiber)
            })
            .collect();
        // All go down side by side, so that the others run while each stands still.
        for _ in 0..=FRAMES {
            for (value, mvar, _, _) in &fibers {
                mvar.put(*value).wait();
            }
        }
        for (value, _, left, fiber) in fibers {
            let payload = fiber.wait().expect_err("it panics").into_panic();
            let sum = value * (FRAMES + 1);
            assert_eq!(payload.downcast_ref(), Some(&sum), "{model}");
            let left = left.lock().expect("no panic holds it");
            assert_eq!(*left, (0..=FRAMES).collect::<Vec<_>>(), "{model}");
        }
        let after = rt.spawn_fiber(|| {
            yield_now().wait();
            thread::panicking()
        });
        assert!(!after.wait().expect("no panic"), "{model}");
    });
}

/// Others would believe that it is their panic.
#[test]
fn a_fiber_does_not_stand_still_while_it_panics() {
    struct Waits(Arc<AtomicBool>, mpsc::Sender<bool>);
    impl Drop for Waits {
        fn drop(&mut self) {
            yield_now().wait();
            let other_ran = self.0.load(Ordering::SeqCst);
            self.1.send(other_ran).expect("somebody listens");
        }
    }
    watched("single", || {
        let rt = runtime(Model::Single);
        let (ran, (tells, told)) = (Arc::new(AtomicBool::new(false)), mpsc::channel());
        let waits = Waits(ran.clone(), tells);
        let panics = rt.spawn_fiber(move || {
            let _waits = waits;
            // Runnable from now on, and only this thread could run it.
            drop(spawn_fiber(move || ran.store(true, Ordering::SeqCst)));
            panic_any(7_u32);
        });
        let payload = panics.wait().expect_err("it panics").into_panic();
        assert_eq!(payload.downcast_ref(), Some(&7_u32));
        assert_eq!(told.recv(), Ok(false), "another fiber ran meanwhile");
    });
}

const STACK: usize = 64 << 20;
/// Of which so many bytes are used at least: all but a few frames of the test without optimisation.
const USED: usize = 60 << 20;

/// Goes down until most of the stack is used, and stands still there: what it got, and the number of frames.
#[inline(never)]
fn descend(top: Option<usize>, number: u32, from: &MVar<u32>) -> (u32, u32) {
    let room = black_box([number as u8; 100_000]);
    let here = (&raw const room).addr();
    let top = top.unwrap_or(here);
    let (got, frames) = match top - here < USED {
        true => descend(Some(top), number + 1, from),
        false => (from.take().wait(), 0),
    };
    let is_whole = black_box(&room).iter().all(|byte| *byte == number as u8);
    assert!(is_whole, "frame {number} was written to");
    (got, frames + 1)
}

#[test]
fn a_fiber_stands_still_at_the_bottom_of_a_deep_stack() {
    each_model(|model| {
        let rt = runtime(model);
        let mvars = [(); 2].map(|()| Arc::new(MVar::<u32>::empty()));
        let fibers = [&mvars[0], &mvars[1]].map(|mvar| {
            let from = mvar.clone();
            let fiber = rt.task().stack_size(STACK);
            fiber.spawn_fiber(move || [(); 2].map(|()| descend(None, 0, &from)))
        });
        for value in 1..=2 {
            for mvar in &mvars {
                mvar.put(value).wait();
            }
        }
        for fiber in fibers {
            let [(first, frames), (second, again)] = fiber.wait().expect("no panic");
            assert_eq!((first, second, frames), (1, 2, again), "{model}");
            assert!(frames > 50, "{model}: {frames} frames");
        }
    });
}

/// The standard library's own report of a panic needs more of a stack than most code.
#[test]
fn a_panic_is_told_with_a_full_backtrace_on_a_usual_stack() {
    #[inline(never)]
    fn told_at_the_bottom(calls: u32) -> u32 {
        match calls {
            0 => panic!("told in full"),
            _ => black_box(told_at_the_bottom(calls - 1)) + 1,
        }
    }
    if is_again() {
        return watched("it panics", || {
            let rt = runtime(Model::Pool { workers: 2 });
            let fibers = [(); 2].map(|()| {
                rt.spawn_fiber(|| {
                    yield_now().wait();
                    told_at_the_bottom(30)
                })
            });
            for fiber in fibers {
                let payload = fiber.wait().expect_err("it panics").into_panic();
                assert_eq!(payload.downcast_ref(), Some(&"told in full"));
            }
        });
    }
    let test = "models::fiber_frames::a_panic_is_told_with_a_full_backtrace_on_a_usual_stack";
    let ran = again(test).env("RUST_BACKTRACE", "full").output();
    let ran = ran.expect("it can run itself");
    let said = String::from_utf8_lossy(&ran.stdout);
    let cried = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.contains("1 passed"), "{cried}");
    assert_eq!(cried.matches("told in full").count(), 2, "{cried}");
    assert_eq!(cried.matches("stack backtrace:").count(), 2, "{cried}");
    assert!(cried.matches("told_at_the_bottom").count() >= 2, "{cried}");
}
