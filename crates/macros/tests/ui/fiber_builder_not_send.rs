//! With a name or a stack of its own it begins there as well; and so does a scope's.

use std::rc::Rc;

use gossamer::Runtime;

fn main() -> std::io::Result<()> {
    let rt = Runtime::new()?;
    let word = Rc::new("one");
    let its = word.clone();
    drop(rt.task().stack_size(1 << 20).spawn_fiber(move || its.len()));
    rt.scope(|s| {
        s.spawn_fiber(|| word.len());
    });
    Ok(())
}
