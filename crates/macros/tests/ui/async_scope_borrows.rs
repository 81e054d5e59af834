//! The children of the scope that is a future own what they have.

use gossamer::Runtime;

fn main() -> std::io::Result<()> {
    let rt = Runtime::builder().build()?;
    let words = ["one", "two"].map(str::to_owned);
    let scope = rt.async_scope((), async |s, ()| {
        s.spawn(async { words.len() });
    });
    rt.block_on(scope);
    Ok(())
}
