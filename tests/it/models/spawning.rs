//! Spawning onto the runtime that is there, without naming it.

use gossamer::{Handle, Wait, spawn, spawn_blocking};

use crate::models::{MODELS, runtime, watched};

#[test]
fn where_a_runtime_runs() {
    for model in MODELS {
        watched(&model.to_string(), move || {
            let rt = runtime(model);
            let inside = async || {
                let called = spawn_blocking(|| 1).await.expect("no panic");
                called + spawn(async { 2 }).await.expect("no panic")
            };
            assert_eq!(rt.spawn(inside()).wait().expect("no panic"), 3);
            assert_eq!(rt.block_on(inside()), 3);
            let called = rt.spawn_blocking(|| spawn(async { 5 }).wait().expect("no panic"));
            assert_eq!(called.wait().expect("no panic"), 5);
            let fiber = rt.spawn_fiber(|| spawn(async { 4 }).wait().expect("no panic"));
            assert_eq!(fiber.wait().expect("no panic"), 4);
        });
    }
}

/// So that `?` turns it into what most programs return.
#[test]
fn its_error_goes_into_any_error() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let rt = runtime(MODELS[0]);
    let failed = async || Ok(rt.spawn(async { panic!("told of") }).await?);
    let error: Box<dyn std::error::Error + Send + Sync> = match failed().wait() {
        Ok(()) => return Err("it has panicked".into()),
        Err(error) => error,
    };
    assert_eq!(error.to_string(), "the task panicked: told of");
    Ok(())
}

#[test]
#[should_panic(expected = "spawn() was called where no runtime runs")]
fn elsewhere() {
    drop(spawn(async {}));
}

#[test]
#[should_panic(expected = "Handle::current() was called where no runtime runs")]
fn no_handle_elsewhere() {
    assert!(Handle::try_current().is_none());
    drop(Handle::current());
}
