//! The workloads of computations that call themselves: Fibonacci numbers, and sorting.

use crate::workload::{Usual, Workload};

use super::{MANY_MAX, number};

pub(super) const FIB: Workload = Workload {
    name: "fib",
    about: "the n-th Fibonacci number by its definition, both terms in parallel; calculating it once is one",
    op: ["number", "numbers"],
    options: &[
        number(
            "rounds",
            "How often it is calculated, one after the other",
            Usual::Always(200),
            MANY_MAX,
            "a run calculates it at least once",
        ),
        number(
            "n",
            "Which number; the 25th takes 242,784 joins",
            Usual::Always(25),
            40,
            "the first one is the least, and the 41st takes 330 million joins",
        ),
    ],
    size: "rounds",
    figures: &[],
    title: |values| {
        format!(
            "Fibonacci number {}, both terms in parallel",
            values.number("n")
        )
    },
    expected: |values| {
        let next = |(a, b), _| (b, a + b);
        let (fibonacci, _) = (0..values.number("n")).fold((0_u64, 1_u64), next);
        (u128::from(fibonacci) * u128::from(values.number("rounds"))).to_string()
    },
};

pub(super) const QUICKSORT: Workload = Workload {
    name: "quicksort",
    about: "numbers are sorted by quicksort, both halves in parallel; one number is one",
    op: ["item", "items"],
    options: &[number(
        "items",
        "How many numbers of 32 bits are sorted",
        Usual::Always(10_000_000),
        MANY_MAX,
        "one number at least is sorted",
    )],
    size: "items",
    figures: &[],
    title: |values| format!("Quicksort of {} numbers", values.number("items")),
    // The numbers 0, 1, 2, …, each times its place, which is the same number.
    expected: |values| {
        let items = u128::from(values.number("items"));
        (items * (items - 1) * (2 * items - 1) / 6 % (1 << 32)).to_string()
    },
};
