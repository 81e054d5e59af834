//! A fiber begins on whichever thread is free.

use std::rc::Rc;

use gossamer::Runtime;

fn main() -> std::io::Result<()> {
    let rt = Runtime::new()?;
    let word = Rc::new("one");
    drop(rt.spawn_fiber(move || word.len()));
    Ok(())
}
