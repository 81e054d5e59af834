//! Children run on other threads.

use std::rc::Rc;

use gossamer::Runtime;

fn main() -> std::io::Result<()> {
    let rt = Runtime::builder().build()?;
    let word = Rc::new("one");
    rt.scope(|s| {
        s.spawn(async { word.len() });
    });
    Ok(())
}
