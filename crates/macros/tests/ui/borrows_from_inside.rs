//! A child may not borrow what goes before the scope does.

use gossamer::Runtime;

fn main() -> std::io::Result<()> {
    let rt = Runtime::builder().build()?;
    rt.scope(|s| {
        let inside = String::from("one");
        s.spawn(async { inside.len() });
    });
    Ok(())
}
