//! What takes long: `cargo xtask whole` runs all of it, in release, and the tests a part of each.
//!
//! * [`conservation`]: ten million messages, whose operations are dropped at any time.
//!
//! A binary of its own, so that it is soon built in release.
#![forbid(unsafe_code)]

mod conservation;

/// Whether all is to be run.
fn is_whole() -> bool {
    std::env::var_os("GOSSAMER_WHOLE").is_some()
}
