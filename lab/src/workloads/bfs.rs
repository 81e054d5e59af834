//! The breadth-first search of the Graph500 benchmark.

use crate::figures::{Figure, Of};
use crate::workload::{Kind, Opt, Usual, Workload};

use super::number;

const fn of_searches(name: &'static str, heading: &'static str) -> Figure {
    let of = Of::Median;
    Figure { name, heading, of }
}

pub(super) const BFS: Workload = Workload {
    name: "bfs",
    about: "Graph500: a Kronecker graph is searched from random vertices, each tree is checked; one search is one",
    op: ["search", "searches"],
    options: &[
        Opt {
            name: "scale",
            help: "The graph has 2 to the power of this many vertices, and 16 times as many edges",
            // In a smaller graph there may be fewer vertices with a neighbour than searches.
            kind: Kind::Number {
                range: [8, 31],
                usual: Usual::Always(16),
                why: "the graph has a root for each search, and vertices are numbers of 32 bits",
            },
        },
        number(
            "searches",
            "How many searches, each from another vertex",
            Usual::Always(64),
            64,
            "a run has at least one search, and the benchmark has 64",
        ),
        Opt {
            name: "direction",
            help: "How the graph is searched",
            kind: Kind::Choice(&[
                ("top-down", "the frontier looks at its neighbours"),
                (
                    "optimising",
                    "while the frontier is large, the vertices that are not reached look for a neighbour in it \
                     (Beamer et al. 2012, alpha 14, beta 24)",
                ),
            ]),
        },
    ],
    size: "searches",
    // Of the searches alone: a run's time has the graph's making and the checks in it.
    figures: &[
        of_searches("ns_per_edge", "ns/edge"),
        of_searches("mteps", "MTEPS"),
        of_searches("search_ms", "ms/search"),
        of_searches("construction_ms", "construction ms"),
        of_searches("edges", "edges/search"),
    ],
    title: |values| {
        let [scale, searches] = ["scale", "searches"].map(|name| values.number(name));
        let direction = values.choice("direction");
        format!(
            "Graph500 breadth-first search, scale {scale}, {searches} searches, {direction}; \
             what counts is below, the searches alone"
        )
    },
    // The trees that pass the specification's five checks: all.
    expected: |values| values.number("searches").to_string(),
};
