//! What takes long: `cargo xtask whole` runs all of it, in release, and the tests a part of each.
//!
//! * [`conservation`]: ten million messages, whose operations are dropped at any time.
//! * [`connections`]: a million connections, cut at any time.
//! * [`histories`]: all small programs in all schedules, each poll judged by a specification.
//!
//! A binary of its own, so that it is soon built in release.
#![deny(unsafe_code)]

mod connections;
mod conservation;
mod cutting;
mod fibers;
mod histories;
#[path = "../patience.rs"]
mod patience;

/// What `cargo xtask whole` asks for: all (1), or of what takes minutes only each n-th.
fn part() -> Option<usize> {
    let part = std::env::var("GOSSAMER_WHOLE").ok()?;
    Some(part.parse().expect("GOSSAMER_WHOLE is a number"))
}
