//! A dump whenever SIGQUIT comes.

use std::io;
use std::sync::OnceLock;

use gossamer_core::platform::start_thread;
use gossamer_core::sleepers;
use signal_hook::consts::SIGQUIT;
use signal_hook::iterator::Signals;

/// Prints one from now on. Once for the process.
pub(super) fn dump_on_quit() -> io::Result<()> {
    static BEGAN: OnceLock<()> = OnceLock::new();
    if BEGAN.get().is_some() {
        return Ok(());
    }
    let mut signals = Signals::new([SIGQUIT])?;
    let print = move || {
        sleepers::serve();
        for _quit in signals.forever() {
            eprintln!(
                "gossamer: SIGQUIT: who waits for what\n{}",
                gossamer_sched::dump()
            );
        }
    };
    start_thread("gossamer-dumps", None, print)?;
    let _first = BEGAN.set(());
    Ok(())
}
