//! The runtime of the model M:1: tasks, threads, shutdown, and what it does not do.

mod aborting;
mod counting;
mod escapes;
mod fairness;
mod foreign;
mod joining;
mod local;
mod nesting;
mod new_tasks;
mod outliving;
mod own_schedulers;
mod shutdown;
mod threads;
mod waking;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use gossamer::{Model, Runtime};

use crate::bad_wakers::{is_planned, planned};
use crate::contract::panic_text;

fn runtime() -> Runtime {
    crate::hanging::watch();
    Runtime::builder()
        .model(Model::Single)
        .build()
        .expect("a shard for the runtime")
}

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What a panic on this thread says, and the line it names.
fn panic_of<T>(run: impl FnOnce() -> T) -> (String, String) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let mvar = info
                .location()
                .map(|at| format!("{}:{}", at.file(), at.line()));
            LAST.with(|last| last.replace(mvar.unwrap_or_default()));
            before(info);
        }));
    });
    let payload = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(_) => panic!("it did not panic"),
        Err(payload) => payload,
    };
    (panic_text(&*payload), LAST.with(RefCell::take))
}
