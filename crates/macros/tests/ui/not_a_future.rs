//! What can be awaited can be waited for, and given up; a number cannot, nor a function that was not called.

use std::time::Duration;

use gossamer::{TimeoutExt, Wait};

async fn answer() -> i32 {
    42
}

fn waits<T: Wait>(_: T) {}

fn main() {
    5_i32.wait();
    waits(answer);
    let _ = answer.timeout(Duration::ZERO);
}
