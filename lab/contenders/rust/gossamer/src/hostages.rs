//! The tasks of `hostage`, whatever ticks beside them.

use gossamer::{Runtime, blocking, yield_now};
use waiting::Hostages;

use crate::Failure;
use crate::args::Args;

/// What was asked for.
///
/// # Errors
/// Another option was given, or no such value is known.
pub fn asked(args: &Args) -> Result<&'static Hostages, Failure> {
    args.only(&["--kind", "--by", "--hostages", "--stuck-ms", "--times"])?;
    let hostages = Hostages::of(
        args.text("--by", "read"),
        args.number("--hostages", 2)?,
        args.number("--stuck-ms", 1_000)?,
        args.number("--times", 1)?,
    )?;
    Ok(hostages)
}

/// Starts the tasks that are held up; with `says_so` each says before that it blocks.
pub fn begin(rt: &Runtime, hostages: &'static Hostages, says_so: bool) {
    for _ in 0..hostages.count {
        drop(rt.spawn(async move {
            for _ in 0..hostages.times {
                if says_so {
                    blocking(|| hostages.hold()).await;
                } else {
                    hostages.hold();
                }
                yield_now().await;
            }
            hostages.is_back();
        }));
    }
}
