//! The attributes, under each model.

use std::thread;

use gossamer::{JoinError, Model, Wait, sync::MVar, yield_now};

/// The facade under another name.
mod renamed {
    pub(crate) mod inner {
        pub(crate) use ::gossamer::*;
    }
}

#[gossamer::test(runtime = rt)]
async fn without_options_it_is_the_default_model() {
    let workers = rt.metrics().map_or(0, |metrics| metrics.workers);
    assert_eq!(Model::Pool { workers }, Model::default());
}

#[gossamer::test(model = "single", runtime = rt)]
async fn tasks_of_one_thread_run_here() -> Result<(), JoinError> {
    let here = thread::current().id();
    assert_eq!(rt.spawn(async { thread::current().id() }).await?, here);
    assert!(rt.metrics().is_none());
    Ok(())
}

#[gossamer::test(
    // SAFETY: no code here, nor in the dependencies, waits while it uses a thread-local like a stack, or initialises
    // one.
    fibers = unsafe { gossamer::Fibers::contract() },
    runtime = rt,
)]
async fn with_fibers() -> Result<(), JoinError> {
    let fiber = rt.spawn_fiber(|| yield_now().wait());
    fiber.await
}

#[gossamer::test(runtime = rt)]
async fn without_fibers() {
    assert!(rt.try_spawn_fiber(|| ()).is_err());
}

#[gossamer::test(model = "pool:3", runtime = rt)]
async fn a_pool_named() -> Result<(), JoinError> {
    assert_eq!(rt.metrics().map(|metrics| metrics.workers), Some(3));
    let here = thread::current().id();
    assert_ne!(rt.spawn(async { thread::current().id() }).await?, here);
    Ok(())
}

#[gossamer::test(model = "threads", runtime = rt)]
async fn threads_named() -> Result<(), JoinError> {
    assert!(rt.metrics().is_none());
    let here = thread::current().id();
    assert_ne!(rt.spawn(async { thread::current().id() }).await?, here);
    Ok(())
}

#[gossamer::test(workers = 1 + 1, runtime = rt,)]
async fn workers_alone_mean_a_pool() {
    assert_eq!(rt.metrics().map(|metrics| metrics.workers), Some(2));
}

#[gossamer::test(model = Model::Pool { workers: 7 }, workers = two(), runtime = rt)]
async fn workers_say_more_than_a_model() {
    assert_eq!(rt.metrics().map(|metrics| metrics.workers), Some(2));
}

fn two() -> usize {
    2
}

#[gossamer::test(crate = crate::renamed::inner, model = "pool:1", runtime = rt)]
async fn the_facade_may_have_another_name() {
    assert_eq!(rt.metrics().map(|metrics| metrics.workers), Some(1));
}

#[gossamer::test]
#[should_panic(expected = "a planned panic")]
async fn a_panic_is_the_test_s() {
    yield_now().await;
    panic!("a planned panic");
}

#[gossamer::test(model = "pool:1")]
#[should_panic(expected = "a planned panic")]
async fn a_panic_is_the_test_s_beside_a_pool() {
    yield_now().await;
    panic!("a planned panic");
}

#[gossamer::test(model = Model::Pool { workers: 0 })]
#[should_panic(
    expected = "#[gossamer::test]: the runtime cannot be built: 0 workers: a pool has 1 to 1024"
)]
async fn no_runtime_is_a_clear_panic() {}

#[gossamer::test]
async fn an_early_return_is_the_function_s() -> Result<(), std::num::ParseIntError> {
    let number: i32 = "4".parse()?;
    if number == 4 {
        return Ok(());
    }
    unreachable!("4 is 4");
}

/// `main` works at any function; what it returns is returned.
#[gossamer::main(model = "single", runtime = rt)]
async fn put_and_take() -> Result<i32, JoinError> {
    let mvar = std::sync::Arc::new(MVar::empty());
    let put = mvar.clone();
    let putter = rt.spawn(async move { put.put(5).await });
    let taken = mvar.take().await;
    putter.await?;
    Ok(taken)
}

#[gossamer::main(runtime = rt)]
async fn default_of_main() -> usize {
    rt.metrics().map_or(0, |metrics| metrics.workers)
}

#[test]
fn main_gives_back_what_the_body_gives() {
    assert_eq!(put_and_take().expect("no panic"), 5);
    assert_eq!(
        Model::Pool {
            workers: default_of_main()
        },
        Model::pool()
    );
}

/// The texts that the macro takes are those that `Model` parses; `ui/no_model.rs` has those that neither takes.
#[test]
fn both_know_the_same_models() {
    for text in ["single", "pool", "pool:1", "pool:1024", "threads"] {
        assert!(text.parse::<Model>().is_ok(), "{text}");
    }
    for text in ["pool:0", "pool:1025", "fibers", "pool:four"] {
        assert!(text.parse::<Model>().is_err(), "{text}");
    }
}

#[gossamer::main(model = "pool:1024")]
async fn the_most_workers() {}

#[test]
fn the_most_workers_compile() {
    let _compiles: fn() = the_most_workers;
}
