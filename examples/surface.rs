//! What a user sees: one runtime, tasks and OS threads, one set of primitives.
//!
//! `cargo run --release -p gossamer-rt --example surface`

use std::sync::Arc;

use gossamer::{JoinError, Model, Runtime, Wait, sync::MVar, yield_now};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // After the arguments are parsed: the model is a value.
    let rt = Runtime::builder().model(Model::Single).build()?;

    // A task and an OS thread wait on the same place, with the same operations.
    let reply = Arc::new(MVar::<i32>::empty());
    let (theirs, ours) = (reply.clone(), reply.clone());
    let task = rt.spawn(async move { ours.take().await + ours.take().await });
    let thread = std::thread::spawn(move || {
        theirs.put(1).wait();
        theirs.put(2).wait();
    });
    println!("task and thread: {}", task.wait()?);
    thread.join().map_err(|_| "the thread panicked")?;

    // Read, swap, replace; and none of them waits here.
    reply.put(10).wait();
    println!(
        "read {}, swap {}",
        reply.read().wait(),
        reply.swap(11).wait()
    );
    println!(
        "replace {:?}, then {:?}",
        reply.replace(12).wait(),
        reply.try_take()
    );
    println!(
        "try_take {:?}, try_put {:?}",
        reply.try_take(),
        reply.try_put(13)
    );

    // A panic comes back with its payload, and harms nobody else.
    let fine = rt.spawn(async { yield_now().await });
    let failed: Result<(), JoinError> = rt.spawn(async { panic!("a planned panic") }).wait();
    fine.wait()?;
    println!(
        "{}",
        failed.map_or_else(|error| error.to_string(), |()| "no panic".into())
    );

    // Abort, and tasks that need not be `Send`.
    let never = rt.spawn(std::future::pending::<()>());
    never.abort();
    println!(
        "aborted: {}",
        never.wait().is_err_and(|error| error.is_cancelled())
    );
    let local = rt.block_on_local(|scope| {
        let text = std::rc::Rc::new(String::from("not Send"));
        scope.spawn_local(async move { text.len() })
    })?;
    println!("local: {local}");
    Ok(())
}
