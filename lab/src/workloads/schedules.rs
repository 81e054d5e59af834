//! The workload about all schedules of a program: exploring them, each alone or equal states together.

use crate::figures::{Figure, Of};
use crate::workload::{Kind, Opt, Usual, Workload};

use super::number;

/// An operation is a take or a put of a cell that holds a value or none.
pub(super) const SCHEDULES: Workload = Workload {
    name: "schedules",
    about: "a small program is explored in all its schedules, again and again until the time is over, which is a round",
    op: ["round", "rounds"],
    options: &[
        Opt {
            name: "what",
            help: "Which program",
            kind: Kind::Choice(&[
                (
                    "three",
                    "three tasks, each one take and one put of a cell of its own",
                ),
                (
                    "shared",
                    "three tasks, each one take and one put of one cell that they share",
                ),
                (
                    "four",
                    "four tasks of three operations each, on a cell of its own",
                ),
                (
                    "philosophers",
                    "five philosophers, each of which eats once if it can",
                ),
            ]),
        },
        number(
            "ms",
            "For how many milliseconds it is explored again; once at least",
            Usual::Always(500),
            3_600_000,
            "it is explored for at least a millisecond",
        ),
    ],
    // How often it is explored the contender finds out.
    size: "",
    figures: &[
        Figure {
            name: "us_per_schedule",
            heading: "us/schedule",
            of: Of::Median,
        },
        Figure {
            name: "schedules_per_s",
            heading: "schedules/s",
            of: Of::Median,
        },
        Figure {
            name: "schedules",
            heading: "schedules",
            of: Of::Median,
        },
        Figure {
            name: "exploration_us",
            heading: "us/exploration",
            of: Of::MedianIfSaid,
        },
    ],
    title: |values| {
        let program = match values.choice("what") {
            "shared" => "three tasks, one cell",
            "four" => "four tasks of three operations",
            "philosophers" => "five philosophers",
            _ => "three tasks of two operations",
        };
        format!("All schedules of {program}; what counts is below, the exploration alone")
    },
    expected: |values| {
        match values.choice("what") {
            // The values that can come out: the digits 1, 2 and 3 in each order.
            "shared" => "6",
            // How probable their deadlock is.
            "philosophers" => DEADLOCK,
            // One value, whatever the schedule.
            _ => "1",
        }
        .to_owned()
    },
};

/// Of five philosophers, if one of those who can go on is chosen at each step, all alike; a test works it out.
pub(super) const DEADLOCK: &str = "19/120";
