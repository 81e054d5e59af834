//! More tasks at one object than anybody has workers or cores.

use crate::figures::{Figure, Of};
use crate::workload::{Kind, Opt, Usual, Workload};

use super::{MANY_MAX, number};

const fn of_turns(name: &'static str, heading: &'static str) -> Figure {
    let of = Of::Median;
    Figure { name, heading, of }
}

pub(super) const CROWD: Workload = Workload {
    name: "crowd",
    about: "10,000 tasks on W workers use one object over and over until the time is over; one millisecond is one",
    op: ["ms", "ms"],
    options: &[
        Opt {
            name: "object",
            help: "What the tasks use",
            kind: Kind::Choice(&[
                ("mutex", "a lock: each turn adds one to what it guards"),
                (
                    "rwlock",
                    "a read-write lock: every eighth turn of a task writes, the others read",
                ),
                ("semaphore", "a semaphore with four permits"),
                (
                    "bounded",
                    "a channel of one: the tasks send, one more receives",
                ),
            ]),
        },
        number(
            "workers",
            "How many workers there are, whatever the machine has",
            Usual::Always(8),
            1_024,
            "a runtime has at least one worker",
        ),
        number(
            "tasks",
            "How many tasks there are",
            Usual::Always(10_000),
            MANY_MAX,
            "a crowd has at least one task",
        ),
        number(
            "ms",
            "For how many milliseconds they do so",
            Usual::Always(5_000),
            3_600_000,
            "turns are counted for at least a millisecond",
        ),
    ],
    size: "ms",
    // A run ends by time, so the time of an operation says nothing; and a contender that lets one task have all the
    // turns is quick, so the turns of a task stand beside.
    figures: &[
        of_turns("ns_per_turn", "ns/turn"),
        of_turns("mturns_per_s", "million turns/s"),
        of_turns("cpu_ns_per_turn", "CPU ns/turn"),
        of_turns("turns_min", "turns a task: min"),
        of_turns("turns_median", "median"),
        of_turns("turns_max", "max"),
    ],
    title: |values| {
        let object = match values.choice("object") {
            "rwlock" => "a read-write lock",
            "semaphore" => "a semaphore of four",
            "bounded" => "a channel of one",
            _ => "a lock",
        };
        let [workers, tasks, ms] = ["workers", "tasks", "ms"].map(|name| values.number(name));
        format!("{tasks} tasks at {object}, {workers} workers, {ms} ms; what counts is below")
    },
    // The tasks that came to their end, if the object has counted what they have.
    expected: |values| values.number("tasks").to_string(),
};
