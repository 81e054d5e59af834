//! The workloads, each as a description: options, title, and the answer that must come out.

mod bfs;
mod channels;
mod crowd;
mod dice;
pub(crate) mod nucleotides;
mod parallel;
mod savina;
mod schedules;
mod sockets;
mod waiting;

use crate::workload::{Kind, Opt, Usual, Workload};
use bfs::BFS;
use channels::{MESSAGE_RING, MPMC, MPSC, MSGSEND, PIPE, PORTS, RENDEZVOUS, SPSC};
use crowd::CROWD;
use dice::DICE;
use nucleotides::K_NUCLEOTIDE;
use parallel::{FIB, QUICKSORT};
use savina::{BANK, BIG, BOUNDED_BUFFER, FORKJOIN, UTS};
use schedules::SCHEDULES;
pub(crate) use sockets::SOCKETS;
use sockets::{CONNECT, ECHO, HTTP, IDLE, STUCK};
use waiting::{HOSTAGE, MUTEX, PARK, TIMERS};

/// All of them, in the order in which they are listed.
pub static WORKLOADS: [Workload; 39] = [
    RING,
    SPAWN,
    YIELD,
    PINGPONG,
    SKYNET,
    FIB,
    QUICKSORT,
    CPU,
    RESIZE,
    WORKERS,
    SLOT,
    PARK,
    MUTEX,
    TIMERS,
    HOSTAGE,
    CROWD,
    SPSC,
    MPSC,
    MPMC,
    RENDEZVOUS,
    PORTS,
    PIPE,
    MESSAGE_RING,
    MSGSEND,
    K_NUCLEOTIDE,
    BFS,
    DICE,
    SCHEDULES,
    HTTP,
    CONNECT,
    ECHO,
    IDLE,
    STUCK,
    FORKJOIN,
    BIG,
    BOUNDED_BUFFER,
    UTS,
    BANK,
    PROCESS,
];

/// The workload of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Workload> {
    WORKLOADS.iter().find(|workload| workload.name == name)
}

/// Whether what a workload measures is time per operation; and not idle workers, lateness, turns until a time is over,
/// searches, evaluations and explorations without what is around them, what a server and its client do, or the lab itself.
#[must_use]
pub fn is_about_time(name: &str) -> bool {
    ![
        "workers",
        "hostage",
        "crowd",
        "bfs",
        "dice",
        "schedules",
        "process",
    ]
    .contains(&name)
        && !SOCKETS.contains(&name)
}

/// Operations are counted in signed 64 bits by some contenders.
const OPS_MAX: u64 = i64::MAX as u64;
/// More than this of something at the same time is a typing error, not a benchmark.
const MANY_MAX: u64 = 100_000_000;

const fn number(
    name: &'static str,
    help: &'static str,
    usual: Usual,
    most: u64,
    why: &'static str,
) -> Opt {
    let range = [1, most];
    let kind = Kind::Number { range, usual, why };
    Opt { name, help, kind }
}

const RING: Workload = Workload {
    name: "ring",
    about: "N threads in a ring pass a token H times; one hop is one wake-up",
    op: ["hop", "hops"],
    options: &[
        number(
            "threads",
            "How many threads are in the ring",
            Usual::Always(503),
            MANY_MAX,
            "a ring has at least one thread",
        ),
        number(
            "hops",
            "How often the token is passed on",
            Usual::Always(10_000_000),
            OPS_MAX,
            "a run has at least one hop",
        ),
        Opt {
            name: "order",
            help: "In which order the threads are created",
            kind: Kind::Choice(&[
                ("forward", "along the way the token takes"),
                ("reverse", "against it"),
                (
                    "shuffled",
                    "random, from a fixed seed that all contenders share",
                ),
            ]),
        },
    ],
    size: "hops",
    figures: &[],
    title: |values| {
        let (threads, order) = (values.number("threads"), values.choice("order"));
        format!("Thread ring, {threads} threads, {order} order")
    },
    // Thread 1 receives the token first, with as many hops left as were asked for.
    expected: |values| (values.number("hops") % values.number("threads") + 1).to_string(),
};

