//! How many operations each contender gets.
//!
//! Costs differ by five orders of magnitude, so "the same number for all in two minutes" cannot
//! be had. Without an explicit number every contender gets the usual one unless it is too slow
//! for its share of the budget; the row then says how many it got. Only rough costs from the
//! catalogue enter here, and nothing from here enters a result.

use crate::catalogue::RunSpec;
use crate::format::{figure, thousands};
use crate::workload::Request;

/// What the measuring of a whole run without an explicit size should take.
pub const BUDGET_S: f64 = 110.0;
/// What it takes at most, however wrong the estimates are.
pub const LIMIT_S: f64 = 2.0 * BUDGET_S;
/// Fewer operations than this measure the start of the process and little else.
const OPS_LEAST: u64 = 20_000;
/// Unless they take longer than this: then this long is enough.
const SECONDS_LEAST: f64 = 2.0;
/// So few are run however long they take: a small explicit size stays what it is.
pub(crate) const OPS_FEWEST: u64 = 100;
/// An estimate may be wrong by this much before a contender runs into the timeout.
const TIMEOUT_MARGIN: f64 = 2.5;

/// How often, and how long, the contenders may run.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// Runs of each contender.
    pub runs: u32,
    /// Seconds that a single run may take.
    pub timeout_s: u64,
    /// Seconds that all runs together should take, unless a size was asked for.
    pub budget_s: f64,
    /// Seconds that a single run should take at most, even then.
    pub most_s: f64,
}

impl How {
    /// A single run may take whatever the timeout and the budget leave.
    #[must_use]
    pub fn new(runs: u32, timeout_s: u64, budget_s: f64) -> How {
        How {
            runs,
            timeout_s,
            budget_s,
            most_s: f64::INFINITY,
        }
    }
}

/// The size of one contender's run, and what to say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Size {
    /// How many operations.
    pub ops: u64,
    /// Why not as many as the others, if so.
    pub note: Option<String>,
}

/// Sizes for all contenders at once: what was asked for each unless that would hit the timeout, or,
/// with nothing asked, what fits into the budget.
#[must_use]
pub fn sizes(specs: &[&RunSpec], request: &Request, how: &How) -> Vec<Size> {
    let costs: Vec<f64> = specs.iter().map(|spec| cost_ns(spec, request)).collect();
    let wanted = request.ops();
    let by_timeout = (how.timeout_s as f64 / TIMEOUT_MARGIN).min(how.most_s);
    let cap_s = match request.asked {
        Some(_) => by_timeout,
        None => {
            let times: Vec<f64> = costs
                .iter()
                .map(|cost| cost * wanted as f64 / 1e9)
                .collect();
            share(&times, how.budget_s / f64::from(how.runs)).min(by_timeout)
        }
    };
    let round = |ops| request.workload.round(ops);
    costs
        .iter()
        .map(|&cost| size(wanted, cost, cap_s, round))
        .collect()
}

fn cost_ns(spec: &RunSpec, request: &Request) -> f64 {
    let Some(option) = &spec.cost_grows_with else {
        return spec.cost_ns;
    };
    let stated = request.workload.usual_values().number(option).max(1);
    spec.cost_ns * request.values.number(option) as f64 / stated as f64
}

/// The longest that each may take such that all together take `total_s`: those that need less leave
/// their rest to the slow ones.
pub(crate) fn share(times: &[f64], total_s: f64) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    let mut left = total_s;
    for (index, time) in times.iter().enumerate() {
        let equal = left / (times.len() - index) as f64;
        if *time > equal {
            return equal;
        }
        left -= time;
    }
    f64::INFINITY
}

/// In which order a round runs its jobs: as listed in the first one, then in another order in each, the same on every
/// machine. Who comes first, and who comes after whom, would otherwise be the same in all of them.
#[must_use]
pub fn order(round: u32, jobs: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..jobs).collect();
    if round == 0 {
        return order;
    }
    // Fisher and Yates over splitmix64.
    let mut state = u64::from(round);
    for last in (1..jobs).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        order.swap(last, ((mixed ^ (mixed >> 31)) % (last as u64 + 1)) as usize);
    }
    order
}

fn size(wanted: u64, cost: f64, cap_s: f64, round: impl Fn(u64) -> u64) -> Size {
    if wanted as f64 * cost / 1e9 <= cap_s {
        return Size {
            ops: wanted,
            note: None,
        };
    }
    let within = |seconds: f64| (seconds * 1e9 / cost) as u64;
    let least = within(SECONDS_LEAST).clamp(OPS_FEWEST, OPS_LEAST);
    let ops = round(within(cap_s).max(least)).min(wanted);
    let note = (ops < wanted).then(|| {
        format!(
            "{} operations instead of {}: at about {} ns each a run should take {} s at most",
            thousands(ops),
            thousands(wanted),
            figure(cost),
            figure(cap_s)
        )
    });
    Size { ops, note }
}

#[cfg(test)]
mod tests;
