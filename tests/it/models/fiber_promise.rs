//! Fibers are there only on a runtime whose builder was given the program's promise.

use std::any::Any;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use gossamer::{Handle, Model, Runtime, Wait, runtime::SpawnError};
use gossamer_sim::{Sim, spawn_fiber};

use super::each_model;
use crate::contract::FIBERS;

/// What it says who is asked for a fiber without it.
const SAYS: &str = ".fibers(unsafe { Fibers::contract() })";

fn without(model: Model) -> Runtime {
    let built = Runtime::builder().model(model).build();
    built.expect("a runtime can be built")
}

/// The closure came back, and is called.
#[track_caller]
fn refused<T>(spawned: Result<T, SpawnError<fn() -> u32>>) {
    let Err(SpawnError { error, future }) = spawned else {
        panic!("a fiber without a promise");
    };
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains(SAYS), "{error}");
    assert_eq!(future(), 7);
}

#[track_caller]
fn panics<T>(spawn: impl FnOnce() -> T) {
    let ended = catch_unwind(AssertUnwindSafe(spawn));
    let payload: Box<dyn Any + Send> = ended.err().expect("a fiber without a promise");
    let text = payload.downcast_ref::<String>().expect("a text");
    assert!(text.contains(SAYS), "{text}");
    assert!(text.contains("spawn_fiber"), "{text}");
}

const BODY: fn() -> u32 = || 7;

#[test]
fn every_way_to_spawn_a_fiber_asks_for_it() {
    each_model(|model| {
        let rt = Arc::new(without(model));
        refused(rt.try_spawn_fiber(BODY));
        panics(|| rt.spawn_fiber(BODY));
        refused(rt.task().try_spawn_fiber(BODY));
        refused(rt.task().name("named").try_spawn_fiber(BODY));
        panics(|| rt.task().spawn_fiber(BODY));
        let handle = rt.handle();
        panics(|| handle.spawn_fiber(BODY));
        panics(|| handle.task().spawn_fiber(BODY));
        rt.scope(|s| {
            refused(s.try_spawn_fiber(BODY));
            panics(|| s.spawn_fiber(BODY));
        });
        let inside = rt.spawn(async move {
            let handle = Handle::current();
            panics(|| handle.spawn_fiber(BODY));
            let scope = handle.async_scope((), async |s, ()| {
                refused(s.try_spawn_fiber(BODY));
                panics(|| s.spawn_fiber(BODY));
            });
            scope.await;
        });
        inside.wait().expect("no panic");
    });
}

#[test]
fn with_it_there_are_fibers() {
    each_model(|model| {
        let builder = Runtime::builder().model(model).fibers(FIBERS);
        let rt = match model {
            // A scheduler of one's own changes nothing.
            Model::Single => builder.scheduler(gossamer_sched::Fifo::default()).build(),
            _ => builder.build(),
        };
        let rt = rt.expect("a runtime can be built");
        assert_eq!(rt.spawn_fiber(BODY).wait().expect("no panic"), 7);
        let named = rt.task().name("named").spawn_fiber(BODY);
        assert_eq!(named.wait().expect("no panic"), 7);
        assert_eq!(rt.handle().spawn_fiber(BODY).wait().expect("no panic"), 7);
        let sum = rt.scope(|s| s.spawn_fiber(BODY).wait().expect("no panic"));
        assert_eq!(sum, 7);
    });
}

#[test]
fn simulations_ask_for_it() {
    let failure = Sim::new().run(1, || async { spawn_fiber(BODY).await });
    let text = failure.expect_err("no promise").to_string();
    assert!(
        text.contains(SAYS) && text.contains("sim::spawn_fiber()"),
        "{text}"
    );
    let sim = Sim::new().fibers(FIBERS);
    assert_eq!(
        sim.to_string(),
        "Sim::new().fibers(unsafe { Fibers::contract() })"
    );
    let ran = sim.run(1, || async { spawn_fiber(BODY).await });
    assert_eq!(ran.expect("it ends").expect("no panic"), 7);
}
