//! The workloads about sockets: contenders are servers, and `lab client` is the other side.

use crate::figures::{Figure, Of};
use crate::workload::{IDLE_MS, Kind, Opt, Usual, Workload};

use super::{MANY_MAX, OPS_MAX, number};

/// Those whose contenders are servers.
pub(crate) const SOCKETS: [&str; 5] = ["http", "connect", "echo", "idle", "stuck"];

const fn said(name: &'static str, heading: &'static str) -> Figure {
    let of = Of::Median;
    Figure { name, heading, of }
}

const fn perhaps(name: &'static str, heading: &'static str) -> Figure {
    let of = Of::MedianIfSaid;
    Figure { name, heading, of }
}

const CALLS: Opt = Opt {
    name: "calls",
    help: "Whether system calls and instructions are counted, too, in runs of their own",
    kind: Kind::Choice(&[
        ("uncounted", "they are not"),
        (
            "counted",
            "the server runs again below strace and perf, or valgrind where that can be",
        ),
    ]),
};

const fn connections(usual: u64, help: &'static str) -> Opt {
    let why = "a client has at least one connection";
    number("connections", help, Usual::Always(usual), 1_000_000, why)
}

const MS: Opt = number(
    "ms",
    "For how many milliseconds a client makes requests",
    Usual::Always(3_000),
    3_600_000,
    "requests are made for at least a millisecond",
);

/// The rows stand by what a request costs the server: where the client is the slower side, its time is the client's.
const HTTP_COSTS: &[Figure] = &[
    said("cpu_us_per_request", "CPU µs/request"),
    said("user_us_per_request", "in user mode"),
    said("busy_percent", "busy %"),
    said("requests_per_s", "requests/s"),
    said("us_per_request", "µs/request"),
    said("p99_us", "p99 µs"),
    perhaps("instructions_per_request", "instructions"),
    perhaps("calls_per_request", "system calls"),
    perhaps("wrk_requests_per_s", "wrk: requests/s"),
    perhaps("wrk_busy_percent", "busy %"),
    perhaps("wrk_p99_us", "p99 µs"),
];

/// The same without the three of wrk, which closes no connection.
const CONNECT_COSTS: &[Figure] = HTTP_COSTS.split_at(HTTP_COSTS.len() - 3).0;

pub(super) const HTTP: Workload = Workload {
    name: "http",
    about: "a server of HTTP/1.1, whose connections the lab and then wrk keep busy until the time is over; one millisecond is one",
    op: ["ms", "ms"],
    options: &[
        connections(64, "How many connections each client keeps busy"),
        MS,
        CALLS,
    ],
    size: "ms",
    figures: HTTP_COSTS,
    title: |values| {
        let [connections, ms] = ["connections", "ms"].map(|name| values.number(name));
        format!("HTTP, {connections} connections kept, {ms} ms; what counts is below")
    },
    // As many as were asked for, if all that came on them was right.
    expected: |values| values.number("connections").to_string(),
};

pub(super) const CONNECT: Workload = Workload {
    name: "connect",
    about: "a server accepts, answers one request and closes, until the time is over; one millisecond is one",
    op: ["ms", "ms"],
    options: &[
        connections(16, "How many connections there are at any time"),
        MS,
        CALLS,
    ],
    size: "ms",
    figures: CONNECT_COSTS,
    title: |values| {
        let [connections, ms] = ["connections", "ms"].map(|name| values.number(name));
        format!(
            "Accepting, one request, closing: {connections} connections at a time, {ms} ms; what counts is below"
        )
    },
    expected: |values| values.number("connections").to_string(),
};

pub(super) const ECHO: Workload = Workload {
    name: "echo",
    about: "64 bytes go there and back on 10,000 connections by turns; one round trip is one",
    op: ["trip", "trips"],
    options: &[
        number(
            "trips",
            "How many round trips there are on all connections together",
            Usual::Always(200_000),
            OPS_MAX,
            "a run has at least one trip",
        ),
        connections(10_000, "How many connections there are"),
        number(
            "at-once",
            "How many trips are on their way at any time",
            Usual::Always(64),
            MANY_MAX,
            "at least one trip is on its way",
        ),
        CALLS,
    ],
    size: "trips",
    figures: &[
        said("bytes_connection", "bytes/connection"),
        said("os_threads", "OS threads"),
        said("us_per_request", "µs/trip"),
        said("p99_us", "p99 µs"),
        said("cpu_us_per_request", "CPU µs"),
        said("user_us_per_request", "in user mode"),
        perhaps("instructions_per_request", "instructions"),
        perhaps("calls_per_request", "system calls"),
    ],
    title: |values| {
        let [connections, at_once] = ["connections", "at-once"].map(|name| values.number(name));
        format!("Echo, {connections} connections, {at_once} trips at once; what counts is below")
    },
    expected: |values| values.number("connections").to_string(),
};

pub(super) const IDLE: Workload = Workload {
    name: "idle",
    about: "10,000 connections on which nothing is sent for a minute: what the server does meanwhile; a connection is one",
    op: ["connection", "connections"],
    options: &[
        connections(10_000, "How many connections there are"),
        number(
            IDLE_MS,
            "For how many milliseconds nothing is sent",
            Usual::Always(60_000),
            3_600_000,
            "the server is idle for at least a millisecond",
        ),
    ],
    size: "connections",
    figures: &[
        said("idle_cpu_ms", "CPU ms"),
        said("idle_switches", "switches"),
        said("idle_switches_involuntary", "involuntary ones"),
        said("bytes_connection", "bytes/connection"),
        said("os_threads", "OS threads"),
    ],
    title: |values| {
        let [connections, ms] = ["connections", IDLE_MS].map(|name| values.number(name));
        format!("{connections} idle connections, looked at for {ms} ms; what counts is below")
    },
    expected: |values| values.number("connections").to_string(),
};

pub(super) const STUCK: Workload = Workload {
    name: "stuck",
    about: "1,000 connections keep to a schedule while all workers of the server block at once: how late replies are",
    op: ["time", "times"],
    options: &[
        number(
            "times",
            "How often all workers block",
            Usual::Always(10),
            1_000,
            "the workers block at least once",
        ),
        connections(
            1_000,
            "How many connections send a request a second each, one after the other",
        ),
        number(
            "workers",
            "How many workers the server has, and how many handlers block at once",
            Usual::Always(2),
            1_024,
            "a server has at least one worker",
        ),
        number(
            "stuck-ms",
            "For how many milliseconds they block",
            Usual::Always(1_000),
            10_000,
            "a worker blocks for at least a millisecond",
        ),
    ],
    size: "times",
    figures: &[
        Figure {
            name: "late_ms_max",
            heading: "max ms",
            of: Of::Most,
        },
        said("late_ms_p99", "p99 ms"),
        said("late_ms_p50", "p50 ms"),
        Figure {
            name: "stuck_ms_max",
            heading: "longest block ms",
            of: Of::Most,
        },
        Figure {
            name: "os_threads_max",
            heading: "most OS threads",
            of: Of::Most,
        },
    ],
    title: |values| {
        let [connections, workers, ms, times] =
            ["connections", "workers", "stuck-ms", "times"].map(|name| values.number(name));
        format!(
            "How late replies on {connections} connections are: {workers} workers block, {times} × {ms} ms"
        )
    },
    expected: |values| values.number("connections").to_string(),
};
