//! Nor does the scope itself.

use gossamer::Runtime;

fn main() -> std::io::Result<()> {
    let rt = Runtime::builder().build()?;
    let mut kept = None;
    rt.scope(|s| kept = Some(s));
    Ok(())
}
