//! Timers that are cancelled before they are due, and set again.

use std::time::Duration;

use gossamer::Wait;
use gossamer::time::{now, sleep};

use gossamer_contender::Failure;
use gossamer_contender::args::{Args, said};

/// How many timers were cancelled before they were due.
pub(crate) fn run(args: &Args) -> Result<u64, Failure> {
    args.only(&["--kind", "--timers", "--live", "--idle-ms"])?;
    let count = args.number("--timers", 1_000)?;
    let live = args.count("--live", 1_000)?;
    let idle = Duration::from_millis(args.number("--idle-ms", 1)?);
    let timers = waiting::timers(count, live, idle, sleep, |timer, ahead| {
        timer.reset(now() + ahead);
    });
    args.runtime()?.spawn(timers).wait().map_err(said)
}
