//! A scope around a fork.

use gossamer::{Runtime, Wait, sync::MVar};

use super::child::{end_of, exit, fork, in_child, refused};
use super::{Checked, MODELS};

/// Nobody runs its children in the child, and it must not end before them.
pub(super) fn are_refused() -> Checked {
    for model in MODELS {
        let rt = Runtime::builder().model(model).build()?;
        let mvar = MVar::<i32>::empty();
        rt.scope(|s| -> Checked {
            let mut waits = Some(s.spawn(async { mvar.take().await }));
            in_child(|| {
                refused("a child of a scope", || {
                    drop(waits.take().expect("there").wait());
                });
                refused("spawning", || drop(s.spawn_thread(|| ())));
            })?;
            mvar.put(3).wait();
            assert_eq!(waits.take().expect("there").wait()?, 3);
            Ok(())
        })?;
        let ends = rt.scope(|s| {
            drop(s.spawn(async { mvar.take().await }));
            let child = fork();
            if child != 0 {
                mvar.put(4).wait();
            }
            child
        });
        if ends == 0 {
            exit(0);
        }
        assert_eq!(end_of(ends), "signal 6", "{model}");
    }
    Ok(())
}
