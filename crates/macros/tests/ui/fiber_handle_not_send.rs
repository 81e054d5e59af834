//! The handle of a local fiber stays on its thread if what that returns does.

use std::rc::Rc;

use gossamer::{Wait, spawn_local_fiber};

fn main() {
    let fiber = spawn_local_fiber(|| Rc::new("one"));
    let taken = std::thread::spawn(move || drop(fiber.wait()));
    taken.join().unwrap();
}
