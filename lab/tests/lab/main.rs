//! The lab as its users meet it: the program itself, on fake contenders and on real ones.
//!
//! Needs a Rust toolchain and a C compiler. Nothing here judges a time.

#![forbid(unsafe_code)]

mod browser;
mod compare;
mod counts;
mod fakes;
mod geomean;
mod input;
mod interrupted;
mod memory;
mod opening;
#[path = "../../../tests/patience.rs"]
mod patience;
mod picture;
mod records;
mod report;
mod ring;
mod samples;
mod seeds;
mod series;
mod slopes;
mod sockets;
mod support;
mod time;
mod tools;
mod workloads;
