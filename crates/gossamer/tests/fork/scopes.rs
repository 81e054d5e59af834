//! A scope around a fork.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use gossamer::{Model, Runtime, Wait, sync::MVar};

use super::child::{end_of, exit, fork, in_child, refused};
use super::{Checked, models_with_threads};

pub(super) fn are_refused() -> Checked {
    for model in models_with_threads() {
        let rt = Runtime::builder().model(model).build()?;
        let place = MVar::<i32>::empty();
        let in_it = || -> Checked {
            rt.scope(|s| {
                let mut waits = Some(s.spawn(async { place.take().await }));
                in_child(|| {
                    refused("a child of a scope", || {
                        drop(waits.take().expect("there").wait());
                    });
                    refused("a scope", || {
                        rt.scope(|s| drop(s.spawn(async {})));
                    });
                })?;
                place.put(3).wait();
                assert_eq!(waits.take().expect("there").wait()?, 3);
                Ok(())
            })
        };
        in_it()?;
    }
    // One thread runs it all, and goes on.
    let rt = Runtime::builder().model(Model::Single).build()?;
    let place = MVar::<i32>::empty();
    rt.scope(|s| -> Checked {
        let mut waits = Some(s.spawn(async { place.take().await }));
        in_child(|| {
            place.put(5).wait();
            let value = waits.take().expect("there").wait();
            assert_eq!(value.expect("no panic"), 5);
        })?;
        place.put(6).wait();
        assert_eq!(waits.take().expect("there").wait()?, 6);
        Ok(())
    })
}

/// The scope unwinds in the child, but not before the thread has ended that was started there.
pub(super) fn a_refused_one_waits_for_its_own() -> Checked {
    for model in models_with_threads() {
        let rt = Runtime::builder().model(model).build()?;
        let place = MVar::<i32>::empty();
        let (has_ended, mut child) = (&AtomicBool::new(false), 0);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            rt.scope(|s| {
                drop(s.spawn(async { place.take().await }));
                child = fork();
                if child != 0 {
                    return place.put(3).wait();
                }
                set_hook(Box::new(|_| ()));
                let (begins, begun) = mpsc::channel();
                drop(s.spawn_thread(move || {
                    begins.send(()).expect("it listens");
                    (0..1_000).for_each(|_| thread::yield_now());
                    has_ended.store(true, Ordering::SeqCst);
                }));
                // What has not begun would be cancelled.
                begun.recv().expect("it begins");
            });
        }));
        if child == 0 {
            let is_well = ended.is_err() && has_ended.load(Ordering::SeqCst);
            exit(i32::from(!is_well));
        }
        assert!(ended.is_ok());
        assert_eq!(end_of(child), "exit 0");
    }
    Ok(())
}
