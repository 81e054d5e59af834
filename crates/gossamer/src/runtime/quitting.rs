//! A dump whenever SIGQUIT comes.

use std::io::{self, Write};
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
            let dump = gossamer_sched::dump();
            // If the write fails, there is nowhere left to report it.
            let _said = writeln!(
                io::stderr(),
                "gossamer: SIGQUIT: who waits for what\n{dump}"
            );
        }
    };
    start_thread("gossamer-dumps", None, print)?;
    let _first = BEGAN.set(());
    Ok(())
}
