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
    options: &[
        messages(10_000_000),
        senders(1),
        CAPACITY,
        Opt {
            name: "receive",
            help: "How many messages the receiver takes at a time",
            kind: Kind::Choice(&[("one", "one"), ("many", "what is there, in one operation")]),
        },
    ],
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
