//! The promise that fibers need is made in no other way.

use gossamer::{Fibers, Runtime};

fn main() {
    drop(Runtime::builder().fibers(Fibers(())));
    drop(Runtime::builder().fibers(Fibers::default()));
}
