//! The workloads about channels.

use crate::workload::{Kind, Opt, Usual, Values, Workload};

use super::{MANY_MAX, number};

/// The sum of all numbers below this fits into 63 bits.
const MESSAGES_MAX: u64 = 4_000_000_000;

const fn messages(usual: u64) -> Opt {
    number(
        "messages",
        "How many messages are sent together",
        Usual::Always(usual),
        MESSAGES_MAX,
        "a run has at least one message",
    )
}

const fn senders(usual: u64) -> Opt {
    number(
        "senders",
        "How many tasks or threads send",
        Usual::Always(usual),
        MANY_MAX,
        "somebody must send: at least one sender",
    )
}

const CAPACITY: Opt = number(
    "capacity",
    "How many messages the channel holds",
    Usual::Always(1_024),
    MANY_MAX,
    "the channel holds at least one message; rendezvous has the one that holds none",
);

const RECEIVE: Opt = Opt {
    name: "receive",
    help: "How many messages the receiver takes at a time",
    kind: Kind::Choice(&[("one", "one"), ("many", "what is there, in one operation")]),
};

/// Each number below that of the messages is sent once, whoever sends it.
fn sum(values: &Values) -> String {
    let messages = values.number("messages");
    (messages * (messages - 1) / 2).to_string()
}

pub(super) const SPSC: Workload = Workload {
    name: "spsc",
    about: "one sender and one receiver, numbers through a bounded channel; one message is one",
    op: ["message", "messages"],
    options: &[messages(20_000_000), CAPACITY],
    size: "messages",
    figures: &[],
    title: |values| {
        format!(
            "One sender, one receiver, a channel for {} messages",
            values.number("capacity")
        )
    },
    expected: sum,
};

pub(super) const MPSC: Workload = Workload {
    name: "mpsc",
    about: "S senders and one receiver, numbers through a bounded channel; one message is one",
    op: ["message", "messages"],
    options: &[messages(10_000_000), senders(1), CAPACITY, RECEIVE],
    size: "messages",
    figures: &[],
    title: |values| {
        let [senders, capacity] = ["senders", "capacity"].map(|name| values.number(name));
        let at_once = match values.choice("receive") {
            "many" => ", many at a time",
            _ => "",
        };
        format!("Senders: {senders}, one receiver{at_once}, a channel for {capacity} messages")
    },
    expected: sum,
};

pub(super) const MPMC: Workload = Workload {
    name: "mpmc",
    about: "S senders and R receivers, numbers through a bounded channel; one message is one",
    op: ["message", "messages"],
    options: &[
        messages(10_000_000),
        senders(4),
        number(
            "receivers",
            "How many tasks or threads receive",
            Usual::Always(4),
            MANY_MAX,
            "somebody must receive: at least one receiver",
        ),
        CAPACITY,
    ],
    size: "messages",
    figures: &[],
    title: |values| {
        let [senders, receivers, capacity] =
            ["senders", "receivers", "capacity"].map(|name| values.number(name));
        format!("Senders: {senders}, receivers: {receivers}, a channel for {capacity} messages")
    },
    expected: sum,
};

pub(super) const RENDEZVOUS: Workload = Workload {
    name: "rendezvous",
    about: "one sender and one receiver who meet for each number, as the channel holds none; one message is one",
    op: ["message", "messages"],
    options: &[messages(5_000_000)],
    size: "messages",
    figures: &[],
    title: |_| "One sender, one receiver, a channel that holds nothing".into(),
    expected: sum,
};

pub(super) const PORTS: Workload = Workload {
    name: "ports",
    about: "many channels, of which some have messages, and one receiver of whatever any of them has; one message is one",
    op: ["message", "messages"],
    options: &[
        messages(10_000_000),
        number(
            "ports",
            "How many channels there are; each holds one message",
            Usual::Always(1_000),
            10_000_000,
            "there is at least one channel",
        ),
        number(
            "active",
            "How many of them get messages, one after the other in a shuffled order",
            Usual::Always(10),
            10_000_000,
            "at least one channel gets messages",
        ),
        RECEIVE,
    ],
    size: "messages",
    figures: &[],
    title: |values| {
        let [ports, active] = ["ports", "active"].map(|name| values.number(name));
        let at_once = match values.choice("receive") {
            "many" => ", many at a time",
            _ => "",
        };
        format!(
            "One receiver of {ports} channels, {} active{at_once}",
            active.min(ports)
        )
    },
    expected: sum,
};

pub(super) const MESSAGE_RING: Workload = Workload {
    name: "message-ring",
    about: "T tasks in a ring, each sends to the next one and receives from the one before, by turns; one message is one",
    op: ["message", "messages"],
    options: &[
        messages(5_000_000),
        number(
            "tasks",
            "How many tasks are in the ring",
            Usual::Always(100),
            MANY_MAX,
            "a ring has at least one task",
        ),
    ],
    size: "messages",
    figures: &[],
    title: |values| format!("Message ring, {} tasks", values.number("tasks")),
    // Who sends m messages sends 0, 1, …, m - 1.
    expected: |values| {
        let [messages, tasks] = ["messages", "tasks"].map(|name| values.number(name));
        let sum = |count: u64| u128::from(count) * u128::from(count.saturating_sub(1)) / 2;
        let (each, more) = (messages / tasks, messages % tasks);
        let all = u128::from(more) * sum(each + 1) + u128::from(tasks - more) * sum(each);
        all.to_string()
    },
};

/// What a request is about, in bytes.
const REQUEST: u64 = 100;

pub(super) const MSGSEND: Workload = Workload {
    name: "msgsend",
    about: "S senders and one server, requests of which it adds up the bytes, without a bound; one request is one",
    op: ["request", "requests"],
    options: &[
        number(
            "requests",
            "How many requests are sent together",
            Usual::Always(5_000_000),
            MESSAGES_MAX,
            "a run has at least one request",
        ),
        senders(4),
        number(
            "interval",
            "A sender calculates for so many steps of the generator, less one, before each request",
            Usual::Always(1),
            1_000_000_000,
            "1 is no step between two requests",
        ),
    ],
    size: "requests",
    figures: &[],
    title: |values| {
        let [senders, interval] = ["senders", "interval"].map(|name| values.number(name));
        let interval = match interval {
            1 => String::new(),
            steps => format!(", {} steps between two requests", steps - 1),
        };
        format!("msgsend: {senders} senders, one server{interval}")
    },
    expected: |values| (REQUEST * values.number("requests")).to_string(),
};
