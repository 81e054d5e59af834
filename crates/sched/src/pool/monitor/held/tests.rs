//! Threads that run, wait for a processor and are blocked as planned, looked at by one that may be preempted itself.

use std::time::{Duration, Instant};

use gossamer_core::platform::ThreadLook;

use super::{Hold, Sample};

/// The activity of a thread for some milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Runs,
    Queues,
    Blocks,
}
use Does::{Blocks, Queues, Runs};

/// The activities of a thread, each with its duration in milliseconds.
type Steps = &'static [(Does, u64)];

/// The activities of a thread in sequence, each with its duration in milliseconds.
struct Plan(Vec<(Does, u64)>);

impl Plan {
    /// How many of the milliseconds between these two it does that.
    fn spent(&self, does: Does, from: u64, to: u64) -> u64 {
        let mut at = 0;
        let mut spent = 0;
        for &(what, ms) in &self.0 {
            let (begins, ends) = (at.max(from), (at + ms).min(to));
            if what == does {
                spent += ends.saturating_sub(begins);
            }
            at += ms;
        }
        spent
    }

    /// Returns the activity at `time`, and when it began.
    fn at(&self, time: u64) -> (Does, u64) {
        let mut begins = 0;
        for &(what, ms) in &self.0 {
            if time < begins + ms {
                return (what, begins);
            }
            begins += ms;
        }
        unreachable!("the plan ends at {begins}");
    }

    /// The look of one who begins it at the first time, and is preempted in the midst of it until the second one.
    fn look(&self, epoch: Instant, began: u64, ended: u64) -> Sample {
        let (does, since) = self.at(ended);
        // A wait counts when it is over.
        let counted = if does == Queues { since } else { ended };
        Sample {
            began: epoch + Duration::from_millis(began),
            ended: epoch + Duration::from_millis(ended),
            look: Some(ThreadLook {
                cpu: Duration::from_millis(self.spent(Runs, 0, ended)),
                queued: Duration::from_millis(self.spent(Queues, 0, counted)),
                is_blocked: does == Blocks,
            }),
        }
    }

    /// The CPU time counts from `pinged`.
    fn held(&self, pinged: u64, first: (u64, u64), last: (u64, u64)) -> (u64, Hold) {
        let epoch = Instant::now();
        let cpu = Duration::from_millis(self.spent(Runs, 0, pinged));
        let before = self.look(epoch, first.0, first.1).since(Some(cpu));
        let (held, hold) = self.look(epoch, last.0, last.1).held_since(&before);
        (u64::try_from(held.as_millis()).expect("short"), hold)
    }
}

#[test]
fn what_holds_a_worker() {
    let table: [(Steps, (u64, Hold)); 7] = [
        (&[(Runs, 30)], (22, Hold::Busy)),
        (&[(Blocks, 30)], (20, Hold::Blocked)),
        // Preempted in a short poll: for long, and all the time.
        (&[(Runs, 6), (Queues, 24)], (3, Hold::Busy)),
        (&[(Queues, 30)], (0, Hold::Blocked)),
        // Preempted for long, and then blocked for a moment.
        (&[(Runs, 6), (Queues, 18), (Blocks, 6)], (3, Hold::Busy)),
        // Blocked again and again, which uses some time.
        (
            &[(Blocks, 9), (Runs, 1), (Blocks, 9), (Runs, 1), (Blocks, 9)],
            (20, Hold::Blocked),
        ),
        // It competes with two others.
        (
            &[(Runs, 5), (Queues, 10), (Runs, 5), (Queues, 4), (Runs, 5)],
            (8, Hold::Busy),
        ),
    ];
    for (plan, expected) in table {
        let plan = Plan([plan, &[(Blocks, 1)]].concat());
        let found = plan.held(3, (5, 5), (25, 25));
        assert_eq!(found, expected, "{:?}", plan.0);
    }
}

/// Whatever a thread does, and whenever who looks is preempted: no time counts in which the thread waited for a
/// processor; and of one that only ran, or was blocked in the end, all of the time between the looks does.
#[test]
fn only_what_was_run_or_blocked_counts() {
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = |limit: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % limit
    };
    for round in 0..20_000 {
        let parts = (0..1 + below(8)).map(|_| {
            let does = [Runs, Queues, Blocks][below(3) as usize];
            (does, below(20))
        });
        let mut parts: Vec<_> = parts.collect();
        parts.push((Blocks, 200));
        let plan = Plan(parts);
        let mut times = [(); 5].map(|()| below(120));
        times.sort_unstable();
        let [pinged, began, first, then, last] = times;
        let (found, _) = plan.held(pinged, (began, first), (then, last));
        let truth = plan.spent(Runs, pinged, last) + plan.spent(Blocks, pinged, last);
        let context = (round, &plan.0, times);
        assert!(found <= truth, "{found} of {truth}: {context:?}");
        let waited = plan.spent(Queues, first, last) > 0 || plan.at(first).0 == Queues;
        if !waited && plan.at(last).0 == Blocks {
            assert!(found >= then - first, "{found}: {context:?}");
        }
    }
}
