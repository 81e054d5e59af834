//! Five programs of the Savina actor benchmarks (Imam, Sarkar 2014), with its published parameters as usual values.

use crate::workload::{Kind, Opt, Usual, Values, Workload};

use super::{MANY_MAX, number};

/// What an account of `bank` has at the beginning.
const BALANCE: u64 = 1_000_000;
/// The numbers of so many nodes have 32 bits, and of anything else nobody wants more.
const OPS_MAX: u64 = 1_000_000_000;

const fn ops(name: &'static str, help: &'static str, usual: u64, why: &'static str) -> Opt {
    number(name, help, Usual::Always(usual), OPS_MAX, why)
}

const fn actors(name: &'static str, help: &'static str, usual: u64) -> Opt {
    let why = "there is at least one of each kind of actor";
    number(name, help, Usual::Always(usual), 1_000_000, why)
}

pub(super) const FORKJOIN: Workload = Workload {
    name: "forkjoin",
    about: "Savina's fork-join (throughput): one sends to each of A actors by turns, which calculate a sine for each message; one message is one",
    op: ["message", "messages"],
    options: &[
        ops(
            "messages",
            "How many messages all actors get together; 10,000 for each of 60",
            600_000,
            "a run has at least one message",
        ),
        actors("actors", "How many actors there are", 60),
    ],
    size: "messages",
    figures: &[],
    title: |values| {
        let actors = values.number("actors");
        format!("Savina, fork-join (throughput): {actors} actors")
    },
    expected: |values| values.number("messages").to_string(),
};

pub(super) const BIG: Workload = Workload {
    name: "big",
    about: "Savina's big: each of A actors sends pings to random ones, the next when the pong has come; one ping and its pong is one",
    op: ["ping", "pings"],
    options: &[
        ops(
            "pings",
            "How many pings all actors send together; 20,000 by each of 120",
            2_400_000,
            "a run has at least one ping",
        ),
        actors("actors", "How many actors there are", 120),
    ],
    size: "pings",
    figures: &[],
    title: |values| format!("Savina, big: {} actors", values.number("actors")),
    expected: |values| values.number("pings").to_string(),
};

pub(super) const BOUNDED_BUFFER: Workload = Workload {
    name: "bounded-buffer",
    about: "Savina's bounded buffer: a manager between producers and consumers, who calculate for each item; one item is one",
    op: ["item", "items"],
    options: &[
        ops(
            "items",
            "How many items all producers make together; 1,000 by each of 40",
            40_000,
            "a run has at least one item",
        ),
        actors("producers", "How many producers there are", 40),
        actors("consumers", "How many consumers there are", 40),
        actors(
            "buffer",
            "How many items there may be, the ones that producers are about to make included",
            50,
        ),
        number(
            "cost",
            "How many hundred logarithms it takes to make an item, and to consume one",
            Usual::Always(25),
            1_000_000,
            "an item costs at least a hundred logarithms",
        ),
    ],
    size: "items",
    figures: &[],
    title: |values| {
        let [producers, consumers, buffer, cost] =
            ["producers", "consumers", "buffer", "cost"].map(|name| values.number(name));
        format!(
            "Savina, bounded buffer: {producers} producers, {consumers} consumers, room for {buffer}, cost {cost}"
        )
    },
    expected: |values| values.number("items").to_string(),
};

pub(super) const UTS: Workload = Workload {
    name: "uts",
    about: "Savina's uct, an unbalanced tree: each node is an actor and asks the root whether it may have children, then all are visited; one node is one",
    op: ["node", "nodes"],
    options: &[
        ops(
            "nodes",
            "How many nodes the tree has at most",
            200_000,
            "a tree has at least its root",
        ),
        number(
            "children",
            "How many children a node has if it has any",
            Usual::Always(10),
            1_000,
            "a node has at least one child, or none",
        ),
        number(
            "work",
            "How many steps of a generator the visit of a node takes in the mean; the deviation is 100",
            Usual::Always(500),
            1_000_000,
            "a visit takes at least one step",
        ),
    ],
    size: "nodes",
    figures: &[],
    title: |values| {
        let [children, work] = ["children", "work"].map(|name| values.number(name));
        format!("Savina, unbalanced tree: {children} children or none, {work} steps a node")
    },
    expected: |values| nodes(values).to_string(),
};

pub(super) const BANK: Workload = Workload {
    name: "bank",
    about: "Savina's bank transactions: a teller has accounts pay each other, and one that pays waits for the other; one transaction is one",
    op: ["transaction", "transactions"],
    options: &[
        ops(
            "transactions",
            "How many transactions there are",
            50_000,
            "a run has at least one transaction",
        ),
        Opt {
            name: "accounts",
            help: "How many accounts there are",
            kind: Kind::Number {
                range: [10, MANY_MAX],
                usual: Usual::Always(1_000),
                why: "eight of ten accounts pay, so there are ten at least",
            },
        },
    ],
    size: "transactions",
    figures: &[],
    title: |values| {
        format!(
            "Savina, bank transactions: {} accounts",
            values.number("accounts")
        )
    },
    // No money is lost, and each transaction is answered.
    expected: |values| {
        let [transactions, accounts] = ["transactions", "accounts"].map(|name| values.number(name));
        (accounts * BALANCE + transactions).to_string()
    },
};

/// How many nodes the tree gets. Which node has children depends on the order in which they ask, how many have does not:
/// the answer to the k-th question is the generator's.
fn nodes(values: &Values) -> u64 {
    let [most, children] = ["nodes", "children"].map(|name| values.number(name));
    // The first draws are the work of the root's children.
    let mut state = (0..=DRAWS).fold(SEED, |state, _| step(state));
    let (mut size, mut open) = (1 + children, children);
    while open > 0 && size + children <= most {
        open -= 1;
        state = step(state);
        if state % 2 == 1 {
            state = (0..DRAWS).fold(state, |state, _| step(state));
            (size, open) = (size + children, open + children);
        }
    }
    size
}

/// What the tree's generator begins with.
const SEED: u32 = 2;
/// How many draws a node's work takes.
const DRAWS: u32 = 12;

/// One step of xorshift with 32 bits (Marsaglia 2003).
fn step(mut state: u32) -> u32 {
    state ^= state << 13;
    state ^= state >> 17;
    state ^ (state << 5)
}