const SPAWN: Workload = Workload {
    name: "spawn",
    about: "a task spawns tasks that return a number and joins them; one spawn and join is one",
    op: ["spawn", "spawns"],
    options: &[
        number(
            "spawns",
            "How many tasks are spawned and joined",
            Usual::Always(2_000_000),
            OPS_MAX,
            "a run has at least one spawn",
        ),
        number(
            "batch",
            "How many are spawned before the first of them is joined",
            Usual::Always(1),
            MANY_MAX,
            "a batch has at least one task",
        ),
    ],
    size: "spawns",
    figures: &[],
    title: |values| format!("Spawn and join, {} at a time", values.number("batch")),
    // The tasks return 0, 1, 2, …; their sum is kept in 32 bits.
    expected: |values| {
        let spawns = u128::from(values.number("spawns"));
        (spawns * (spawns - 1) / 2 % (1 << 32)).to_string()
    },
};

const YIELD: Workload = Workload {
    name: "yield",
    about: "T tasks do nothing but give way to each other; one yield is one",
    op: ["yield", "yields"],
    options: &[
        number(
            "yields",
            "How many yields all tasks do together",
            Usual::Always(10_000_000),
            OPS_MAX,
            "a run has at least one yield",
        ),
        number(
            "tasks",
            "How many tasks there are",
            Usual::Always(20),
            MANY_MAX,
            "somebody must yield: at least one task",
        ),
    ],
    size: "yields",
    figures: &[],
    title: |values| format!("Yielding, {} tasks", values.number("tasks")),
    expected: |values| values.number("yields").to_string(),
};

const PINGPONG: Workload = Workload {
    name: "pingpong",
    about: "two tasks send a number to and fro; one round trip is two wake-ups",
    op: ["trip", "trips"],
    options: &[
        number(
            "trips",
            "How many round trips all pairs make together",
            Usual::Always(5_000_000),
            OPS_MAX / 2,
            "a run has at least one trip",
        ),
        number(
            "pairs",
            "How many pairs of tasks do so at the same time",
            Usual::Always(1),
            MANY_MAX,
            "there is at least one pair",
        ),
    ],
    size: "trips",
    figures: &[],
    title: |values| format!("Ping-pong, pairs: {}", values.number("pairs")),
    // Each way adds one.
    expected: |values| (2 * values.number("trips")).to_string(),
};

const SKYNET: Workload = Workload {
    name: "skynet",
    about: "a tree of tasks, ten children each; the leaves' numbers are added up; one leaf is one",
    op: ["leaf", "leaves"],
    options: &[Opt {
        name: "leaves",
        help: "How many leaves the tree has; a power of ten",
        kind: Kind::PowerOfTen {
            range: [1, 1_000_000_000],
            usual: Usual::Always(1_000_000),
            why: "each task has ten children or none",
        },
    }],
    size: "leaves",
    figures: &[],
    title: |_| "Skynet: a tree of tasks, ten children each".into(),
    expected: |values| {
        let leaves = u128::from(values.number("leaves"));
        (leaves * (leaves - 1) / 2).to_string()
    },
};

const CPU: Workload = Workload {
    name: "cpu",
    about: "tasks that only calculate, in parallel; one step of a generator is one round",
    op: ["round", "rounds"],
    options: &[
        number(
            "rounds",
            "How many steps all tasks take together",
            Usual::Always(1_000_000_000),
            OPS_MAX,
            "a run has at least one round",
        ),
        number(
            "tasks",
            "How many tasks (or processes) share them",
            Usual::Always(2),
            MANY_MAX,
            "somebody must calculate: at least one task",
        ),
    ],
    size: "rounds",
    figures: &[],
    title: |values| format!("Bare arithmetic, cut into {} tasks", values.number("tasks")),
    expected: |values| {
        let (rounds, tasks) = (values.number("rounds"), values.number("tasks"));
        (0..tasks)
            .map(|task| generator_after(task + 1, part(rounds, tasks, task).into()))
            .fold(0, std::ops::BitXor::bitxor)
            .to_string()
    },
};

