//! Fibers that a simulation leaves, as it ends.

use std::future::pending;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;

use gossamer::sync::MVar;
use gossamer::{Wait, foreign};
use gossamer_sim::spawn_fiber;

use crate::again::{again, is_again};
use crate::contract::SIM;

/// Nobody is left who could have the call return, and it must not be unwound.
#[test]
fn one_in_a_foreign_call_ends_the_process() {
    if is_again() {
        let ran = SIM.run(0, || async {
            let begun = Arc::new(MVar::empty());
            let to = begun.clone();
            drop(spawn_fiber(move || {
                foreign(|| {
                    to.put(()).wait();
                    pending::<()>().wait();
                });
            }));
            begun.take().await;
        });
        panic!("the process goes on: {ran:?}");
    }
    let test = "sim::fibers_end::one_in_a_foreign_call_ends_the_process";
    let ran = again(test).output().expect("it can run itself");
    let cried = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.signal(), Some(libc::SIGABRT), "{cried}");
    for part in [
        "a fiber's runtime or thread ends while the fiber waits in a foreign call",
        "in a simulation, which has ended, it never returns",
    ] {
        assert!(cried.contains(part), "{part:?} is missing in:\n{cried}");
    }
}
