//! A test that runs itself once more, in a process of its own, which it is to end or to change.

use std::env;
use std::process::Command;

/// Set in that process.
const AGAIN: &str = "GOSSAMER_AGAIN";

/// Whether this is that process.
pub(crate) fn is_again() -> bool {
    env::var_os(AGAIN).is_some()
}

/// Runs the test of this path, and no other.
pub(crate) fn again(test: &str) -> Command {
    let mut own = Command::new(env::current_exe().expect("a test is a program"));
    own.args(["--exact", test, "--nocapture", "--test-threads", "1"]);
    own.env(AGAIN, "1");
    own
}
