//! A handle does not leave its scope.

use gossamer::Runtime;

fn main() -> std::io::Result<()> {
    let rt = Runtime::builder().build()?;
    let word = String::from("one");
    let handle = rt.scope(|s| s.spawn(async { word.len() }));
    drop(handle);
    Ok(())
}
