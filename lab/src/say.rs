//! Printing that does not end the lab: `say!`, `sayln!`, `esay!` and `esayln!` are `print!` and
//! its kin, which panic when nobody reads any more.
//!
//! `lab run all | head` closes the pipe in the middle: what was measured until then must be kept,
//! and what comes later be measured all the same.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

/// `print!`, or nothing where nobody reads any more.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => { $crate::say::on_stdout(format_args!($($words)*)) };
}

/// `println!`, or nothing where nobody reads any more.
#[macro_export]
macro_rules! sayln {
    () => { $crate::say!("\n") };
    ($($words:tt)*) => { $crate::say!("{}\n", format_args!($($words)*)) };
}

/// `eprint!`, or nothing where nobody reads any more.
#[macro_export]
macro_rules! esay {
    ($($words:tt)*) => { $crate::say::on_stderr(format_args!($($words)*)) };
}

/// `eprintln!`, or nothing where nobody reads any more.
#[macro_export]
macro_rules! esayln {
    () => { $crate::esay!("\n") };
    ($($words:tt)*) => { $crate::esay!("{}\n", format_args!($($words)*)) };
}

/// Behind `say!`.
pub fn on_stdout(words: Arguments<'_>) {
    if let Some(problem) = attempt(&mut std::io::stdout().lock(), words) {
        on_stderr(format_args!("cannot print: {problem}\n"));
    }
}

/// Behind `esay!`.
pub fn on_stderr(words: Arguments<'_>) {
    // Where else could one complain?
    let _ = attempt(&mut std::io::stderr().lock(), words);
}

/// Writes; what kept it from that, unless it is that nobody reads.
pub(crate) fn attempt(to: &mut impl Write, words: Arguments<'_>) -> Option<std::io::Error> {
    let written = to.write_fmt(words);
    written
        .err()
        .filter(|error| error.kind() != ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests;
