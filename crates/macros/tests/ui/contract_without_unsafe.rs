//! The promise that fibers need is made in an `unsafe` block.

use gossamer::{Fibers, Runtime};

fn main() -> std::io::Result<()> {
    let rt = Runtime::builder().fibers(Fibers::contract()).build()?;
    drop(rt.spawn_fiber(|| ()));
    Ok(())
}
