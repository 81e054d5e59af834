//! The workloads about waiting: parked threads, a lock, timers, and workers that are held up.

use crate::figures::{Figure, Of};
use crate::workload::{Kind, Opt, Usual, Workload};

use super::{MANY_MAX, OPS_MAX, number};

pub(super) const PARK: Workload = Workload {
    name: "park",
    about: "N threads wait, each on a one-shot of its own, then all are woken: what a waiting thread weighs",
    op: ["thread", "threads"],
    options: &[number(
        "threads",
        "How many threads wait at the same time",
        Usual::Always(1_000_000),
        MANY_MAX,
        "at least one thread waits",
    )],
    size: "threads",
    figures: &[Figure {
        name: "bytes_each",
        heading: "bytes/thread",
        of: Of::MemoryEach,
    }],
    title: |values| format!("Parked threads, {} of them", values.number("threads")),
    // Thread k, counted from 0, is sent k; its sum.
    expected: |values| {
        let threads = u128::from(values.number("threads"));
        (threads * (threads - 1) / 2).to_string()
    },
};

pub(super) const MUTEX: Workload = Workload {
    name: "mutex",
    about: "T tasks take turns with one lock and add one to what it guards; one section is one",
    op: ["section", "sections"],
    options: &[
        Opt {
            name: "section",
            help: "What a task does while it has the lock",
            kind: Kind::Choice(&[
                ("short", "it adds one"),
                ("yield", "it reads, gives way, and writes one more"),
            ]),
        },
        number(
            "sections",
            "How often all tasks lock together",
            Usual::By("section", &[20_000_000, 2_000_000]),
            OPS_MAX,
            "a run has at least one section",
        ),
        number(
            "tasks",
            "How many tasks there are",
            Usual::Always(4),
            MANY_MAX,
            "somebody must lock: at least one task",
        ),
    ],
    size: "sections",
    figures: &[],
    title: |values| {
        let section = match values.choice("section") {
            "yield" => "with a yield inside",
            _ => "short sections",
        };
        format!("One lock, {} tasks, {section}", values.number("tasks"))
    },
    expected: |values| values.number("sections").to_string(),
};

pub(super) const TIMERS: Workload = Workload {
    name: "timers",
    about: "timers far ahead are cancelled and new ones set, in a random order; one of each is one",
    op: ["timer", "timers"],
    options: &[
        number(
            "timers",
            "How many are cancelled, each replaced by a new one",
            Usual::Always(2_000_000),
            OPS_MAX,
            "a run cancels at least one timer",
        ),
        number(
            "live",
            "How many are pending at any time",
            Usual::Always(1_000),
            MANY_MAX,
            "at least one timer is pending",
        ),
        number(
            "idle-ms",
            "How many milliseconds all these are left alone in the end",
            Usual::Always(1),
            3_600_000,
            "they are left alone for at least a millisecond",
        ),
    ],
    size: "timers",
    figures: &[],
    title: |values| {
        let (live, idle) = (values.number("live"), values.number("idle-ms"));
        format!("Timers set and cancelled, {live} pending, then left alone for {idle} ms")
    },
    // Those that were still pending when they were cancelled: all.
    expected: |values| values.number("timers").to_string(),
};

pub(super) const HOSTAGE: Workload = Workload {
    name: "hostage",
    about: "every worker is held up by a task that does not give way: how late a ticker of 1 ms is",
    op: ["hostage", "hostages"],
    options: &[
        Opt {
            name: "by",
            help: "What holds a task up",
            kind: Kind::Choice(&[
                (
                    "read",
                    "it reads from a pipe that nobody writes to meanwhile",
                ),
                ("spin", "it looks at the clock until the time is over"),
                (
                    "fault",
                    "it touches memory that is not there yet (Linux: userfaultfd)",
                ),
            ]),
        },
        number(
            "hostages",
            "How many tasks are held up at the same time, and how many workers there are if that can be chosen",
            Usual::Always(2),
            1_024,
            "somebody is held up: at least one task",
        ),
        number(
            "stuck-ms",
            "For how many milliseconds each is held up",
            Usual::Always(1_000),
            60_000,
            "a task is held up for at least a millisecond",
        ),
        number(
            "times",
            "How often each is held up, giving way in between",
            Usual::Always(1),
            1_000,
            "a task is held up at least once",
        ),
    ],
    size: "hostages",
    figures: &[
        Figure {
            name: "late_ms_max",
            heading: "max ms",
            of: Of::Most,
        },
        Figure {
            name: "late_ms_p99",
            heading: "p99 ms",
            of: Of::Median,
        },
        Figure {
            name: "late_ms_p50",
            heading: "p50 ms",
            of: Of::Median,
        },
        Figure {
            name: "ticks",
            heading: "ticks",
            of: Of::Median,
        },
        Figure {
            name: "os_threads_max",
            heading: "most OS threads",
            of: Of::MostIfSaid,
        },
    ],
    title: |values| {
        let by = match values.choice("by") {
            "spin" => "by a loop",
            "fault" => "by a page fault",
            _ => "in a read",
        };
        let [hostages, ms, times] =
            ["hostages", "stuck-ms", "times"].map(|name| values.number(name));
        format!("How late a ticker of 1 ms is: {hostages} tasks held up {by}, {times} × {ms} ms")
    },
    expected: |values| values.number("hostages").to_string(),
};
