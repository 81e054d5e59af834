//! What belongs together begins, ends and is cancelled together.

mod async_scope;
mod blocking;
mod cancel;
mod concurrency_limit;
mod join_set;
mod locals;
mod scope;
mod scope_ends;
mod scope_moves;
mod scope_threads;
mod sim;
mod sim_threads;

use crate::models::{MODELS, runtime, watched};
use gossamer::Runtime;

/// Runs `body` with a runtime of each model, and fails if it hangs.
fn each_runtime(body: fn(Runtime)) {
    for model in MODELS {
        watched(&model.to_string(), move || body(runtime(model)));
    }
}
