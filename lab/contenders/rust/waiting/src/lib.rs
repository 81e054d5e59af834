//! What the Rust contenders share in the workloads about waiting: all but the threads, timers and locks themselves,
//! so that they differ in nothing else. And what is the same in many workloads: equal parts, and orders.

pub mod crowd;
mod fault;
mod hostage;
mod lateness;
mod options;
mod order;
pub mod park;
mod timers;

pub use hostage::Hostages;
pub use lateness::Lateness;
pub use options::Options;
pub use order::order;
pub use timers::timers;

/// What one of `parts` gets of `total`: equal parts, the first ones one more.
pub fn part(total: u64, parts: u64, index: u64) -> u64 {
    total / parts + u64::from(index < total % parts)
}
