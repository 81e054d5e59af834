//! Gossamer's automation, as a library so that `cargo test` runs the same checks as `cargo xtask`.
//!
//! * [`tidy`]: the repository lints itself.
//! * [`mutants`]: mutants, each with the gate that must catch it.
//! * [`loom`]: the model-checked protocols.
//! * [`shuttle`]: whole runtimes, scheduled at random.
//! * [`asan`]: tests under AddressSanitizer.
//! * [`counts`]: instruction counts of the hot operations.
//! * [`hops`]: where the instructions of a hop go, for docs/HOP.md.
//! * [`locked`]: no locked instruction in the static tasks of one core.
//! * [`examples`]: those of the documentation, as a reader would run them.
//! * [`portable`]: tests on what other systems would get.
//! * [`valgrind`]: tests of fibers under valgrind.
//! * [`upstream`]: other channels' own tests, run against ours.
//! * [`whole`]: what the tests run a part of.
//! * [`isolated`] and [`parallel`]: how the gates run many tests at a time.
//! * [`repo`] and [`source`]: what the checks read: files, and Rust text split into code and comments.

#![forbid(unsafe_code)]

pub mod asan;
pub mod counts;
pub mod examples;
pub mod hops;
pub mod isolated;
pub mod locked;
pub mod loom;
pub mod mutants;
pub mod parallel;
pub mod portable;
pub mod repo;
pub mod shuttle;
pub mod source;
pub mod tidy;
pub mod upstream;
pub mod valgrind;
pub mod whole;
