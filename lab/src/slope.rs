//! Nanoseconds an operation without the start of the process: after each short run the same contender runs with half the
//! operations, and the difference of the two times over the operations between has no start and no end in it.
//!
//! In a short run the start is much of the time: what a virtual machine loads, or a runtime's threads. The two run right
//! after each other, so that a drift of the machine hits both alike.

use crate::catalogue::Contender;
use crate::plan::OPS_FEWEST;
use crate::results::{Row, spread};
use crate::workload::{Kind, Workload};
use crate::workloads::is_about_time;

/// A contender whose first run is shorter than this, in seconds, has much of its start in its figure.
const SHORT_S: f64 = 1.0;

/// How many operations the second run has: half (a tenth where it must be a power of ten). `None` if the first run was
/// long, if there is no smaller size, or if the workload is not about its time.
#[must_use]
pub fn fewer(contender: &Contender, workload: &Workload, row: &Row) -> Option<u64> {
    let is_short = *row.raw_wall_s.first()? < SHORT_S;
    let fewer = match workload.option(workload.size)?.kind {
        Kind::PowerOfTen { .. } => row.ops / 10,
        _ => row.ops / 2,
    };
    let spec = contender.workload.get(workload.name)?;
    let least = spec.at_least.get(workload.size).copied();
    let is_enough = fewer >= least.unwrap_or(0).max(OPS_FEWEST);
    (is_short && is_enough && is_about_time(workload.name)).then_some(fewer)
}

/// Nanoseconds an operation, from the seconds of two runs and their operations.
#[must_use]
pub fn ns_per_op([more_s, fewer_s]: [f64; 2], [more, fewer]: [u64; 2]) -> f64 {
    (more_s - fewer_s) * 1e9 / (more - fewer) as f64
}

/// Has the row say the median of all rounds, once there are several, or why there is none.
pub fn record(row: &mut Row, slopes: &[f64]) {
    let Some(slopes) = spread(slopes).filter(|_| slopes.len() > 1) else {
        return;
    };
    row.slope_ns_per_op = Some(slopes.median).filter(|median| *median > 0.0);
    let nothing = row.slope_ns_per_op.is_none();
    row.no_slope =
        nothing.then(|| "more operations took no longer: nearly all is the start".into());
}

#[cfg(test)]
mod tests;