const RESIZE: Workload = Workload {
    name: "resize",
    about: "yielding tasks while the number of workers goes 1, 8, 1, 8, …; one yield is one",
    op: ["yield", "yields"],
    options: &[
        number(
            "yields",
            "How many yields all tasks do together",
            Usual::Always(20_000_000),
            OPS_MAX,
            "a run has at least one yield",
        ),
        number(
            "tasks",
            "How many tasks there are",
            Usual::Always(1_000),
            MANY_MAX,
            "somebody must yield: at least one task",
        ),
    ],
    size: "yields",
    figures: &[],
    title: |values| {
        format!(
            "Throughput while the number of workers changes, {} tasks",
            values.number("tasks")
        )
    },
    expected: |values| values.number("yields").to_string(),
};

const WORKERS: Workload = Workload {
    name: "workers",
    about: "W workers run a small task each and are idle then: what one more costs while it waits",
    op: ["worker", "workers"],
    options: &[
        number(
            "workers",
            "How many workers the runtime has",
            Usual::Always(64),
            1_024,
            "a runtime has at least one worker",
        ),
        number(
            "idle-ms",
            "How many milliseconds they are idle",
            Usual::Always(1_000),
            3_600_000,
            "they are idle for at least a millisecond",
        ),
    ],
    size: "workers",
    figures: &[],
    title: |values| {
        format!(
            "{} workers, idle for {} ms; what counts is memory, processor time and switches",
            values.number("workers"),
            values.number("idle-ms")
        )
    },
    expected: |values| values.number("workers").to_string(),
};

const SLOT: Workload = Workload {
    name: "slot",
    about: "tasks woken by one that works on, or short ones: what a slot for the next task is worth",
    op: ["wake", "wakes"],
    options: &[
        Opt {
            name: "which",
            help: "Which of the two",
            kind: Kind::Choice(&[
                (
                    "busy",
                    "a task wakes another one and calculates on, and the other one calculates as long \
                     (tokio#4941: who waits in the slot of a busy worker, waits)",
                ),
                (
                    "short",
                    "a task spawns short handlers and joins each \
                     (tokio#8065: stealing from the slot wakes workers for nothing)",
                ),
            ]),
        },
        number(
            "wakes",
            "How many tasks are woken, or spawned",
            Usual::By("which", &[10_000, 500_000]),
            OPS_MAX,
            "a run has at least one wake-up",
        ),
        number(
            "work",
            "How many steps of the generator a piece of work has",
            Usual::By("which", &[50_000, 2_000]),
            1_000_000_000,
            "a piece of work has at least one step",
        ),
    ],
    size: "wakes",
    figures: &[],
    title: |values| {
        format!(
            "The slot for the next task: {}, {} steps a piece",
            values.choice("which"),
            values.number("work")
        )
    },
    expected: |values| {
        let steps = u128::from(values.number("wakes")) * u128::from(values.number("work"));
        let other = match values.choice("which") {
            "busy" => generator_after(2, steps),
            _ => 0,
        };
        (generator_after(1, steps) ^ other).to_string()
    },
};

const PROCESS: Workload = Workload {
    name: "process",
    about: "a process that does nothing: what starting, ending and the lab itself add to every figure",
    op: ["process", "processes"],
    options: &[],
    size: "",
    figures: &[],
    title: |_| "A process that does nothing".into(),
    expected: |_| String::new(),
};

/// What one of `parts` gets of `total`: equal parts, the first ones one more if it does not come out even.
fn part(total: u64, parts: u64, index: u64) -> u64 {
    total / parts + u64::from(index < total % parts)
}

/// The state of the generator that contenders calculate with (xorshift; Marsaglia 2003) after so many
/// steps, without taking them: a step is a linear map of 64 bits, and two steps are one, too.
fn generator_after(seed: u64, mut steps: u128) -> u64 {
    let mut map: [u64; 64] = std::array::from_fn(|bit| step(1 << bit));
    let mut state = seed;
    while steps > 0 {
        if steps % 2 == 1 {
            state = mapped(&map, state);
        }
        map = map.map(|column| mapped(&map, column));
        steps /= 2;
    }
    state
}

fn step(mut state: u64) -> u64 {
    state ^= state << 13;
    state ^= state >> 7;
    state ^ (state << 17)
}

/// The sum of what the map makes of each bit.
fn mapped(map: &[u64; 64], state: u64) -> u64 {
    (0..64)
        .filter(|bit| state >> bit & 1 == 1)
        .fold(0, |sum, bit| sum ^ map[bit])
}

#[cfg(test)]
mod tests;
