//! What a fiber returns is taken on another thread.

use std::rc::Rc;

use gossamer::Runtime;

fn main() -> std::io::Result<()> {
    let rt = Runtime::new()?;
    drop(rt.spawn_fiber(|| Rc::new("one")));
    Ok(())
}
